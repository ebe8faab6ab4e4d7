"""Traces that are wrong on purpose: a verifier that only liked their grammar would not notice.

Section 7.3 of the paper: spatial relations inverted, entities swapped, temporal order reversed.
"""

import re
from typing import Literal, get_args

import numpy as np

from cuescope_sdk.grounding import INVERSE, Claim
from cuescope_step_grounding.vocabulary import Vocabulary, head

Change = Literal["relations", "entities", "time"]
CHANGES: tuple[Change, ...] = get_args(Change)
_OPPOSITES = (
    ("left", "right"), ("above", "below"), ("over", "under"), ("up", "down"), ("before", "after"),
    ("in front of", "behind"), ("forward", "backward"), ("appear", "disappear"),
    ("appears", "disappears"), ("first", "last"), ("start", "end"), ("open", "close"),
    ("inside", "outside"), ("near", "far from"), ("enter", "leave"), ("enters", "leaves"),
)  # fmt: skip
OPPOSITE = dict(_OPPOSITES) | {b: a for a, b in _OPPOSITES}
_OPPOSED = re.compile(rf"\b({'|'.join(sorted(OPPOSITE, key=len, reverse=True))})\b", re.IGNORECASE)
# As `INVERSE`, but for what is its own inverse: that has an opposite.
_INVERTED = {**INVERSE, "near": "far from", "touching": "far from", "far from": "near"}


def counterfactual(
    claim: Claim,
    changes: frozenset[Change],
    words: Vocabulary,
    frames: int,
    rng: np.random.Generator,
) -> Claim:
    """The claim made wrong by these changes; one that none of them touches stays as it is.

    A denial that is changed becomes the assertion of what it denies.
    """
    found = claim
    if "relations" in changes:
        found = _inverted(found)
    if "entities" in changes:
        found = _swapped(found, words, rng)
    if "time" in changes:
        found = _reversed(found, frames)
    if found != claim and claim.negated:
        return claim.model_copy(update={"negated": False})
    return found


def in_other_words(step: str) -> str:
    """A step's own words turned round.

    >>> in_other_words("The car is left of the tree before it leaves.")
    'The car is right of the tree after it enters.'
    """
    return _OPPOSED.sub(lambda found: OPPOSITE[found[0].lower()], step)


def _inverted(claim: Claim) -> Claim:
    """Of two things the relation, of a movement the direction."""
    said = claim.predicate or ""
    if claim.kind == "relation":
        other = _INVERTED.get(said)
        if other is None:
            return claim.model_copy(update={"subject": claim.object, "object": claim.subject})
        return claim.model_copy(update={"predicate": other})
    if claim.kind in ("action", "ego-motion"):
        return claim.model_copy(update={"predicate": in_other_words(said)})
    return claim


def _swapped(claim: Claim, words: Vocabulary, rng: np.random.Generator) -> Claim:
    """Another thing in the subject's place; of an attribute another attribute."""
    if claim.kind == "attribute":
        other = _another(claim.predicate or "", words.adjectives, rng)
        return claim.model_copy(update={"predicate": other})
    if claim.kind == "temporal":
        parts = tuple(_swapped(part, words, rng) for part in claim.parts)
        return claim.model_copy(update={"parts": parts})
    if claim.kind == "ego-motion" or not claim.subject:
        return claim
    return claim.model_copy(update={"subject": _other_thing(claim.subject, words, rng)})


def _other_thing(phrase: str, words: Vocabulary, rng: np.random.Generator) -> str:
    """ "red car" becomes "blue car"; what has no adjective becomes another thing."""
    *adjectives, noun = phrase.split()
    if adjectives and len(words.adjectives) > 1:
        return " ".join([*(_another(word, words.adjectives, rng) for word in adjectives), noun])
    return " ".join([*adjectives, _another(head(phrase), words.heads, rng)])


def _reversed(claim: Claim, frames: int) -> Claim:
    """The moment seen from the other end; before is after."""
    turned: dict[str, object] = {}
    if claim.frames:
        turned["frames"] = tuple(sorted(frames - 1 - frame for frame in claim.frames))
    if claim.kind == "temporal":
        turned["predicate"] = {"before": "after", "after": "before"}.get(claim.predicate or "")
        turned["predicate"] = turned["predicate"] or claim.predicate
        turned["parts"] = tuple(_reversed(part, frames) for part in claim.parts)
    return claim.model_copy(update=turned)


def _another(word: str, known: tuple[str, ...], rng: np.random.Generator) -> str:
    others = [other for other in known if other != word]
    return others[int(rng.integers(len(others)))] if others else word
