"""Which frames an action network is shown for a claim, and what its figures say."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cuescope_sdk.grounding import Claim, Judgement
from cuescope_sdk.language import head_noun, normalise_words
from cuescope_verifiers.sentences import third_person

Clip = tuple[int, ...]
_ANY = frozenset({"something", "someone", "object", "objects", "thing", "things", "(something)"})


def clips(meant: Sequence[int], frames: int, length: int) -> list[Clip]:
    """Clips of `length` frames for the moments meant: around them, or over the whole video.

    Those over the whole video overlap by half. What is too short repeats its frames.
    """
    if len(meant) < frames:
        spare = max(length - (meant[-1] - meant[0] + 1), 0)
        first = min(max(meant[0] - spare // 2, 0), max(frames - length, 0))
        last = max(meant[-1], min(first + length, frames) - 1)
        return [_spread(first, last, length)]
    starts = [*range(0, max(frames - length, 0), max(length // 2, 1)), max(frames - length, 0)]
    return [_spread(start, min(start + length, frames) - 1, length) for start in starts]


def _spread(first: int, last: int, length: int) -> Clip:
    return tuple(np.linspace(first, last, length).round().astype(int).tolist())


def verdict(probabilities: Float[np.ndarray, " candidate"], ours: Sequence[int]) -> Judgement:
    """Supported where the best candidate is ours, unsupported where ours are less than chance."""
    share = float(probabilities[list(ours)].sum())
    if int(probabilities.argmax()) in ours:
        return Judgement.of(True, score=share)
    if share < len(ours) / len(probabilities):
        return Judgement.of(False, score=share)
    return Judgement(verdict="unverifiable", reason="no evidence", score=share)


def fits(claim: Claim, title: str) -> bool:
    """Whether an action claim is what a class is called: "open", "door" is "opening a door".

    A class of another thing does not fit; one of "something" does.
    """
    words = set(title.lower().replace("_", " ").replace(",", " ").split())
    verb, _, particle = normalise_words(claim.predicate or "").partition(" ")
    thing = head_noun(normalise_words(claim.object or ""))
    return (
        not words.isdisjoint(forms(verb))
        and set(particle.split()) <= words
        and (not thing or not words.isdisjoint({thing, f"{thing}s"} | _ANY))
    )


def forms(verb: str) -> set[str]:
    """The forms in which a verb may stand in a class name: "put", "puts", "putting" ..."""
    stem = verb.removesuffix("e")
    return {verb, third_person(verb), f"{stem}ing", f"{verb}ing", f"{verb}{verb[-1:]}ing",
            f"{stem}ed", f"{verb}{verb[-1:]}ed"}  # fmt: skip
