"""What a condition costs: paired losses of accuracy, with intervals and tests over whole videos.

All rates and losses are percent and percentage points.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from scipy import special

from cuescope_quag.measures import Codes, Measure
from cuescope_sdk.statistics import (
    Groups,
    change_interval,
    change_p_value,
    exceeds_rate_p_value,
    mean_interval,
    overlap_p_value,
    permutation_p_value,
)

# Of videos with several questions, in 4,000 simulated audits at the margin 3.0% were called spared
# where 2.5% were promised (benchmarks/nulls/quag.py): their p-values count for so much more.
CAUTION = 1.5
# Confidence of the intervals that are tried for a p-value: one-sided from 0.25 on.
CONFIDENT = tuple((1 - 2 * np.geomspace(0.25, 1e-6, 80)).tolist())


@dataclass(frozen=True)
class Rate:
    """An accuracy of `n` samples with its interval.

    `p_chance` is the p-value of "no better than guessing", `p_best` what it were if all was right.
    """

    value: float
    chance: float
    p_chance: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p_best: float = 0.0


@dataclass(frozen=True)
class Loss:
    """Points lost under a condition, with their interval.

    `p_value` is that of "nothing is lost". `p_costs` and `p_spared` are of the two one-sided nulls
    about the margin: that no more than the margin is lost, and that no less is. `worst` is the type
    of question in which most is lost, where that surely is more than the margin, with its loss:
    what one type loses another may win. `small` is the type in which most is surely lost, be it
    less than the margin: a small loss in one type is nearly nothing of all.
    """

    rate: float
    lost: float
    p_value: float
    p_costs: float
    p_spared: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    worst: "tuple[str, Loss] | None" = None
    small: "tuple[str, Loss] | None" = None

    def with_worst(self, types: "Mapping[str, Loss]", level: float) -> "Loss":
        """With its `worst` and `small` type; p-values are corrected for the number of types."""
        # Bonferroni: any one type alone can turn the verdict, so no share of them may be false.
        corrected = [
            (
                name,
                replace(
                    loss,
                    p_value=min(1.0, loss.p_value * len(types)),
                    p_costs=min(1.0, loss.p_costs * len(types)),
                ),
            )
            for name, loss in types.items()
        ]
        costs = [pair for pair in corrected if pair[1].p_costs <= level]
        sure = [pair for pair in corrected if pair[1].p_value <= level and pair[1].lost > 0]
        return replace(
            self,
            worst=max(costs, key=_lost_of, default=None),
            small=max(sure, key=_lost_of, default=None),
        )


def _lost_of(named: tuple[str, Loss]) -> float:
    return named[1].lost


@dataclass(frozen=True)
class Part:
    """The questions of those types in which the video surely matters: others say nothing of it.

    `n` of `total` questions; rate and losses are theirs.
    """

    types: tuple[str, ...]
    n: int
    total: int
    rate: Rate
    losses: Mapping[str, Loss]


@dataclass(frozen=True)
class Rule:
    """From when a loss counts, and how surely: the options of the method (docs/quag.md)."""

    share: float = 0.1
    drop: float = 2.0
    confidence: float = 0.95
    resamples: int = 2000

    @property
    def level(self) -> float:
        """Of each one-sided test of the verdict: what lies beyond one end of an interval."""
        return (1 - self.confidence) / 2

    def margin(self, rate: Rate) -> float:
        """The points that count for the verdict: a share of what is above chance, or `drop`."""
        return max(self.drop, self.share * (rate.value - rate.chance))


def compare(
    before: Bool[np.ndarray, " sample"],
    after: Bool[np.ndarray, "sample condition"],
    measure: Measure,
    videos: Groups,
    rng: np.random.Generator,
    rule: Rule,
    given: Codes | None = None,
) -> tuple[Rate, list[Loss]]:
    """The plain rate, and the loss under each condition, paired by sample.

    All intervals and tests are of whole videos. Chance is tested by `guessing_p_values` too, with
    the answers `given` by number.
    """
    value, *values = rates(np.column_stack([before, after]), measure.stratum).tolist()
    weighted = Weighted.of(measure.stratum, videos)
    rate = _rate(before, measure, weighted, rng, rule, given, value)
    losses = []
    for column, changed in enumerate(values):
        # Paired: what a sample's answers before and after share cancels out.
        change = before.astype(float) - after[:, column]
        # Rounded, so that rounding alone never lifts a loss above the drop of a finding.
        lost = round(value - changed, 9)
        low, high = weighted.change_ends(change, rule.confidence)
        p_value = stratified_p_value(change, measure.stratum, videos, rng)
        margins = MarginTest(weighted, before, change, rule, rate)
        costs = max(p_value, margins.p_costs())
        losses.append(
            Loss(changed, lost, p_value, costs, margins.p_spared(), low, high, len(before))
        )
    return rate, losses


def smallest_loss(questions: float, level: float, power: float = 0.8) -> float | None:
    """Points that a condition must cost, winning nothing, to be significant with this power.

    McNemar's test of m lost answers and none won has p = 2 / 2**m, and how many of the questions
    are lost is binomial. None where even all lost would not do.
    """
    needed = int(np.ceil(1 - np.log2(level)))
    if questions < needed:
        return None
    return 100 * float(special.betaincinv(needed, questions - needed + 1, power))


def rates(right: Bool[np.ndarray, "sample column"], stratum: Codes) -> Float[np.ndarray, " column"]:
    """Mean over strata of the share that is right, in percent."""
    means = [right[stratum == value].mean(axis=0) for value in np.unique(stratum)]
    return np.asarray(100 * np.mean(means, axis=0))


def _rate(
    before: Bool[np.ndarray, " sample"],
    measure: Measure,
    weighted: "Weighted",
    rng: np.random.Generator,
    rule: Rule,
    given: Codes | None,
    value: float,
) -> Rate:
    """The plain rate, its interval, and the tests against chance."""
    guessing, best = guessing_p_values(before, given, measure, rng, rule.resamples)
    # Above chance in the measure itself, too: questions about a video stand or fall together, and
    # answers may know something of what is right and still be right less often than a guess.
    guessing = max(guessing, weighted.p_above(before.astype(float), measure.chance))
    best = max(best, (measure.chance / 100) ** weighted.videos.count)
    low, high = weighted.mean_ends(before.astype(float), rule.confidence)
    return Rate(value, measure.chance, guessing, low, high, len(before), best)


# ------------------------------------------------------------------- intervals of whole videos


@dataclass(frozen=True, eq=False)
class Weighted:
    """Means over strata as means over samples: a sample weighs the more the fewer its stratum has.

    `weight` has the mean 1 and the largest value `most`.
    """

    weight: Float[np.ndarray, " sample"]
    most: float
    videos: Groups

    @classmethod
    def of(cls, stratum: Codes, videos: Groups) -> "Weighted":
        """Equal weight to each stratum, which are numbered from 0."""
        counts = np.bincount(stratum)
        weight = len(stratum) / (np.count_nonzero(counts) * counts[stratum])
        return cls(np.asarray(weight, dtype=float), float(weight.max()), videos)

    def mean_ends(
        self, values: Float[np.ndarray, " sample"], confidence: float
    ) -> tuple[float, float]:
        """Interval of the mean of values from 0 to 1, in percent."""
        ends = mean_interval(values * self.weight / self.most, self.videos, confidence=confidence)
        low, high = (100 * self.most * float(end or 0.0) for end in ends)
        return low, min(high, 100.0)

    def change_ends(
        self, change: Float[np.ndarray, " sample"], confidence: float
    ) -> tuple[float, float]:
        """Interval of the mean of changes from -1 to 1, in points."""
        ends = change_interval(change * self.weight / self.most, self.videos, confidence=confidence)
        low, high = (100 * self.most * float(end or 0.0) for end in ends)
        return max(low, -100.0), min(high, 100.0)

    def correlation(
        self, first: Float[np.ndarray, " sample"], second: Float[np.ndarray, " sample"]
    ) -> float:
        """Of two means over the same videos; 0 where one of them does not vary."""
        parts = [value * self.weight for value in (first, second)]
        sums = [self.videos.sums(part - part.mean()) for part in parts]
        scale = float(np.sqrt((sums[0] ** 2).sum() * (sums[1] ** 2).sum()))
        return float((sums[0] * sums[1]).sum()) / scale if scale > 0 else 0.0

    def p_above(self, values: Float[np.ndarray, " sample"], threshold: float) -> float:
        """One-sided p-value that a mean, in percent, is above a threshold."""
        return _p_of_ends(lambda level: self.mean_ends(values, level)[0] > threshold)


@dataclass(frozen=True, eq=False)
class MarginTest:
    """Whether a loss is surely above the margin, or surely below it.

    The margin is a share of the measured accuracy above chance, and so has an error of its own,
    which goes with that of the loss: the two intervals are combined (MOVER: Zou and Donner, 2008),
    with the correlation of loss and accuracy. Below `drop` points the margin is `drop`, a number.
    """

    weighted: Weighted
    before: Bool[np.ndarray, " sample"]
    change: Float[np.ndarray, " sample"]
    rule: Rule
    rate: Rate

    def p_costs(self) -> float:
        """Of the null that the loss is at most the margin: above both of its parts."""

        def above(confidence: float) -> bool:
            low, _, relative, _ = self._ends(confidence)
            return low > self.rule.drop and relative > 0

        return self._p_of_ends(above)

    def p_spared(self) -> float:
        """Of the null that the loss is at least the margin: below the part that makes it."""
        own = self.rule.share * (self.rate.value - self.rate.chance) > self.rule.drop

        def below(confidence: float) -> bool:
            _, high, _, relative = self._ends(confidence)
            return relative < 0 if own else high < self.rule.drop

        return self._p_of_ends(below)

    def _p_of_ends(self, holds: Callable[[float], bool]) -> float:
        factor = 1.0 if self.weighted.videos.all_single else CAUTION
        return min(1.0, factor * _p_of_ends(holds))

    def _ends(self, confidence: float) -> tuple[float, float, float, float]:
        """Interval of the loss, and of the loss less the share of the accuracy above chance."""
        share, right = self.rule.share, self.before.astype(float)
        low, high = self.weighted.change_ends(self.change, confidence)
        least, most = self.weighted.mean_ends(right, confidence)
        lost, value = 100 * float((self.change * self.weighted.weight).mean()), self.rate.value
        together = self.weighted.correlation(self.change, right)
        centre = lost - share * (value - self.rate.chance)

        def reach(of_loss: float, of_rate: float) -> float:
            square = of_loss**2 - 2 * together * of_loss * of_rate + of_rate**2
            return float(np.sqrt(max(square, 0.0)))

        relative_low = centre - reach(lost - low, share * (most - value))
        relative_high = centre + reach(high - lost, share * (value - least))
        return low, high, relative_low, relative_high


def _p_of_ends(holds: Callable[[float], bool]) -> float:
    """The smallest one-sided level whose interval still shows it; 1 where that of 0.25 does not.

    `holds` says whether an interval of this confidence lies on one side of what is tested.
    """
    if not holds(CONFIDENT[0]):
        return 1.0
    low, high = 0, len(CONFIDENT)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(CONFIDENT[middle]) else (low, middle)
    return float((1 - CONFIDENT[low]) / 2)


# ------------------------------------------------------------------------------ exact tests


def stratified_p_value(
    change: Float[np.ndarray, " sample"], stratum: Codes, videos: Groups, rng: np.random.Generator
) -> float:
    """Of one stratum; of several the smallest, times their number (Bonferroni).

    Whole videos change sides; of one question a video this is the exact test of McNemar. In
    balanced accuracy one answer can lose what another wins, which one test of all would not see.
    """
    parts = [stratum == value for value in np.unique(stratum)]
    tests = [change_p_value(change[part], videos.take(part), rng) for part in parts]
    return min(1.0, len(parts) * min(tests))


def guessing_p_values(
    before: Bool[np.ndarray, " sample"],
    given: Codes | None,
    measure: Measure,
    rng: np.random.Generator,
    resamples: int,
) -> tuple[float, float]:
    """One-sided p-values of "the answers know nothing of what is right": ours, and the best.

    Where all questions share their answers, of the measure itself among all orders of the right
    ones, so that it holds however often each answer is given; else the binomial test against
    the measure's chance. The second is what the test gives where all is right: above the level
    there are too few samples to tell.
    """
    count = len(before)
    if measure.label is None or given is None:
        chance = measure.chance / 100
        return exceeds_rate_p_value(int(before.sum()), count, chance), chance**count
    label = measure.label
    if max(label.max(), given.max()) <= 1:
        # Fisher's test: with the overlap rises every mean of the two recalls, so it is exact for
        # accuracy and for balanced accuracy.
        return overlap_p_value(label == 1, given == 1), overlap_p_value(label == 1, label == 1)
    # Each right answer weighs as much as in the measure, less the constant number of strata.
    weight = 1 / np.bincount(measure.stratum)[measure.stratum]
    ours, best = (_weigh(answers, label, weight) for answers in (given, label))
    orders = [rng.permutation(count) for _ in range(resamples)]  # the same for ours and the best
    return permutation_p_value(ours, orders), permutation_p_value(best, orders)


def _weigh(
    given: Codes, label: Codes, weight: Float[np.ndarray, " sample"]
) -> Callable[[Codes], float]:
    """The measure, but for a constant, after the right answers have changed places."""
    return lambda order: float(weight[order][given == label[order]].sum())
