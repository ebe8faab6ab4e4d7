"""What a parser got wrong, put right: verbs that it took for nouns, sides, adjectives."""

from collections.abc import Iterable, Sequence

from cuescope_step_grounding.claims.english.lexicon import VERBS, WORDS
from cuescope_step_grounding.claims.english.tree import Analysis

_OF_NOUNS = {"nsubj", "nsubjpass", "pobj", "dobj", "poss"}
_DOERS = WORDS.people | WORDS.agents
_COMPLEMENTS = {"dobj", "attr", "acomp", "oprd"}
# how tags of a noun phrase begin
_OF_PHRASE = {"DT", "JJ", "NN", "PR", "CD"}


def repair(words: Sequence[str], analyses: Sequence[Analysis]) -> list[Analysis]:
    """The analyses with verbs that were taken for nouns as verbs, and the like."""
    repairs = _Repairs(list(map(str.lower, words)), analyses)
    # In order, and each on the corrected ones before it: a repaired verb is what the next hangs on.
    for index, word in enumerate(repairs.words):
        repairs.repair_adjective(index)
        repairs.repair_side(index)
        if index and word in VERBS and repairs.is_noun(index):
            repairs.repair_verb(index)
        if word == "not":
            repairs.oppose(index)
    # in a ring of words every walk up or down the tree would be endless
    if not repairs.is_tree():
        return list(analyses)
    for index, analysis in enumerate(repairs):
        # what hangs on itself is a root, whatever it was before: who climbs a tree stops there
        if analysis.head == index:
            repairs.change(index, dep="ROOT")
    return list(repairs)


class _Repairs(list[Analysis]):
    """The analyses of a sentence, while they are put right."""

    def __init__(self, words: Sequence[str], analyses: Iterable[Analysis]) -> None:
        super().__init__(analyses)
        self.words = words

    # ------------------------------------------------------------------------- what stands there

    def is_noun(self, index: int) -> bool:
        return self[index].tag.startswith("NN")

    def change(self, index: int, **fields: str | int) -> None:
        self[index] = self[index]._replace(**fields)  # type: ignore[arg-type]

    def kids(self, index: int) -> list[int]:
        """What hangs on a word."""
        return [i for i, word in enumerate(self) if word.head == index and i != index]

    def deps(self, index: int) -> set[str]:
        """How its kids hang on a word."""
        return {self[kid].dep for kid in self.kids(index)}

    def kids_before(self, index: int, *deps: str) -> list[int]:
        before = [i for i in self.kids(index) if i < index]
        return [i for i in before if not deps or self[i].dep in deps]

    def is_tree(self) -> bool:
        """Whether every word hangs, by whatever way, on one that hangs on itself."""
        tops = [self._path(index)[-1] for index in range(len(self))]
        return all(self[top].head == top for top in tops)

    def _path(self, index: int) -> list[int]:
        """A word and what it hangs on, up to a root or once round a ring."""
        path: list[int] = []
        while index not in path:
            path.append(index)
            index = self[index].head
        return path

    # -------------------------------------------------------------------------------- word by word

    def repair_adjective(self, index: int) -> None:
        analysis = self[index]
        head = self[analysis.head]
        colour = self.words[index] in WORDS.colours
        before = self.words[index - 1]
        participle = analysis.tag == "VBG"
        if analysis.tag == "VBN" and analysis.dep == "conj" and head.tag == "JJ":
            self.change(index, tag="JJ")  # "narrow, dimly lit and empty"
        elif not self.is_noun(index) and analysis.dep in _OF_NOUNS:
            if self._is_used_as_noun(index):
                self.change(index, tag="NN")
        elif participle and before == "," and head.dep == "appos":
            # "the ranger, holding binoculars,"
            self.change(analysis.head, dep="dobj", head=index)
            self.change(index, dep="acl", head=head.head)
        elif participle and self._is_before_noun(index):
            self.change(index, tag="JJ", dep="amod", head=index + 1)
            self.change(index + 1, dep="pobj", head=index - 1)
        elif colour and index > 1 and before == "to":
            self._turn(index)
        elif colour and self._is_state_noun(index):
            self.change(index, tag="JJ", dep="acomp")  # "turns amber"

    def _is_used_as_noun(self, index: int) -> bool:
        """Whether a word in the place of a noun is one: "in the safe"."""
        tag = self[index].tag
        if tag == "JJ":
            return True
        described = self.deps(index) & {"det", "poss"}
        return bool(described) and tag not in {"PRP", "DT", "CD"}

    def _is_state_noun(self, index: int) -> bool:
        """Whether a noun says how something is or becomes."""
        analysis = self[index]
        becomes = self[analysis.head].lemma in WORDS.copulas
        return self.is_noun(index) and analysis.dep in _COMPLEMENTS and becomes

    def _is_before_noun(self, index: int) -> bool:
        """Whether a participle is part of a name: "on baking tray"."""
        if not 0 < index < len(self) - 1:
            return False
        noun = self[index + 1]
        placed = self.words[index - 1] in {"on", "in", "into", "onto"}
        is_object = noun.head == index and noun.dep == "dobj"
        return placed and is_object and noun.tag in {"NN", "NNS"}

    def _turn(self, index: int) -> None:
        """ "turns from blue to pink": a colour is no verb."""
        verb = self[index].head
        if self[index].dep == "pobj":
            verb = self[verb].head
        if verb == index or self[verb].lemma != "turn":
            return
        for kid in self.kids(index):  # what hung on it hangs on the verb
            self.change(kid, head=verb)
        self.change(index - 1, tag="TO", dep="dep", head=verb)
        self.change(index, tag="JJ", dep="acomp", head=verb)

    def repair_side(self, index: int) -> None:
        if self.words[index] not in {"left", "right"} or not index:
            return
        if self[index].tag[:2] not in {"VB", "NN"}:
            return
        signals = self[index - 1].lemma in WORDS.sided
        two_before = self[max(0, index - 2) : index]
        lemmas = {analysis.lemma for analysis in two_before}
        moves = lemmas & (WORDS.turns | WORDS.walks)
        if signals or moves:
            self.change(index, tag="RB", dep="advmod")  # "turn slightly left"

    def repair_verb(self, index: int) -> None:
        """A noun that is a verb: "goes down and waits", "a woman types on"."""
        noun = self[index]
        lemma, tag = VERBS[self.words[index]]
        joined = noun.dep in {"conj", "dep", "appos", "dobj"}
        if joined and self.words[index - 1] in {"and", "then", ","}:
            self._join_verb(index, lemma, tag)
            return
        # "the woman type" does not agree: no verb of hers
        if tag == "VB":
            return
        subject = index - 1
        kids = self.kids(index)
        if subject not in kids or self.words[subject] not in _DOERS:
            return
        above = noun
        # "the camera pans right and reveals": what it was the subject of
        if noun.dep == "nsubj":
            above = self[noun.head]
            self.change(noun.head, dep="conj", head=index)
        head = index if above.dep == "ROOT" else above.head
        self[index] = Analysis(lemma, tag, above.dep, head)
        self.change(subject, tag="NN", dep="nsubj", head=index)
        for kid in kids:
            if kid < subject:
                self.change(kid, head=subject)

    def _join_verb(self, index: int, lemma: str, tag: str) -> None:
        """Joins it to the last verb before it, unless it is described as a noun is."""
        verbs = self._of_kind("VB", range(index))
        # a verb that hangs on the noun would close a ring
        verbs = [i for i in verbs if index not in self._path(i)]
        if not verbs or self.kids_before(index, "det", "amod", "poss"):
            return
        last = verbs[-1]
        # joined verbs have one form: "sits and drinks", "sit and drink"
        if tag != "VB" or self[last].tag in {"VB", "VBP"}:
            self[index] = Analysis(lemma, tag, "conj", last)

    def oppose(self, index: int) -> None:
        """Joins what follows ", not" to its like before it: "green, not blue"."""
        if index < 2 or self.words[index - 1] != ",":
            return
        phrase = self._phrase_after(index)
        nouns = self._of_kind("NN", phrase)
        opposed = nouns or self._of_kind("JJ", phrase)
        kind = "NN" if nouns else "JJ"
        # "wooden, not metal"
        if opposed and len(phrase) == 1 and self[index - 2].tag == "JJ":
            self.change(phrase[0], tag="JJ")
            kind = "JJ"
        alike = self._of_kind(kind, range(index - 1))
        if not opposed or not alike:
            return
        denied = opposed[-1]
        like = alike[-1]
        above = self[denied]
        if self[like].head == denied:  # "green" hangs on "blue"
            head = like if above.head == denied else above.head
            self.change(like, dep=above.dep, head=head)
        self.change(denied, dep="conj", head=like)
        self.change(index, dep="neg", head=denied)

    def _of_kind(self, kind: str, indices: Iterable[int]) -> list[int]:
        return [i for i in indices if self[i].tag.startswith(kind)]

    def _phrase_after(self, index: int) -> list[int]:
        """A noun phrase after a word; all that follows where none of five words ends it."""
        following = range(index + 1, len(self))
        for i in following[:5]:
            if self[i].tag[:2] not in _OF_PHRASE:
                return list(range(index + 1, i))
        return list(following)
