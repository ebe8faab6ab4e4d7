"""Changes of accuracy with intervals over groups, and the two placebos: functions of arrays."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import percentile_interval, weighted_means

STEPS = 400  # of the search for a shift


@dataclass(frozen=True)
class Change:
    """A figure before and after, and the interval of the change; `n` samples it was measured on."""

    before: float
    after: float
    low: float
    high: float
    n: int

    @property
    def gain(self) -> float:
        """After minus before."""
        return self.after - self.before


def change(
    before: Float[np.ndarray, " sample"],
    after: Float[np.ndarray, " sample"],
    among: Bool[np.ndarray, " sample"],
    weights: Float[np.ndarray, "draw sample"],
    confidence: float,
) -> Change:
    """The mean before and after among some of the samples, each of which is its own pair."""
    low, high = percentile_interval(weighted_means(after - before, among, weights), confidence)
    return Change(
        float(before[among].mean()), float(after[among].mean()), low, high, int(among.sum())
    )


def gap_change(
    before: Float[np.ndarray, " sample"],
    after: Float[np.ndarray, " sample"],
    without: Bool[np.ndarray, " sample"],
    present: Bool[np.ndarray, " sample"],
    weights: Float[np.ndarray, "draw sample"],
    confidence: float,
) -> Change:
    """Accuracy without the cue minus with it, before and after; the interval is that of after."""
    after_draws = weighted_means(after, without, weights) - weighted_means(after, present, weights)
    low, high = percentile_interval(after_draws, confidence)
    return Change(
        float(before[without].mean() - before[present].mean()),
        float(after[without].mean() - after[present].mean()),
        low,
        high,
        int(present.sum()),
    )


def worst_change(
    before: Float[np.ndarray, " sample"],
    after: Float[np.ndarray, " sample"],
    cells: Int[np.ndarray, " sample"],
    least: int,
    weights: Float[np.ndarray, "draw sample"],
    confidence: float,
) -> Change | None:
    """The lowest mean among the cells with at least so many samples, before and after.

    None where fewer than two cells have them.
    """
    sizes = np.bincount(cells)
    large = np.flatnonzero(sizes >= least)
    if len(large) < 2:
        return None

    def lowest(values: Float[np.ndarray, " sample"]) -> Float[np.ndarray, " draw"]:
        rows = [weighted_means(values, cells == cell, weights) for cell in large]
        return np.asarray(np.nanmin(np.stack(rows), axis=0))

    def observed(values: Float[np.ndarray, " sample"]) -> float:
        return float(min(values[cells == cell].mean() for cell in large))

    low, high = percentile_interval(lowest(after) - lowest(before), confidence)
    worst = min(large, key=lambda cell: before[cells == cell].mean())
    return Change(observed(before), observed(after), low, high, int(sizes[worst]))


def shuffle_within(
    shows: Bool[np.ndarray, "sample cue"],
    targets: Int[np.ndarray, " sample"],
    rng: np.random.Generator,
) -> Bool[np.ndarray, "sample cue"]:
    """Which cues are shown, dealt anew among the samples of each label: as many as before."""
    dealt = shows.copy()
    for target in np.unique(targets):
        rows = np.flatnonzero(targets == target)
        dealt[rows] = shows[rng.permutation(rows)]
    return dealt


def answer_shift(
    logits: Float[np.ndarray, "sample class"], wanted: Int[np.ndarray, " sample"]
) -> Float[np.ndarray, " class"]:
    """A constant on each class's logit that makes answers as frequent as `wanted` has them.

    Found step by step; the nearest that was met is taken. Without what the shift says of the prior,
    nothing of a sample enters.
    """
    classes = logits.shape[1]
    target = np.bincount(wanted, minlength=classes) / len(wanted)
    spread = float(np.median(np.sort(logits, axis=1)[:, -1] - np.median(logits, axis=1))) or 1.0
    shift, best, least = np.zeros(classes), np.zeros(classes), np.inf
    for step in range(STEPS):
        answers = (logits + shift).argmax(axis=1)
        miss = target - np.bincount(answers, minlength=classes) / len(wanted)
        if (error := float(np.abs(miss).sum())) < least:
            least, best = error, shift.copy()
        if not error:
            break
        shift += spread * miss / (1 + step / 20)
    return best
