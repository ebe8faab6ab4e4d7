"""Changes of accuracy with intervals over groups, and the two placebos: functions of arrays."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.statistics import (
    Groups,
    WeightedMeans,
    change_interval,
    gap_intervals,
    mean_interval,
)

PerSample = Float[np.ndarray, " sample"]
BoolPerSample = Bool[np.ndarray, " sample"]
IntPerSample = Int[np.ndarray, " sample"]
Logits = Float[np.ndarray, "sample class"]
Shows = Bool[np.ndarray, "sample cue"]
STEPS = 400  # of the search for a shift
NO_CELL = -1  # cells count from 0
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


@dataclass(frozen=True, eq=False)
class Precision:
    """How the samples were drawn, and how sure the intervals of their figures are to be."""

    groups: Groups
    confidence: float

    def change(
        self, before: PerSample, after: PerSample, among: BoolPerSample
    ) -> Change:
        """The mean before and after among some of the samples, each of which is its own pair."""
        # the same samples before and after, so the change of each is what varies
        low, high = change_interval(
            (after - before)[among],
            self.groups.take(among),
            confidence=self.confidence,
        )
        return Change(
            float(before[among].mean()),
            float(after[among].mean()),
            # without an interval no gain is shown
            low or 0.0,
            high or 0.0,
            int(among.sum()),
        )

    def gap_change(
        self,
        before: PerSample,
        after: PerSample,
        without: BoolPerSample,
        present: BoolPerSample,
    ) -> Change:
        """Accuracy without the cue minus with it, before and after; the interval is after's."""
        # samples of other labels say nothing of this gap
        among = without | present
        low, high = gap_intervals(
            after[among],
            present[among, None],
            self.groups.take(among),
            confidence=self.confidence,
        )
        gap_before = before[without].mean() - before[present].mean()
        gap_after = after[without].mean() - after[present].mean()
        count = int(present.sum())
        return Change(
            float(gap_before), float(gap_after), float(low[0]), float(high[0]), count
        )

    def worst_change(self, before: "CellMeans", after: "CellMeans") -> Change:
        """The lowest mean among the cells, before and after; `n` is the worst one's before.

        Each its own lowest: after a remedy another group may be the worst. Limits of all cells
        together (Bonferroni) bound the lowest one, and both are combined (MOVER).
        """
        worst = float(before.means.min())
        worst_after = float(after.means.min())
        # limits of each state by itself: the two lowest may be of two groups
        low, high = before.limits_of_worst(self)
        low_after, high_after = after.limits_of_worst(self)
        gain = worst_after - worst
        down = np.hypot(worst_after - low_after, high - worst)
        up = np.hypot(high_after - worst_after, worst - low)
        count = int(before.sizes[before.means.argmin()])
        return Change(
            worst, worst_after, max(gain - down, -1.0), min(gain + up, 1.0), count
        )

    def groups_change(self, before: "CellMeans", after: "CellMeans") -> Change:
        """The mean over the cells, before and after: a rare one counts as much as any other."""
        groups = self.groups.take(before.among)
        means = WeightedMeans.over(before.cells, groups)
        change = after.values - before.values
        low, high = means.change_interval(change, self.confidence)
        ends = float(before.means.mean()), float(after.means.mean())
        return Change(*ends, low, high, len(before.values))


@dataclass(frozen=True, eq=False)
class CellMeans:
    """The mean of each cell of samples; `among` says which samples are in one.

    Of these `cells` has the number of each one's, and `values` what it is worth.
    """

    values: PerSample
    cells: IntPerSample
    among: Bool[np.ndarray, " measured"]

    @classmethod
    def of(
        cls, values: PerSample, cells: IntPerSample, least: int
    ) -> "CellMeans | None":
        """Of the cells with at least so many samples; None where fewer than two have them."""
        # bincount takes no negative number
        sizes = np.bincount(cells[cells != NO_CELL])
        enough = np.flatnonzero(sizes >= least)
        # a single cell is no group beside others
        if len(enough) < 2:
            return None
        among = np.isin(cells, enough)
        return cls(values[among], np.searchsorted(enough, cells[among]), among)

    @property
    def sizes(self) -> Int[np.ndarray, " cell"]:
        """How many samples each has."""
        return np.bincount(self.cells)

    @property
    def means(self) -> Float[np.ndarray, " cell"]:
        """The mean of each."""
        return np.asarray(np.bincount(self.cells, self.values) / self.sizes)

    def limits_of_worst(self, precision: Precision) -> tuple[float, float]:
        """Of the lowest of the true means."""
        count = len(self.sizes)
        # all cells are looked at to find the lowest, so all pay (Bonferroni)
        confidence = 1 - (1 - precision.confidence) / count
        groups = precision.groups.take(self.among)
        ends = []
        for cell in range(count):
            member = self.cells == cell
            ends.append(
                mean_interval(
                    self.values[member], groups.take(member), confidence=confidence
                )
            )
        lows, highs = np.array(ends, dtype=float).T
        return float(lows.min()), float(highs.min())


def shuffle_within(
    shows: Shows,
    targets: IntPerSample,
    rng: np.random.Generator,
) -> Shows:
    """Which cues are shown, dealt anew among the samples of each label: as many as before."""
    dealt = shows.copy()
    # within a label: across labels a shuffle would tell labels apart, and not cues
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
    spread = np.median(leads) or 1.0  # equal logits have no spread
    shift = np.zeros(classes)
    best = shift
    least = np.inf
    for step in range(STEPS):
        answers = (logits + shift).argmax(axis=1)
        # only answers are known, so the step goes by how often each comes
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
