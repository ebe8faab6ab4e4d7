"""A parser of plain English sentences by rules: what stands in where spaCy's model is absent.

Tags come from word lists and endings, dependencies from the order of words: a subject before its
verb, its object after it, a preposition on what stands just before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cuescope_step_grounding.claims.lemmas import PLURALS, singular
from cuescope_step_grounding.claims.lexicon import NUMBERS, ORDERS, VERBS, WORDS, by_word
from cuescope_step_grounding.claims.tree import Analysis

BE = by_word("be")
_HAVE, _DO, _CLOSED = by_word("have"), by_word("do"), by_word("tags")
_NO_NOUNS = VERBS.keys() | BE.keys() | _HAVE.keys() | _DO.keys() | _CLOSED.keys()
# Endings of what is said of a subject.
_PREDICATIVE_ENDINGS = ("y", "ful", "less", "ous", "ive", "able")
_NOUN_BEFORE = frozenset({"DT", "PRP$", "JJ", "IN", "CD"})


def tags_and_lemmas(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The Penn tag and the lemma of each word, read from left to right."""
    tags: list[str] = []
    lemmas: list[str] = []
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else "."
        tag, lemma = _tag(word, tags, words[:index], following)
        tags.append(tag)
        lemmas.append(lemma)
    return tags, lemmas


def _tag(word: str, tags: list[str], before: Sequence[str], following: str) -> tuple[str, str]:
    last = tags[-1] if tags else ""
    if word in BE:
        return ("POS", word) if word == "'s" and last.startswith("NN") else (BE[word], "be")
    if word in _HAVE:
        return _HAVE[word], "have"
    if word in _DO:
        return _DO[word], "do"
    if word == "her":
        return ("PRP$" if following.isalpha() and following not in _CLOSED else "PRP"), "she"
    if word in ORDERS or word == "as":
        return "IN", word
    if word == "about" and following == "to":  # "is about to"
        return "JJ", word
    if word in PLURALS and word not in VERBS:
        return "NNS", PLURALS[word]
    # After a noun "that" opens a relative clause; before a verb it is a pronoun; else a determiner.
    if word == "that" and last.startswith("NN"):
        return "WDT", word
    if word in {"this", "that"} and _is_finite(following):
        return "PRP", word
    if word in _CLOSED:
        return _CLOSED[word], word
    if word.isdigit() or word in NUMBERS:
        return "CD", word
    if not word[0].isalpha():
        return ",", word
    noun_next = following[0].isalpha() and following not in _NO_NOUNS
    thing = word in WORDS["things"] and last in {"DT", "PRP$"} and not noun_next
    verb = next(
        (old for old, old_tag in zip(before[::-1], tags[::-1], strict=True) if old_tag != "RB"), ""
    )
    linked = verb in BE or VERBS.get(verb, ("",))[0] in WORDS["copulas"]
    if (
        word in WORDS["adjectives"]
        and following != "by"
        and ((linked and not thing) or noun_next or last == "JJ")
    ):
        return "JJ", word
    # A verb's form after a determiner or a noun describes ("the closed door", "a cup held by").
    if word in VERBS and not _is_noun(word, last, tags, before, following):
        lemma, tag = VERBS[word]
        if last in _NOUN_BEFORE and tag in {"VBD", "VBN", "VBG"}:
            return (tag if last == "IN" and tag == "VBG" else "JJ"), lemma
        helped = any(old in BE or old in _HAVE for old in before[-3:])
        is_participle = helped or (last.startswith("NN") and following == "by")
        return ("VBN" if tag == "VBD" and is_participle else tag), lemma
    is_predicative = (
        linked and last.startswith(("VB", "RB")) and word.endswith(_PREDICATIVE_ENDINGS)
    )
    if (
        (word in WORDS["adjectives"] and not thing)
        or is_predicative
        or (noun_next and word.endswith(("ed", "y", "ish")) and last in {"DT", "JJ"})
    ):
        return "JJ", word
    if word.endswith("ly"):
        return "RB", word
    # "clothes" has no singular and is a plural still
    plural = singular(word) != word or word in WORDS["plural_only"]
    return ("NNS", singular(word)) if plural else ("NN", word)


def _is_finite(word: str) -> bool:
    """Whether a word is a verb of one subject: "is", "has", "shows"."""
    return VERBS.get(word, ("", ""))[1] == "VBZ" or word in {"is", "was", "has", "does"}


def _of_several(word: str) -> bool:
    """Whether a word is a verb of several subjects: "are", "have", "turn"."""
    base = VERBS.get(word, ("", ""))[1] == "VB" and word not in WORDS["adjectives"]
    return base or word in {"are", "were", "have", "do"}


def _is_noun(word: str, last: str, tags: list[str], before: Sequence[str], following: str) -> bool:
    """Whether a word that can be a verb is a noun where it stands."""
    _, tag = VERBS[word]
    if tag == "VBZ" and last.startswith("NN") and _of_several(following):
        return True  # "the traffic lights turn"
    if tag in {"VBG", "VBN", "VBD"}:
        return False
    if last in {"DT", "PRP$", "JJ", "CD", "POS"}:
        return True
    if last == "IN":
        return before[-1] not in ORDERS
    if tag == "VB":  # a base form is one at the start, after "to", "I", a helper
        helped = last in {"MD", "TO", "RB", "CC", "PRP", ","} or not before
        # "a man and a woman enter"
        joined = "and" in before and not any(old.startswith(("VB", "MD")) for old in tags)
        return not (helped or last == "NNS" or (joined and last == "NN" and "DT" in tags[-2:]))
    return any(old.startswith("VB") for old in tags[-1:])


_KINDS = {"DT": "det", "PRP$": "poss", "CD": "nummod", "JJ": "amod", "POS": "case"}
_NEGATIONS = frozenset({"not", "n't", "never"})
# Verbs after which a preposition is a particle even before a noun: "turn on the light".
_SEPARABLE = by_word("separable")


def analyse(sentences: Sequence[Sequence[str]]) -> list[list[Analysis]]:
    lower = [[word.lower() for word in words] for words in sentences]
    return [_Sentence(words, *tags_and_lemmas(words)).parse() for words in lower]


@dataclass
class _Sentence:
    """A sentence that is read from left to right."""

    words: Sequence[str]
    tags: list[str]
    lemmas: list[str]
    analyses: list[Analysis] = field(default_factory=list)
    main: int | None = None  # the verb that the next words belong to
    subject: int | None = None  # a noun that waits for its verb
    noun: int | None = None  # the noun read last
    mark: int | None = None  # "after", waiting for its clause
    waiting: int | None = None  # a clause that came before its main one
    prep: int | None = None  # a preposition that waits for its noun
    joined: bool = False  # "and" was read since
    relative: bool = False  # "who" was read since
    passive: bool = False
    helpers: list[int] = field(default_factory=list)

    def parse(self) -> list[Analysis]:
        self.analyses = [
            Analysis(lemma, tag, "dep", 0)
            for lemma, tag in zip(self.lemmas, self.tags, strict=True)
        ]
        index = 0
        while index < len(self.words):
            index = self._read(index)
        root = self._root()
        if root is None and self.subject is not None and self._describes():
            root = self.main
            self._set(self.subject, "nsubj", root or 0)  # "a man holding a cup", and no more
        if root is None:
            root = self.waiting if self.waiting is not None else self.main or self.subject or 0
        if self.waiting is not None and self.waiting != root:
            self._set(self.waiting, self.analyses[self.waiting].dep, root)
        self._set(root, "ROOT", root)
        for index, analysis in enumerate(self.analyses):
            if analysis.dep == "dep" and index != root:
                self._set(index, "dep", root)
        # Rules look at a few words each, so two words may hang on one another; a tree must not.
        for index in range(len(self.analyses)):
            self._untie(index, root)
        return self.analyses

    def _root(self) -> int | None:
        return next((i for i, analysis in enumerate(self.analyses) if analysis.dep == "ROOT"), None)

    def _untie(self, index: int, root: int) -> None:
        """Hangs a word that hangs on itself, by whatever way, on the root."""
        visited = {index}
        while (head := self.analyses[index].head) != root and index != root:
            if head in visited:
                self._set(index, "dep", root)
                return
            visited.add(head)
            index = head

    def _set(self, index: int, dep: str, head: int) -> None:
        self.analyses[index] = self.analyses[index]._replace(dep=dep, head=head)

    def _read(self, index: int) -> int:
        tag, word = self.tags[index], self.words[index]
        if tag in {"DT", "PRP$", "CD", "JJ"} or tag.startswith("NN"):
            return self._phrase(index)
        if tag == "PRP":
            self._noun(index)
        elif tag in {"WP", "WDT"}:
            self.relative = self.noun is not None
            self.subject = index if self.relative else self.subject
        elif tag == "EX":
            self.subject = index
        elif tag == "CC" or (tag == "RB" and word == "then"):
            self.joined = True
            if tag == "RB":
                self.helpers.append(index)
        elif tag in {"IN", "TO"}:
            self._preposition(index)
        elif tag == "MD" or self._helps(index):
            self.helpers.append(index)
        elif tag.startswith("VB"):
            self._verb(index)
        elif tag == "RB":
            self._adverb(index)
        elif word == "," and self.waiting is not None and self._root() is None:
            self.main, self.noun = None, None  # "After he sits, ...": the main clause begins
        elif word == ",":
            self.noun = None if not self.joined and self.main is not None else self.noun
        return index + 1

    # ------------------------------------------------------------------------------ noun phrases

    def _phrase(self, index: int) -> int:
        """Determiners, adjectives and nouns up to the last noun; an adjective alone is said of the
        subject."""
        end = index
        while end < len(self.words) and (
            self.tags[end] in {"DT", "PRP$", "CD", "JJ", "POS"} or self.tags[end].startswith("NN")
        ):
            if end > index and self.tags[end] in {"DT", "PRP$"} and self.tags[end - 1] != "DT":
                break
            end += 1
        nouns = [i for i in range(index, end) if self.tags[i].startswith("NN")]
        if not nouns:
            linked = self.main is not None and self.analyses[self.main].lemma in WORDS["copulas"]
            for i in range(index, end):
                if self.tags[i] == "JJ" and self.main is not None:
                    self._set(i, "acomp" if linked else "advmod", self.main)
            return end
        head = nouns[-1]
        for i in nouns[:-1]:
            if self.tags[i + 1] == "POS":  # "the man's hand"
                self._set(i, "poss", head)
        for i in range(index, end):
            if i != head and self.analyses[i].dep != "poss":
                self._set(i, _KINDS.get(self.tags[i], "compound"), head)
        self._noun(head)
        return head + 1

    def _noun(self, index: int) -> None:
        if self.prep is not None:
            self._set(index, "pobj", self.prep)
            self.prep = None
        elif self.noun is not None and (
            (self.joined and self.subject is not None)
            or ((self.joined or self.words[index - 1] == ",") and not self._verb_follows(index))
        ):
            self._set(index, "conj", self.noun)
        elif (
            self.main is None
            or self.mark is not None
            or (self._verb_follows(index) and not self._describes())
        ):
            if self.relative and self.subject is not None:  # "the box which he carries"
                self.subject = None
            self.subject = index
        elif self.main is not None:
            there = self.analyses[self.main].lemma == "be"
            self._set(index, "attr" if there else "dobj", self.main)
        self.joined = False if self.prep is None else self.joined
        self.noun = index

    def _describes(self) -> bool:
        """Whether the verb read last describes a subject that still waits for its own."""
        if self.subject is None or self.main is None:
            return False
        verb = self.analyses[self.main]
        return verb.dep == "acl" and verb.head == self.subject

    def _verb_follows(self, index: int) -> bool:
        """Whether a finite verb follows, so that the noun is its subject."""
        for i in range(index + 1, min(index + 4, len(self.words))):
            if self.tags[i] in {"VBZ", "VBP", "VBD", "MD"}:
                return self.tags[i - 1] not in {"WP", "WDT", "IN"} or i == index + 1
            if self.tags[i] != "RB":
                return False
        return False

    # ------------------------------------------------------------------------------------- verbs

    def _helps(self, index: int) -> bool:
        """Whether "is", "has" or "does" helps a verb that follows."""
        if self.lemmas[index] not in {"be", "have", "do"}:
            return False
        for i in range(index + 1, min(index + 5, len(self.words))):
            if self.tags[i] in {"VBG", "VBN", "VB"} or self.lemmas[i] == "be":
                return self.tags[i] != "VB" or self.lemmas[index] == "do"
            if self.tags[i] != "RB":
                return False
        return False

    def _verb(self, index: int) -> None:
        helpers, self.helpers = self.helpers, []
        helped = {self.words[i] for i in helpers} & BE.keys()
        passive = self.tags[index] == "VBN" and bool(helped)
        if self.words[index - 1] in ORDERS and self.tags[index] == "VBG" and index:
            mark, self.mark = self.mark if self.mark is not None else index, None
            self._set(index, "pcomp", mark)
            self.waiting = mark if self.main is None else self.waiting
            self._set(mark, "prep", mark if self.main is None else self.main)
        elif self.prep is not None and self.tags[self.prep] == "TO":
            self._set(self.prep, "aux", index)
            self.prep = None
            first = self.main is None
            self._set(index, "ROOT" if first else "xcomp", self.main or index)
        elif self.prep is not None and self.tags[index] == "VBG":
            self._set(index, "pcomp", self.prep)
            self.prep = None
        elif self.relative and self.noun is not None:
            self._set(index, "relcl", self.noun)
        elif self.mark is not None:
            self._set(self.mark, "mark", index)
            self.mark = None
            self.waiting = index if self.main is None else self.waiting
            self._set(index, "advcl", index if self.main is None else self.main)
        elif self.noun == index - 1 and self.tags[index] in {"VBG", "VBN"} and not helpers:
            self._set(index, "acl", index - 1)
        elif self.main is None or self._describes():
            self._set(index, "ROOT", index)
        else:
            bound = self.joined or self.subject is not None
            self._set(index, "conj" if bound else "advcl", self.main)
        describes = self.tags[index] == "VBG" and self.analyses[index].dep == "acl"
        described = describes and self.subject == index - 1  # "the man wearing a hat opens"
        if self.subject is not None and not described:
            kind = "nsubjpass" if passive else "nsubj"
            self._set(self.subject, "expl" if self.tags[self.subject] == "EX" else kind, index)
        for i in helpers:
            negates = self.words[i] in _NEGATIONS
            helper = "auxpass" if passive and self.lemmas[i] == "be" else "aux"
            adverb = self.tags[i] == "RB"
            self._set(i, "neg" if negates else "advmod" if adverb else helper, index)
        self.subject = self.subject if described else None
        self.main, self.passive = index, passive
        self.noun, self.joined, self.relative = None, False, False

    # --------------------------------------------------------------------------- the small words

    def _preposition(self, index: int) -> None:
        word = self.words[index]
        if word in ORDERS or word in {"because", "since", "if"}:
            self.mark, self.noun = index, None
            return
        bare = index + 1 == len(self.words) or self.tags[index + 1] in {",", "CC", "IN"}
        verb = self.lemmas[self.main] if self.main == index - 1 and index else ""
        particle = bare or word in _SEPARABLE.get(verb, "").split()
        if self.main is not None and word in WORDS["particles"] and particle:
            self._set(index, "prt", self.main)
            return
        if word == "by" and self.passive and self.main is not None:
            self._set(index, "agent", self.main)
        else:
            near = self.noun if self.noun == index - 1 else None
            own = near is not None and (self.main is None or self._holds(near, word))
            head = near if own else self.main if self.main is not None else self.noun
            self._set(index, "prep" if head is not None else "dep", head if head is not None else 0)
        self.prep = index

    def _holds(self, noun: int, word: str) -> bool:
        """Whether a preposition after a noun belongs to it and not to the verb."""
        if word in {"of", "with"} or self.lemmas[noun] in WORDS["parts"]:
            return True
        is_place = self.main is None or self.analyses[self.main].lemma == "be"
        held = self.analyses[noun].dep in {"attr", "pobj", "nsubj"}
        return is_place and held and word not in {"to", "from"}

    def _adverb(self, index: int) -> None:
        word = self.words[index]
        if self.main is None or (word in _NEGATIONS and self.lemmas[self.main] != "be"):
            self.helpers.append(index)
        elif word in _NEGATIONS:
            self._set(index, "neg", self.main)
        else:
            particle = word in WORDS["particles"] and index == self.main + 1
            self._set(index, "prt" if particle else "advmod", self.main)
