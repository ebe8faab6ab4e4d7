"""A second look at sentences in which a parser found no verb where one stands.

Short steps have few articles ("Dog chases squirrel"), captions have participles alone ("a florist
tying a ribbon"), and small parsers read both as one long noun. Such a sentence is parsed again with
a plain verb in the place of the doubtful word, and with an article before a bare noun; the tree of
the second look is taken where it has the verb.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from cuescope_step_grounding.claims.english.lexicon import (
    VERBS,
    WORDS,
    infinitive,
    verb_tag,
)
from cuescope_step_grounding.claims.english.tree import Analysis

Analyse = Callable[[Sequence[Sequence[str]]], list[list[Analysis]]]

_FINITE = {"VBZ", "VBP", "VBD", "MD"}
_OF_NOUNS = {"pobj", "compound", "amod", "appos"}
_RELATIVE = {"that", "which", "who"}
_JOINING = {"and", "then", ",", "but"}
_BREAKS = _RELATIVE | _JOINING | WORDS.subordinating
_PHRASE = ("DT", "PRP", "CD", "JJ", "NN", "WP")  # how a noun phrase begins
# A plain verb with an object, and one without, in each form.
_PLAIN = {"VBZ": ("holds", "sits"), "VB": ("hold", "sit")}


@dataclass(frozen=True)
class Look:
    """What is shown instead, and which word of it stands for a doubtful one."""

    words: tuple[str, ...]
    verbs: tuple[int, ...]  # in the sentence itself
    article: bool  # whether an article was put before the first word


def analyse_twice(
    analyse: Analyse, sentences: Sequence[Sequence[str]]
) -> list[list[Analysis]]:
    """The analyses, and those of the second look where it found what was missing."""
    result = analyse(sentences)
    looks = {}
    for index, (words, analyses) in enumerate(zip(sentences, result, strict=True)):
        look = second_look(words, analyses)
        if look is not None:
            looks[index] = look
    # in one call, for parsers are faster in batches
    again = analyse(list(map(attrgetter("words"), looks.values())))
    for (index, look), analyses in zip(looks.items(), again, strict=True):
        plain = _plain_tree(sentences[index], look, analyses)
        if plain:
            result[index] = plain
    return result


def _plain_tree(
    words: Sequence[str], look: Look, analyses: Sequence[Analysis]
) -> list[Analysis]:
    """The sentence as it was read in a second look; empty where a verb was not found again."""
    plain = _without_article(analyses) if look.article else list(analyses)
    if not plain or any(plain[verb].tag[:2] != "VB" for verb in look.verbs):
        return []
    # the plain verb stood in for it, and must not reach a claim
    for verb in look.verbs:
        lemma = infinitive(words[verb].lower())
        plain[verb] = plain[verb]._replace(lemma=lemma)
    return plain


def second_look(words: Sequence[str], analyses: Sequence[Analysis]) -> Look | None:
    """What to show a parser instead; None where nothing is doubtful."""
    doubts = _Doubts(list(map(str.lower, words)), analyses)
    verbs = tuple(filter(doubts.is_doubtful, range(len(words))))
    if not verbs:
        return None
    shown = list(words)
    for index in verbs:
        form = doubts.form_shown(index)
        shown[index] = _PLAIN[form][not doubts.begins_phrase(index + 1)]
    bare = analyses[0].tag.startswith(("NN", "JJ"))
    article = bare and doubts.words[1:2] != [","] and 0 not in verbs
    if article:
        shown = ["The", doubts.words[0], *shown[1:]]
    return Look(tuple(shown), verbs, article)


@dataclass(frozen=True)
class _Doubts:
    """A parsed sentence, in which a noun may stand where a verb is missing; lower case."""

    words: Sequence[str]
    analyses: Sequence[Analysis]

    def form(self, index: int) -> str:
        """The tag of a word that can be a verb; "" for any other."""
        return verb_tag(self.words[index])

    def form_shown(self, index: int) -> str:
        """The form of the plain verb in the place of a doubtful word."""
        if self.is_caption_verb(index):
            before = self.analyses[index - 1]
            return "VB" if before.tag in {"NNS", "NNPS"} else "VBZ"
        return "VB" if self.form(index) not in {"", "VBZ"} else "VBZ"

    def begins_phrase(self, index: int) -> bool:
        return index < len(self.words) and self.analyses[index].tag.startswith(_PHRASE)

    def is_doubtful(self, index: int) -> bool:
        """Whether a noun stands where a verb is missing."""
        if self._is_unknown_verb(index) or self.is_caption_verb(index):
            return True
        analysis = self.analyses[index]
        nominal = analysis.tag.startswith(("NN", "JJ")) or analysis.dep in _OF_NOUNS
        form = self.form(index)
        if not nominal or form not in {"VBZ", "VB"}:
            return False
        # "two cooks plating dessert"
        if index + 1 < len(self.words) and self.is_caption_verb(index + 1):
            return False
        if index == 0:  # "Types the password"
            alone = form == "VBZ" and not self._is_finite(self.analyses)
            return alone and self.begins_phrase(1)
        return self._is_missing_verb(index)

    def _is_missing_verb(self, index: int) -> bool:
        """Whether a later word that can be a verb is the one that its clause lacks."""
        form = self.form(index)
        start, end = self._clause(index)
        before = self.analyses[index - 1]
        earlier = self.analyses[start : max(index - 1, start)]
        lemmas = {word.lemma for word in earlier}
        caused = form == "VB" and not WORDS.causing.isdisjoint(lemmas)
        # "dog run" is no sentence: this form needs several dogs, or "makes the dog run"
        if form == "VB" and not caused and not self._is_of_several(start, index):
            return False
        # "the cat that is black sleeps": the verb of "that" is not the one that is missing
        is_relative = start > 0 and self.words[start - 1] in _RELATIVE
        described = is_relative and form == "VBZ"
        modified = before.tag[:2] in {"JJ", "NN", "VB", "RB"} and start < index
        if described and modified and not self._is_finite(self.analyses[:start]):
            return self._is_finite(self.analyses[start:index])
        clause = [*self.analyses[start:index], *self.analyses[index + 1 : end]]
        if not caused and self._is_finite(clause):
            return False
        if start == index:  # "falls off the table and shatters"
            joined = self.words[index - 1] in _JOINING and form == "VBZ"
            return joined and "VBZ" in self._tags(0, index)
        return before.tag.startswith("NN") or before.tag in {"RB", "CD", "PRP"}

    def is_caption_verb(self, index: int) -> bool:
        """Whether a participle follows a noun, and no verb stands anywhere: "a florist tying a
        ribbon"."""
        word = self.words[index]
        if index == 0 or len(word) < 5 or not word.endswith("ing"):
            return False
        noun = self.analyses[index - 1].tag.startswith("NN")
        # "Chef slicing carrots": parsers take the first word for an adjective
        if not (noun or index == 1) or self._is_finite(self.analyses):
            return False
        # "a kitchen cutting board": part of a name
        following = self.analyses[index + 1 : index + 2]
        name = any(word.tag in {"NN", "NNP"} for word in following)
        return not name or self.analyses[index].tag == "VBG"

    def _is_unknown_verb(self, index: int) -> bool:
        """Whether a plural stands between a noun and an article, and no verb anywhere: "a chemist
        pipettes a liquid"."""
        if not 0 < index < len(self.words) - 1 or self.words[index] in VERBS:
            return False
        before, plural, after = self.analyses[index - 1 : index + 2]
        article = after.tag in {"DT", "PRP$"}
        between = before.tag.startswith("NN") and plural.tag == "NNS" and article
        return between and not self._is_finite(self.analyses)

    @staticmethod
    def _is_finite(analyses: Sequence[Analysis]) -> bool:
        """Whether a verb heads a clause: not one that hangs on a preposition."""
        return any(
            word.tag in _FINITE and word.dep not in _OF_NOUNS for word in analyses
        )

    def _is_of_several(self, start: int, index: int) -> bool:
        """Whether what stands before a verb are several: "dogs", "three deer", "a glove and a
        cup"."""
        plural = self._tags(start, index) & {"NNS", "NNPS"}
        counted = "CD" in self._tags(max(index - 3, 0), index - 1)
        joined = start > 1 and self.words[start - 1] == "and"
        nouns = joined and self.analyses[start - 2].tag.startswith("NN")
        of_all = self.words[index - 1] in WORDS.anyone
        return bool(plural) or counted or nouns or of_all

    def _tags(self, start: int, end: int) -> set[str]:
        return {word.tag for word in self.analyses[start:end]}

    def _clause(self, index: int) -> tuple[int, int]:
        start = index
        end = index + 1
        while start > 0 and self.words[start - 1] not in _BREAKS:
            start -= 1
        while end < len(self.words) and self.words[end] not in _BREAKS:
            end += 1
        return start, end


def _without_article(analyses: Sequence[Analysis]) -> list[Analysis]:
    """The tree without its first word; empty where something hangs on it."""
    moved = [analysis._replace(head=analysis.head - 1) for analysis in analyses]
    heads = set(map(attrgetter("head"), moved))
    return [] if -1 in heads else moved[1:]
