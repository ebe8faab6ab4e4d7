"""What a parser got wrong, put right: verbs that it took for nouns, sides, adjectives."""

from collections.abc import Sequence

from cuescope_step_grounding.claims.english.lexicon import VERBS, WORDS
from cuescope_step_grounding.claims.english.tree import Analysis

_HELPERS = frozenset({"be", "have", "do", "let"})
_STATES = WORDS["results"] | WORDS["switches"]
_FINITE = frozenset({"VBZ", "VBD", "VBP"})
_OF_NOUNS = frozenset({"pobj", "dobj", "nsubj", "nsubjpass", "poss"})
_SUBJECTS = WORDS["people"] | WORDS["agents"]


def repair(words: Sequence[str], analyses: Sequence[Analysis]) -> list[Analysis]:
    """The analyses with verbs that were taken for nouns as verbs, and the like."""
    corrected = list(analyses)
    lower = [word.lower() for word in words]
    _repair_fragment(lower, corrected)
    # In order, and each on the corrected ones before it: a repaired verb is what the next hangs on.
    for index, word in enumerate(lower):
        _repair_adjective(lower, corrected, index)
        _repair_side(lower, corrected, index)
        if corrected[index].tag.startswith("NN") and word in VERBS and index:
            _repair_verb(lower, corrected, index)
        if word == "not":
            _oppose(lower, corrected, index)
        elif word == "in":
            _dress(lower, corrected, index)
    _find_subjects(lower, corrected)
    return _with_roots(corrected) if _is_tree(corrected) else list(analyses)


def _with_roots(analyses: Sequence[Analysis]) -> list[Analysis]:
    """What hangs on itself is a root, whatever it was before: who climbs a tree stops there."""
    return [
        analysis._replace(dep="ROOT") if analysis.head == index else analysis
        for index, analysis in enumerate(analyses)
    ]


def _is_tree(analyses: Sequence[Analysis]) -> bool:
    """Whether every word hangs, by whatever way, on one that hangs on itself."""
    rooted: set[int] = set()
    for index in range(len(analyses)):
        path = [index]
        while analyses[path[-1]].head != path[-1] and path[-1] not in rooted:
            if analyses[path[-1]].head in path:
                return False
            path.append(analyses[path[-1]].head)
        rooted.update(path)
    return True


def _repair_adjective(words: Sequence[str], analyses: list[Analysis], index: int) -> None:
    analysis, head = analyses[index], analyses[analyses[index].head]
    if analysis.tag == "VBN" and analysis.dep == "conj" and head.tag == "JJ":
        analyses[index] = analysis._replace(tag="JJ")  # "narrow, dimly lit and empty"
    elif not analysis.tag.startswith("NN") and analysis.dep in _OF_NOUNS:
        determined = any(other.head == index and other.dep in {"det", "poss"} for other in analyses)
        if analysis.tag == "JJ" or (determined and analysis.tag not in {"PRP", "DT", "CD"}):
            analyses[index] = analysis._replace(tag="NN")  # "in the safe"
    elif analysis.tag == "VBG" and words[index - 1] == "," and head.dep == "appos":
        # "the ranger, holding binoculars,"
        analyses[analysis.head] = head._replace(dep="dobj", head=index)
        analyses[index] = analysis._replace(dep="acl", head=head.head)
    elif analysis.tag == "VBG" and _is_before_noun(words, analyses, index):
        analyses[index] = analysis._replace(tag="JJ", dep="amod", head=index + 1)
        analyses[index + 1] = analyses[index + 1]._replace(dep="pobj", head=index - 1)
    elif index > 1 and words[index] in WORDS["colours"] and words[index - 1] == "to":
        _turn(analyses, index)
    elif analysis.tag.startswith("NN") and words[index] in WORDS["colours"]:
        complement = analysis.dep in {"dobj", "attr", "acomp", "oprd"}
        if complement and head.lemma in WORDS["copulas"]:
            analyses[index] = analysis._replace(tag="JJ", dep="acomp")  # "turns amber"


def _turn(analyses: list[Analysis], index: int) -> None:
    """ "turns from blue to pink": a colour is no verb."""
    verb = analyses[index].head
    if analyses[index].dep == "pobj":
        verb = analyses[verb].head
    if verb == index or analyses[verb].lemma != "turn":
        return
    for i, other in enumerate(analyses):
        if other.head == index and i != index:  # what hung on it hangs on the verb
            analyses[i] = other._replace(head=verb)
    analyses[index - 1] = analyses[index - 1]._replace(tag="TO", dep="dep", head=verb)
    analyses[index] = analyses[index]._replace(tag="JJ", dep="acomp", head=verb)


def _repair_fragment(words: Sequence[str], analyses: list[Analysis]) -> None:
    """ "Lamp off, window open": no verb, though parsers see one; "Opens the fridge" has one."""
    first = analyses[0]
    if first.tag in {"VB", "VBP"} and VERBS.get(words[0], ("", ""))[1] == "VBZ":
        analyses[0] = first._replace(tag="VBZ")
    elif first.tag in {"VB", "VBP"} and words[0] not in VERBS and first.lemma not in _HELPERS:
        analyses[0] = first._replace(tag="NN")
    if any(analysis.tag[:2] in {"VB", "MD"} for analysis in analyses):
        return
    for index in range(1, len(words)):
        noun, state = analyses[index - 1], analyses[index]
        last = index + 1 == len(words) or not words[index + 1].isalpha()
        if last and noun.tag == "NN" and state.tag == "NN" and words[index] in _STATES:
            analyses[index - 1] = noun._replace(dep=state.dep, head=state.head)
            if state.head == index:
                analyses[index - 1] = noun._replace(dep=state.dep, head=index - 1)
            analyses[index] = state._replace(tag="JJ", dep="acomp", head=index - 1)


def _repair_side(words: Sequence[str], analyses: list[Analysis], index: int) -> None:
    analysis = analyses[index]
    if words[index] in {"left", "right"} and analysis.tag[:2] in {"VB", "NN"} and index:
        before = [analyses[i].lemma for i in range(max(0, index - 2), index)]
        signals = before[-1] in WORDS["sided"]
        if signals or (WORDS["turns"] | WORDS["walks"]) & set(before):
            analyses[index] = analysis._replace(tag="RB", dep="advmod")  # "turn slightly left"


def _oppose(words: Sequence[str], analyses: list[Analysis], index: int) -> None:
    """Joins what follows ", not" to its like before it: "green, not blue"."""
    if index < 2 or words[index - 1] != ",":
        return
    following = range(index + 1, min(index + 6, len(words)))
    ends = [i for i in following if analyses[i].tag[:2] not in {"DT", "JJ", "NN", "PR", "CD"}]
    phrase = range(index + 1, ends[0] if ends else len(words))
    kinds = [kind for kind in ("NN", "JJ") if any(analyses[i].tag[:2] == kind for i in phrase)]
    if not kinds:
        return
    if len(phrase) == 1 and analyses[index - 2].tag == "JJ":  # "wooden, not metal"
        analyses[phrase[0]] = analyses[phrase[0]]._replace(tag="JJ")
        kinds = ["JJ"]
    denied = [i for i in phrase if analyses[i].tag[:2] == kinds[0]][-1]
    alike = [i for i in range(index - 1) if analyses[i].tag[:2] == kinds[0]]
    if not alike:
        return
    first, second = analyses[alike[-1]], analyses[denied]
    if first.head == denied:  # "green" hangs on "blue"
        root = second.head if second.head != denied else alike[-1]
        analyses[alike[-1]] = first._replace(dep=second.dep, head=root)
    analyses[denied] = second._replace(dep="conj", head=alike[-1])
    analyses[index] = analyses[index]._replace(dep="neg", head=denied)


def _dress(words: Sequence[str], analyses: list[Analysis], index: int) -> None:
    """Hangs clothes on the person before them: "is carried by a waiter in a white jacket"; the
    clothes do nothing ("the kid in the T-shirt jumps")."""
    person = index - 1
    following = range(index + 1, min(index + 6, len(words)))
    clothes = next((i for i in following if words[i] in WORDS["clothes"]), None)
    if clothes is None or person < 0 or analyses[person].lemma not in WORDS["people"]:
        return
    between = range(index + 1, clothes)
    if any(analyses[i].tag[:2] not in {"DT", "JJ", "NN", "PR", "RB"} for i in between):
        return
    garment = analyses[clothes]
    if garment.dep in {"nsubj", "nsubjpass"} and garment.head > clothes:
        analyses[person] = analyses[person]._replace(dep=garment.dep, head=garment.head)
    analyses[index] = analyses[index]._replace(dep="prep", head=person)
    analyses[clothes] = garment._replace(dep="pobj", head=index)


def _find_subjects(words: Sequence[str], analyses: list[Analysis]) -> None:
    """Gives a verb the subject that a parser saw in the words before it, but hung on it as an
    adjective: "the cleaner mops"; or not at all: "A man, perhaps a guest, rings"."""
    for index, verb in enumerate(analyses):
        kids = [i for i in range(len(analyses)) if analyses[i].head == index and i < index]
        helped = verb.tag == "VBG" and any(analyses[i].tag in _FINITE for i in kids)
        if verb.tag not in _FINITE and not helped:
            continue
        subjects = [i for i in kids if analyses[i].dep in {"nsubj", "nsubjpass", "expl"}]
        if len(subjects) > 1:
            _find_preposition(analyses, *subjects[:2])
        if subjects:
            continue
        articles = [i for i in kids if analyses[i].dep in {"det", "poss"}]
        nouns = [
            i
            for i in kids
            if analyses[i].dep in {"amod", "compound", "dep"}
            or (analyses[i].dep == "npadvmod" and analyses[i].lemma not in WORDS["unseen"])
        ]
        if nouns and (articles or analyses[nouns[-1]].tag.startswith("NN")):
            noun = nouns[-1]
            lemma = words[noun] if analyses[noun].tag[:2] == "JJ" else analyses[noun].lemma
            tag = analyses[noun].tag if analyses[noun].tag.startswith("NN") else "NN"
            analyses[noun] = Analysis(lemma, tag, "nsubj", index)
            for i in (*articles, *nouns[:-1]):
                if i < noun:
                    analyses[i] = analyses[i]._replace(head=noun)


def _find_preposition(analyses: list[Analysis], first: int, second: int) -> None:
    """Of two subjects hangs the second on the preposition before it: "a pan with a lid is"."""
    for index in range(first + 1, second):
        idle = not any(other.head == index and other.dep == "pobj" for other in analyses)
        if analyses[index].tag == "IN" and idle:
            analyses[second] = analyses[second]._replace(dep="pobj", head=index)


def _is_before_noun(words: Sequence[str], analyses: Sequence[Analysis], index: int) -> bool:
    """Whether a participle is part of a name: "on baking tray"."""
    if not 0 < index < len(words) - 1 or words[index - 1] not in {"on", "in", "into", "onto"}:
        return False
    noun = analyses[index + 1]
    return noun.head == index and noun.dep == "dobj" and noun.tag in {"NN", "NNS"}


def _repair_verb(words: Sequence[str], analyses: list[Analysis], index: int) -> None:
    """A noun that is a verb: "goes down and waits", "a woman types on"."""
    noun, (lemma, tag) = analyses[index], VERBS[words[index]]
    kids = [i for i, other in enumerate(analyses) if other.head == index and i != index]
    verbs = [
        i for i in range(index) if analyses[i].tag[:2] == "VB" and not _hangs_on(analyses, i, index)
    ]
    if words[index - 1] in {"and", "then", ","} and noun.dep in {"conj", "dep", "appos", "dobj"}:
        modified = any(i < index and analyses[i].dep in {"det", "amod", "poss"} for i in kids)
        if verbs and not modified and (tag != "VB" or analyses[verbs[-1]].tag in {"VB", "VBP"}):
            analyses[index] = Analysis(lemma, tag, "conj", verbs[-1])
        return
    subject = index - 1
    if subject in kids and words[subject] in _SUBJECTS and tag != "VB":
        root = noun
        if noun.dep == "nsubj":  # "the camera pans right and reveals": what it was the subject of
            root = analyses[noun.head]
            analyses[noun.head] = root._replace(dep="conj", head=index)
        head = index if root.dep == "ROOT" else root.head
        analyses[index] = Analysis(lemma, tag, root.dep, head)
        analyses[subject] = analyses[subject]._replace(tag="NN", dep="nsubj", head=index)
        for i in kids:
            if i < subject:
                analyses[i] = analyses[i]._replace(head=subject)


def _hangs_on(analyses: Sequence[Analysis], index: int, other: int) -> bool:
    """Whether a word hangs, by whatever way, on another."""
    passed: set[int] = set()  # a repair on its way may have closed a ring
    while index != other and index not in passed:
        passed.add(index)
        index = analyses[index].head
    return index == other
