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


def worst_change(
    before: PerSample,
    after: PerSample,
    cells: IntPerSample,
    least: int,
    bootstrap: Bootstrap,
) -> Change | None:
    """The lowest mean among the cells with at least so many samples, before and after.

    None where fewer than two cells have them.
    """
    sizes = np.bincount(cells)
    members = [cells == cell for cell in np.flatnonzero(sizes >= least)]
    if len(members) < 2:
        return None

    def means(values: PerSample) -> Float[np.ndarray, " cell"]:
        return np.array([values[member].mean() for member in members])

    def lowest(values: PerSample) -> Float[np.ndarray, " draw"]:
        draws = [bootstrap.means(values, member) for member in members]
        # a draw may hold no sample of a cell, whose mean is NaN then
        return np.asarray(np.nanmin(draws, axis=0))

    # each its own lowest: after a remedy another group may be the worst
    low, high = bootstrap.interval(lowest(after) - lowest(before))
    worst = members[means(before).argmin()]
    worst_before = float(means(before).min())
    worst_after = float(means(after).min())
    return Change(worst_before, worst_after, low, high, int(worst.sum()))


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
