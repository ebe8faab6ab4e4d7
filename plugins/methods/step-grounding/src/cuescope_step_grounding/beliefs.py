"""What a trace believes step by step, and what its successive beliefs rest on (section 3.3).

Steps that claim nothing leave the belief as it was, so transitions join steps that claim something.
A threshold `tau` of eq. 2 belongs to its sentence encoder:

    pairs, same = labelled_pairs()
    tau, accuracy = calibrate(similarities(pairs, encoder), same)
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import SentenceEncoder
from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.claims.contents import belief_words, claim_words
from cuescope_step_grounding.claims.resources import read_text

TAU = 0.8  # section 3.3 of the paper, for all-MiniLM-L6-v2
TAU_OF_BAG = 0.62  # ours for the bag of words
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


# ------------------------------------------------------------------------------------- calibration


def calibrate(
    similarities: Float[np.ndarray, " pair"], same: Bool[np.ndarray, " pair"]
) -> tuple[float, float]:
    """The threshold of the highest accuracy, in the middle between two similarities; the accuracy.

    Of thresholds that are as good, the highest: it takes fewer changes for the same. Raises
    ValueError without both kinds of pairs.
    """
    if same.all() or not same.any():
        raise ValueError("expected pairs that are the same, and pairs that are not")
    levels = np.unique(similarities)
    middles = (levels[1:] + levels[:-1]) / 2
    # beyond both ends too: the best threshold may call all pairs the same, or none
    ends = (levels[0] - 1e-6, levels[-1] + 1e-6)
    taus = np.sort([*middles, *ends])
    accuracies = ((similarities > taus[:, None]) == same).mean(axis=1)
    best = np.flatnonzero(accuracies == accuracies.max())[-1]
    return float(taus[best]), float(accuracies[best])


def labelled_pairs() -> tuple[list[tuple[str, str]], Bool[np.ndarray, " pair"]]:
    """A hundred pairs of successive steps, and whether they believe the same: half of them do."""
    rows = list(map(json.loads, read_text("step_pairs.jsonl").splitlines()))
    pairs = [(row["first"], row["second"]) for row in rows]
    same = [row["same"] for row in rows]
    return pairs, np.array(same)
