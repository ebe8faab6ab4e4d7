"""What a trace believes step by step, and what its successive beliefs rest on (section 3.3).

Steps that claim nothing leave the belief as it was, so transitions join steps that claim something.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from cuescope_sdk import SentenceEncoder
from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.claims.contents import belief_words, claim_words

TAU = 0.8  # section 3.3 of the paper, for all-MiniLM-L6-v2
ClaimsByWords = dict[str, Claim]  # so that a thing said again is one belief


@dataclass(frozen=True)
class Transition:
    """From b_i to b_i+1; `kept` and `new` are their claims at the time of step i+1."""

    before: str
    after: str
    kept: tuple[Claim, ...]
    new: tuple[Claim, ...]


def transitions(
    claims: Sequence[Sequence[Claim]], lapses: Callable[[Claim], bool] | None = None
) -> list[Transition]:
    """Those of one trace, from its claims by step.

    A belief is what its step claims, and with `lapses` also what was believed before and has not
    lapsed at the time of the step: what is not said again stands while the evidence lets it. Every
    claim that `lapses` is asked of is among the `recalled_claims`.
    """
    pairs = []
    belief: ClaimsByWords = {}
    for step in filter(None, claims):
        time = frames_of_step(step)
        said = _at_time(_by_words(step), time)
        before = _at_time(belief, time)
        # A claim said again is judged in its newest words; all others as of the step's time.
        for name in before.keys() & said.keys():
            before[name] = said[name]
        kept = tuple(before.values())
        belief = {}
        for name, claim in before.items():
            if lapses is not None and name not in said and not lapses(claim):
                belief[name] = claim
        belief |= said
        new = tuple(belief.values())
        if kept:
            pairs.append(Transition(belief_words(kept), belief_words(new), kept, new))
    return pairs


def recalled_claims(claims: Sequence[Sequence[Claim]]) -> list[Claim]:
    """All that was said until each step, at the time of that step."""
    recalled: list[Claim] = []
    belief: ClaimsByWords = {}
    for step in filter(None, claims):
        belief |= _by_words(step)
        recalled += _at_time(belief, frames_of_step(step)).values()
    return recalled


def frames_of_step(step: Sequence[Claim]) -> tuple[int, ...] | None:
    """The time of a step: the frames that any of its claims means; None where none says."""
    frames = chain.from_iterable(claim.frames or () for claim in step)
    return tuple(sorted(set(frames))) or None


def _at_time(claims: ClaimsByWords, frames: tuple[int, ...] | None) -> ClaimsByWords:
    """The claims as of another time. An order of events is of the whole video and stays."""
    timed = {}
    for name, claim in claims.items():
        ordered = claim.kind == "temporal"
        timed[name] = claim if ordered else claim.replace(frames=frames)
    return timed


def _by_words(step: Sequence[Claim]) -> ClaimsByWords:
    return {claim_words(claim): claim for claim in step}


def similarities(
    pairs: Sequence[tuple[str, str]], encoder: SentenceEncoder
) -> Float[np.ndarray, " pair"]:
    """Cosine of each pair of texts; each text is encoded once."""
    texts = list(dict.fromkeys(chain.from_iterable(pairs)))
    # np.stack takes no empty list
    if not texts:
        return np.zeros(0)
    rows = np.asarray(encoder.encode(texts), float)
    vectors = dict(zip(texts, rows, strict=True))
    first = np.stack([vectors[text] for text, _ in pairs])
    second = np.stack([vectors[text] for _, text in pairs])
    # Encoders give unit rows, so the product of two rows is their cosine.
    return np.asarray((first * second).sum(axis=1))
