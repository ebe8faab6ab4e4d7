"""What a small parser often gets wrong in such sentences, put right."""

from collections.abc import Sequence
from dataclasses import replace

from cuescope_step_grounding.claims.lexicon import AGENTS, PEOPLE, TURNS, WALKS
from cuescope_step_grounding.claims.verbs import VERBS
from cuescope_step_grounding.claims.words import Analysis

_SUBJECTS = PEOPLE | AGENTS


def repaired(words: Sequence[str], said: Sequence[Analysis]) -> list[Analysis]:
    """The analyses with verbs that were taken for nouns as verbs, and the like."""
    found = list(said)
    lower = [word.lower() for word in words]
    for index, word in enumerate(lower):
        one = found[index]
        head = found[one.head]
        if one.tag == "VBN" and one.dep == "conj" and head.tag == "JJ":
            found[index] = replace(one, tag="JJ")  # "narrow, dimly lit and empty"
        elif one.tag == "JJ" and one.dep in {"pobj", "dobj", "nsubj"}:
            found[index] = replace(one, tag="NN")  # "in the safe"
        elif word in {"left", "right"} and one.tag[:2] in {"VB", "NN"} and index:
            before = [found[i].lemma for i in range(max(0, index - 2), index)]
            if (TURNS | WALKS) & set(before):
                found[index] = replace(one, tag="RB", dep="advmod")  # "turn slightly left"
        elif one.tag.startswith("NN") and word in VERBS and index:
            _verb(lower, found, index)
    return found


def _verb(words: Sequence[str], found: list[Analysis], index: int) -> None:
    """A noun that is a verb: "goes down and waits", "a woman types on"."""
    one, (lemma, tag) = found[index], VERBS[words[index]]
    kids = [i for i, other in enumerate(found) if other.head == index and i != index]
    verbs = [i for i in range(index) if found[i].tag[:2] == "VB" and not _under(found, i, index)]
    if words[index - 1] in {"and", "then", ","} and one.dep in {"conj", "dep", "appos", "dobj"}:
        modified = any(i < index and found[i].dep in {"det", "amod", "poss"} for i in kids)
        if verbs and not modified and (tag != "VB" or found[verbs[-1]].tag in {"VB", "VBP"}):
            found[index] = Analysis(lemma, tag, "conj", verbs[-1])
        return
    subject = index - 1
    if subject in kids and words[subject] in _SUBJECTS and tag != "VB":
        root = one
        if one.dep == "nsubj":  # "the camera pans right and reveals": what it was the subject of
            root = found[one.head]
            found[one.head] = replace(root, dep="conj", head=index)
        head = index if root.dep == "ROOT" else root.head
        found[index] = Analysis(lemma, tag, root.dep, head)
        found[subject] = replace(found[subject], tag="NN", dep="nsubj", head=index)
        for i in kids:
            if i < subject:
                found[i] = replace(found[i], head=subject)


def _under(found: Sequence[Analysis], index: int, other: int) -> bool:
    """Whether a word hangs, by whatever way, on another."""
    while index != other and found[index].head != index:
        index = found[index].head
    return index == other
