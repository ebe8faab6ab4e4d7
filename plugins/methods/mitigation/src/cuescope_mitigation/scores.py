"""Changes of accuracy with intervals over groups, and the two placebos: functions of arrays."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import Bootstrap

PerSample = Float[np.ndarray, " sample"]
BoolPerSample = Bool[np.ndarray, " sample"]
IntPerSample = Int[np.ndarray, " sample"]
Logits = Float[np.ndarray, "sample class"]
Shows = Bool[np.ndarray, "sample cue"]
STEPS = 400  # of the search for a shift
NO_CELL = -1
SLOWER = 20  # steps, after which they are half as long


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
    before: PerSample,
    after: PerSample,
    among: BoolPerSample,
    bootstrap: Bootstrap,
) -> Change:
    """The mean before and after among some of the samples, each of which is its own pair."""
    # of differences, so that what stays as it was does not widen the interval
    low, high = bootstrap.interval(bootstrap.means(after - before, among))
    mean_before = float(before[among].mean())
    mean_after = float(after[among].mean())
    return Change(mean_before, mean_after, low, high, int(among.sum()))


def gap_change(
    before: PerSample,
    after: PerSample,
    without: BoolPerSample,
    present: BoolPerSample,
    bootstrap: Bootstrap,
) -> Change:
    """Accuracy without the cue minus with it, before and after; the interval is that of after."""
    of_others = bootstrap.means(after, without)
    # with and without are other samples, so both vary in a draw
    low, high = bootstrap.interval(of_others - bootstrap.means(after, present))
    gap_before = before[without].mean() - before[present].mean()
    gap_after = after[without].mean() - after[present].mean()
    count = int(present.sum())
    return Change(float(gap_before), float(gap_after), low, high, count)


@dataclass(frozen=True, eq=False)
class CellMeans:
    """The mean of each cell of samples, and that of each draw; NaN where it drew none of them."""

    means: Float[np.ndarray, " cell"]
    draws: Float[np.ndarray, "cell draw"]
    sizes: Int[np.ndarray, " cell"]

    @classmethod
    def of(
        cls,
        values: PerSample,
        cells: IntPerSample,
        least: int,
        bootstrap: Bootstrap,
    ) -> "CellMeans | None":
        """Of the cells with at least so many samples; None where fewer than two have them."""
        sizes = np.bincount(cells[cells != NO_CELL])
        enough = np.flatnonzero(sizes >= least)
        if len(enough) < 2:
            return None
        members = [cells == cell for cell in enough]
        means = [values[member].mean() for member in members]
        draws = [bootstrap.means(values, member) for member in members]
        return cls(np.array(means), np.stack(draws), sizes[enough])


def worst_change(before: CellMeans, after: CellMeans, bootstrap: Bootstrap) -> Change:
    """The lowest mean among the cells, before and after; `n` is the size of the worst before."""
    # each its own lowest: after a remedy another group may be the worst
    draws = np.nanmin(after.draws, axis=0) - np.nanmin(before.draws, axis=0)
    low, high = bootstrap.interval(draws)
    count = int(before.sizes[before.means.argmin()])
    return Change(float(before.means.min()), float(after.means.min()), low, high, count)


def groups_change(before: CellMeans, after: CellMeans, bootstrap: Bootstrap) -> Change:
    """The mean over the cells, before and after: a rare one counts as much as any other."""
    # pair by pair: a cell that a draw misses is missing in both
    low, high = bootstrap.interval(np.nanmean(after.draws - before.draws, axis=0))
    count = int(before.sizes.sum())
    return Change(
        float(before.means.mean()), float(after.means.mean()), low, high, count
    )


def shuffle_within(
    shows: Shows,
    targets: IntPerSample,
    rng: np.random.Generator,
) -> Shows:
    """Which cues are shown, dealt anew among the samples of each label: as many as before."""
    dealt = shows.copy()
    for target in np.unique(targets):
        rows = np.flatnonzero(targets == target)
        # whole rows: cues that go together still do
        dealt[rows] = shows[rng.permutation(rows)]
    return dealt


def answer_shift(logits: Logits, wanted: IntPerSample) -> Float[np.ndarray, " class"]:
    """A constant on each class's logit that makes answers as frequent as `wanted` has them.

    Found step by step; the nearest that was met is taken. Without what the shift says of the prior,
    nothing of a sample enters.
    """
    classes = logits.shape[1]
    target = np.bincount(wanted, minlength=classes) / len(wanted)
    # steps in units of the model's own logits: each model has a scale of its own
    leads = logits.max(axis=1) - np.median(logits, axis=1)
    spread = np.median(leads) or 1.0
    shift = np.zeros(classes)
    best = shift
    least = np.inf
    for step in range(STEPS):
        answers = (logits + shift).argmax(axis=1)
        frequency = np.bincount(answers, minlength=classes) / len(wanted)
        miss = target - frequency
        error = np.abs(miss).sum()
        if error < least:
            least = error
            best = shift
        if not error:
            break
        # smaller and smaller, or it would jump about the aim
        shift = shift + spread * miss / (1 + step / SLOWER)
    return best
