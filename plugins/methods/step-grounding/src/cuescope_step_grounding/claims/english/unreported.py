"""What a sentence does not report: plans, guesses, conditions, talk of the answer."""

import importlib
from collections.abc import Iterator
from typing import Any

from cuescope_step_grounding.claims.english.tokens import (
    SUBJECTS,
    Doc,
    Token,
    has,
    is_definite,
    is_noun,
    is_verb,
    kids,
    texts,
)
from cuescope_step_grounding.claims.english.words import WORDS

_POINTING = ["this", "that", "it", "which"]


def _of(attribute: str, *words: str) -> dict[str, Any]:
    return {attribute: {"IN": sorted(words)}}


_COMPLEMENTS = _of("DEP", "acomp", "oprd", "advmod")
_PLANNING = WORDS.planning - WORDS.beginning - WORDS.failing
# A verb, and what hangs on it; the last word of each pattern is what is not reported.
_PATTERNS: dict[str, list[Any]] = {
    "guess": [
        [{}, _of("DEP", "aux") | _of("LOWER", *WORDS.hedges)],
        [{"LEMMA": {"NOT_IN": sorted(WORDS.seeing)}}, {"TAG": "MD", "DEP": "aux"}],
        [{}, {"DEP": "advmod"} | _of("LOWER", *WORDS.doubting)],
    ],
    "plan": [
        [_of("LEMMA", *_PLANNING), {"DEP": "xcomp"}],
        [_of("LEMMA", *WORDS.wanting), {"DEP": "dobj"}],
        [_COMPLEMENTS | _of("LOWER", *WORDS.intending), {"DEP": "xcomp"}],
    ],
    "told": [
        [_of("LEMMA", *WORDS.inferring), _of("DEP", "ccomp", "xcomp")],
        [_of("LEMMA", *WORDS.telling, *WORDS.reporting), {"DEP": "ccomp"}],
    ],
    "condition": [[{}, {"DEP": "mark"} | _of("LOWER", "if", "unless", "whether")]],
    "asked": [[_of("DEP", "ccomp", "pcomp"), _of("LOWER", *WORDS.questioning)]],
    "about": [
        [
            _of("DEP", "ROOT", "ccomp"),
            _of("DEP", *SUBJECTS) | _of("LEMMA", *WORDS.about_question),
        ],
        [
            {"DEP": "ROOT"} | _of("LEMMA", *WORDS.inferring),
            _of("DEP", *SUBJECTS) | _of("LOWER", *_POINTING),
        ],
    ],
}


class Unreported:
    """Finds the words of a sentence that tell of nothing that was seen."""

    def __init__(self, vocabulary: Any) -> None:
        self._matcher = importlib.import_module("spacy.matcher").DependencyMatcher(
            vocabulary
        )
        for name, patterns in _PATTERNS.items():
            self._matcher.add(name, [_pattern(*attributes) for attributes in patterns])

    def words(self, sentence: Doc) -> set[int]:
        """The indices of these words."""
        unreported: set[int] = set()
        for name, (verb, kid) in self._matcher(sentence):
            rule = sentence.vocab.strings[name]
            unreported.update(_RULES[rule](sentence[verb], sentence[kid]))
        return unreported


def _pattern(verb: dict[str, Any], kid: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"RIGHT_ID": "verb", "RIGHT_ATTRS": verb},
        {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "kid", "RIGHT_ATTRS": kid},
    ]


def _below(word: Token) -> set[int]:
    return {inner.i for inner in word.subtree}


def _has_agent(verb: Token) -> bool:
    return any(kid.lower_ in WORDS.agents for kid in kids(verb, "nsubj"))


def _guess(verb: Token, _: Token) -> Iterator[int]:
    """ "might open", "perhaps he sits"; but "cannot open" reports what is so."""
    unable = has(verb, WORDS.negations, "neg") and has(
        verb, {"can", "ca", "could"}, "aux"
    )
    if unable and not has(verb, {"have"}, "aux"):
        return
    yield verb.i
    for kid in kids(verb):
        # a subject that is known is there, and a joined clause is read by itself
        present = kid.dep_ in SUBJECTS and is_definite(kid)
        if kid.dep_ not in {"conj", "advcl"} and not present:
            yield from _below(kid)


def _plan(verb: Token, clause: Token) -> Iterator[int]:
    """ "tries to open the door": the opening is not seen, but the door is."""
    if not kids(verb, "dobj"):
        yield verb.i
        yield from [verb.head.i] * (verb.lower_ in WORDS.intending)
    for word in clause.subtree:
        there = is_noun(word) and is_definite(word) and is_verb(clause)
        if _has_agent(verb) or not there:
            yield word.i


def _told(verb: Token, clause: Token) -> Iterator[int]:
    """ "..., suggesting that he is a chef"; what I say or "it says" is reported."""
    infers = verb.lemma_ in WORDS.inferring
    subjects = texts(verb, "nsubj")
    ours = _has_agent(verb) or not subjects or "it" in subjects
    if infers or (not ours and clause.i > verb.i):
        yield from [verb.i] * infers
        yield from _below(clause)


def _condition(verb: Token, mark: Token) -> Iterator[int]:
    """ "if he falls, she laughs": neither was seen; "if we look closely" says nothing."""
    # "as if" says how it seems
    if mark.i and mark.nbor(-1).lower_ == "as":
        return
    yield from _below(verb)
    if verb.dep_ == "advcl" and not _has_agent(verb):
        yield from _guess(verb.head, mark)


def _about(verb: Token, _: Token) -> Iterator[int]:
    """ "The answer is B because the man sits": what follows "because" was seen."""
    seen: set[int] = set()
    for clause in kids(verb, "advcl"):
        if has(clause, WORDS.reasons, "mark"):
            seen |= _below(clause)
    yield from (word.i for word in verb.doc if word.i not in seen)


_RULES = {
    "guess": _guess,
    "plan": _plan,
    "told": _told,
    "condition": _condition,
    "asked": lambda clause, _: _below(clause),
    "about": _about,
}
