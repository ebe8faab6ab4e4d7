"""Reasoning that has seen nothing: the shape of a trace, filled with words drawn from the data's.

The paper's null (section 7.3): sampled objects, relations and timestamps.
"""

from collections.abc import Sequence

import numpy as np

from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.vocabulary import Vocabulary

Steps = tuple[tuple[Claim, ...], ...]


def random_trace(
    claims: Sequence[Sequence[Claim]], words: Vocabulary, frames: int, rng: np.random.Generator
) -> Steps:
    """As many steps with as many claims of the same kinds, at moments of the same length.

    Words are drawn evenly, whatever their frequency; nothing is denied, for to deny at random is
    to be right. A claim that says nothing of time stays so: it is as easy to meet as the model's.
    """
    return tuple(
        tuple(random_claim(claim, words, frames, rng) for claim in step) for step in claims
    )


def random_claim(claim: Claim, words: Vocabulary, frames: int, rng: np.random.Generator) -> Claim:
    """One claim of the same kind and shape."""
    drawn: dict[str, object] = {"negated": False, "frames": _moment(claim, frames, rng)}
    if claim.kind == "temporal":
        drawn["predicate"] = _one(("before", "after"), rng)
        drawn["parts"] = tuple(random_claim(part, words, frames, rng) for part in claim.parts)
        return claim.model_copy(update=drawn)
    if claim.kind != "ego-motion":
        drawn["subject"] = _phrase(claim.subject, words, rng)
    if claim.object:
        drawn["object"] = _phrase(claim.object, words, rng)
    known = {
        "attribute": words.adjectives, "relation": words.relations, "action": words.verbs,
        "ego-motion": words.motions,
    }  # fmt: skip
    if claim.kind in known:
        drawn["predicate"] = _one(known[claim.kind], rng) or claim.predicate
    return claim.model_copy(update=drawn)


def _phrase(like: str, words: Vocabulary, rng: np.random.Generator) -> str:
    """As many adjectives, and a noun."""
    count = max(len(like.split()) - 1, 0)
    adjectives = [_one(words.adjectives, rng) for _ in range(count)]
    return " ".join(filter(None, [*adjectives, _one(words.heads, rng) or like]))


def _moment(claim: Claim, frames: int, rng: np.random.Generator) -> tuple[int, ...] | None:
    if not claim.frames:
        return claim.frames
    length = min(len(claim.frames), frames)
    start = int(rng.integers(frames - length + 1))
    return tuple(range(start, start + length))


def _one(known: Sequence[str], rng: np.random.Generator) -> str | None:
    return known[int(rng.integers(len(known)))] if known else None
