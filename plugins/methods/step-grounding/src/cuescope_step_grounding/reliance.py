"""What it costs a trace that its video was changed, and what that costs per change (eq. 4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_step_grounding.chance import bootstrap_interval
from cuescope_step_grounding.measuring import Findings, MeasuredTrace
from cuescope_step_grounding.metrics import mean, visual_reliance
from cuescope_step_grounding.naming import Perturbation
from cuescope_step_grounding.perturbing import RELEVANT, magnitudes


@dataclass(frozen=True)
class ChangeCost:
    """One changed video: how much SGR was lost, the right answers before and after, and |P|.

    A paraphrase changes no pixel.
    """

    sample: str
    kind: Perturbation
    lost: float | None
    right: tuple[bool | None, bool | None]
    magnitude: float


@dataclass(frozen=True)
class Reliance:
    """Drops of SGR by sample, under relevant and irrelevant changes, with their magnitudes.

    `interval` is None where irrelevant changes cost nothing, so that all that is known of the score
    is that it is the clip's or more.
    """

    drops: Float[np.ndarray, "sample 2"]
    sizes: Float[np.ndarray, "sample 2"]
    score: float | None
    interval: tuple[float, float] | None


def change_costs(found: Findings) -> list[ChangeCost]:
    """All changed traces beside those of the samples as they are."""
    plain = {one.reasoning.sample.key: one for one in found.plain}
    by_sample: dict[str, list[MeasuredTrace]] = {}
    for one in found.variants:
        if one.reasoning.asked_for.change is not None:
            by_sample.setdefault(one.reasoning.sample.key, []).append(one)
    return [change for key, of in by_sample.items() for change in _changes(plain[key], of)]


def _changes(plain: MeasuredTrace, changed: Sequence[MeasuredTrace]) -> Iterator[ChangeCost]:
    sample = plain.reasoning.sample
    frames = [one.reasoning.asked_for.trial.sample.frames for one in changed]
    for one, size in zip(changed, magnitudes(sample.frames, frames), strict=True):
        kind = one.reasoning.asked_for.change
        known = plain.grounding is not None and one.grounding is not None
        lost = (plain.grounding or 0.0) - (one.grounding or 0.0) if known else None
        right = plain.reasoning.right, one.reasoning.right
        if kind is not None and (size > 0 or kind == "paraphrase"):
            yield ChangeCost(sample.key, kind, lost, right, size)


def reliance(
    made: Sequence[ChangeCost],
    rng: np.random.Generator,
    *,
    epsilon: float,
    clip: float,
    confidence: float,
    resamples: int,
) -> Reliance:
    """VRS over the samples that were changed both ways, with its bootstrap interval.

    A sample's drop is the mean over kinds of change, of each the mean over its instances.
    """
    by_sample: dict[str, list[ChangeCost]] = {}
    for change in made:
        if change.lost is not None:
            by_sample.setdefault(change.sample, []).append(change)
    sides = (RELEVANT, ("irrelevant",))
    rows = [
        [_mean(of, kinds, "lost") for kinds in sides]
        + [_mean(of, kinds, "magnitude") for kinds in sides]
        for of in by_sample.values()
    ]
    whole = np.array([row for row in rows if None not in row], dtype=np.float64).reshape(-1, 4)

    def score(places: np.ndarray) -> float | None:
        lost, control, size, control_size = whole[places].mean(axis=0).tolist()
        return visual_reliance(lost, size, control, control_size, epsilon=epsilon, clip=clip)

    everything = score(np.arange(len(whole))) if len(whole) else None
    interval = bootstrap_interval(
        score, len(whole), rng, confidence=confidence, resamples=resamples
    )
    if everything == clip and whole[:, 1].mean() <= 0:
        interval = None
    elif interval and everything is not None:
        interval = min(interval[0], everything), max(interval[1], everything)
    return Reliance(whole[:, :2], whole[:, 2:], everything, interval)


def _mean(made: Sequence[ChangeCost], kinds: Sequence[str], figure: str) -> float | None:
    """Over kinds, of each over its instances."""
    of_kind = [mean([getattr(one, figure) for one in made if one.kind == kind]) for kind in kinds]
    return mean(of_kind)
