"""What a trace believes step by step, and what its successive beliefs rest on (section 3.3).

Steps that claim nothing leave the belief as it was, so transitions join steps that claim something.
A threshold `tau` of eq. 2 belongs to its sentence encoder:

    pairs, same = labelled_pairs()
    tau, accuracy = calibrate(similarities(pairs, encoder), same)
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import SentenceEncoder
from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.claims.contents import belief_words, claim_words

TAU, TAU_OF_BAG = 0.8, 0.62  # the paper's for all-MiniLM-L6-v2, ours for the bag of words
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
    pairs: list[Transition] = []
    belief: ClaimsByWords = {}
    for step in filter(None, claims):
        time = frames_of_step(step)
        own = _at_time(_by_words(step), time)
        # A claim said again is judged in its newest words; all others as of the step's time.
        before = {name: own.get(name, claim) for name, claim in _at_time(belief, time).items()}
        standing: ClaimsByWords = {}
        if lapses is not None:
            others = {name: claim for name, claim in before.items() if name not in own}
            standing = {name: claim for name, claim in others.items() if not lapses(claim)}
        if belief:
            kept, new = tuple(before.values()), tuple((standing | own).values())
            pairs.append(Transition(belief_words(kept), belief_words(new), kept, new))
        belief = standing | own
    return pairs


def recalled_claims(claims: Sequence[Sequence[Claim]]) -> list[Claim]:
    """All that was said until each step, at the time of that step."""
    steps = [step for step in claims if step]
    known = accumulate(map(_by_words, steps), lambda before, step: before | step)
    return [
        claim
        for belief, step in zip(known, steps, strict=True)
        for claim in _at_time(belief, frames_of_step(step)).values()
    ]


def frames_of_step(step: Sequence[Claim]) -> tuple[int, ...] | None:
    """The time of a step: the frames that any of its claims means; None where none says."""
    frames = {frame for claim in step for frame in claim.frames or ()}
    return tuple(sorted(frames)) or None


def _at_time(claims: ClaimsByWords, frames: tuple[int, ...] | None) -> ClaimsByWords:
    """The claims as of another time. An order of events is of the whole video and stays."""
    return {
        name: claim if claim.kind == "temporal" else claim.replace(frames=frames)
        for name, claim in claims.items()
    }


def _by_words(step: Sequence[Claim]) -> ClaimsByWords:
    return {claim_words(claim): claim for claim in step}


def similarities(
    pairs: Sequence[tuple[str, str]], encoder: SentenceEncoder
) -> Float[np.ndarray, " pair"]:
    """Cosine of each pair of texts; each text is encoded once."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    if not texts:
        return np.zeros(0)
    rows = np.asarray(encoder.encode(texts), dtype=np.float64)
    row_of = {text: row for row, text in enumerate(texts)}
    before, after = (rows[[row_of[pair[side]] for pair in pairs]] for side in (0, 1))
    # Encoders give unit rows, so the product of two rows is their cosine.
    return np.asarray((before * after).sum(axis=1))


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
    between = [levels[0] - 1e-6, *((levels[1:] + levels[:-1]) / 2), levels[-1] + 1e-6]
    accuracies = [float(((similarities > tau) == same).mean()) for tau in between]
    best = max(range(len(between)), key=lambda index: (accuracies[index], index))
    return float(between[best]), accuracies[best]


def labelled_pairs() -> tuple[list[tuple[str, str]], Bool[np.ndarray, " pair"]]:
    """A hundred pairs of successive steps, and whether they believe the same: half of them do."""
    text = files("cuescope_step_grounding").joinpath("step_pairs.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [(row["first"], row["second"]) for row in rows], np.array([row["same"] for row in rows])
