"""What a condition costs: paired losses of accuracy with their intervals and tests.

All rates and losses are percent and percentage points.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.stats import binomtest

from cuescope_quag.answers import Measure
from cuescope_quag.guessing import p_guessed

CHUNK = 4_000_000


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

    `p_value` is McNemar's. `p_costs` and `p_spared` are of the two one-sided nulls about the
    margin: that no more than the margin is lost, and that no less is. `worst` is the type of
    question in which most is lost, where that surely is more than the margin, with its loss:
    what one type loses another may win.
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

    def among(self, types: "Mapping[str, Loss]", level: float) -> "Loss":
        """With its `worst` type; the p-values of all types are corrected for their number."""
        corrected = {
            name: replace(loss, p_costs=min(1.0, loss.p_costs * len(types)))
            for name, loss in types.items()
        }
        costs = [(name, loss) for name, loss in corrected.items() if loss.p_costs <= level]
        return replace(self, worst=max(costs, key=lambda pair: pair[1].lost, default=None))


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

    def interval(self, draws: Float[np.ndarray, " resample"], value: float) -> tuple[float, float]:
        """Percentiles of the draws, `value` among them."""
        low, high = np.quantile(draws, (self.level, 1 - self.level)).tolist()
        return min(low, value), max(high, value)


def mcnemar(before: Bool[np.ndarray, " sample"], after: Bool[np.ndarray, " sample"]) -> float:
    """Exact two-sided p-value that answers go wrong as often as right (McNemar, 1947)."""
    lost, won = int((before & ~after).sum()), int((~before & after).sum())
    return float(binomtest(lost, lost + won, 0.5).pvalue) if lost + won else 1.0


def stratified_mcnemar(
    before: Bool[np.ndarray, " sample"],
    after: Bool[np.ndarray, " sample"],
    stratum: Int[np.ndarray, " sample"],
) -> float:
    """McNemar's p-value of one stratum; of several the smallest, times their number (Bonferroni).

    In balanced accuracy one answer can lose what another wins, which one test of all would not see.
    """
    kept = [stratum == value for value in np.unique(stratum)]
    return min(1.0, len(kept) * min(mcnemar(before[part], after[part]) for part in kept))


def rates(
    right: Bool[np.ndarray, "sample column"], stratum: Int[np.ndarray, " sample"]
) -> Float[np.ndarray, " column"]:
    """Mean over strata of the share that is right, in percent."""
    means = [right[stratum == value].mean(axis=0) for value in np.unique(stratum)]
    return np.asarray(100 * np.mean(means, axis=0))


def drawn_rates(
    right: Bool[np.ndarray, "sample column"],
    stratum: Int[np.ndarray, " sample"],
    cluster: Int[np.ndarray, " sample"],
    rng: np.random.Generator,
    resamples: int,
) -> Float[np.ndarray, "resample column"]:
    """`rates` of bootstrap draws of whole clusters; a stratum that was not drawn is left out."""
    _, place = np.unique(cluster, return_inverse=True)
    columns = [
        _drawn(right[stratum == value], place[stratum == value], int(place.max()) + 1)
        for value in np.unique(stratum)
    ]
    draws = []
    for times in _draws(int(place.max()) + 1, rng, resamples):
        sums = [times @ counted for counted in columns]
        with np.errstate(invalid="ignore"):
            shares = np.stack([100 * one[:, 1:] / one[:, :1] for one in sums])
        draws.append(np.nanmean(shares, axis=0))
    return np.concatenate(draws)


def _drawn(right: np.ndarray, place: np.ndarray, count: int) -> Float[np.ndarray, "cluster n"]:
    """For each cluster how many samples it has, then how many are right in each column."""
    counted = np.zeros((count, 1 + right.shape[1]))
    np.add.at(counted, place, np.column_stack([np.ones(len(right)), right]))
    return counted


def _draws(
    count: int, rng: np.random.Generator, resamples: int
) -> Iterator[Float[np.ndarray, "resample cluster"]]:
    """How often each cluster is drawn, within CHUNK numbers at a time."""
    step = max(1, CHUNK // count)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        yield rng.multinomial(count, np.full(count, 1 / count), size=size).astype(np.float64)


def compared(
    before: Bool[np.ndarray, " sample"],
    after: Bool[np.ndarray, "sample condition"],
    measure: Measure,
    cluster: Int[np.ndarray, " sample"],
    rng: np.random.Generator,
    rule: Rule,
    given: Int[np.ndarray, " sample"] | None = None,
) -> tuple[Rate, list[Loss]]:
    """The plain rate, and the loss under each condition, paired by sample.

    The bootstrap draws whole videos. It cannot show what was never seen, so beside it stand exact
    tests: McNemar's for a loss, `p_guessed` for chance, with the answers `given` by number, and
    where nothing is lost the probability that none of so many videos shows a loss at the margin.
    """
    right, chance = np.column_stack([before, after]), measure.chance
    value, *values = rates(right, measure.stratum).tolist()
    drawn = drawn_rates(right, measure.stratum, cluster, rng, rule.resamples)
    low, high = rule.interval(drawn[:, 0], value)
    guessed, best = p_guessed(before, given, measure, rng, rule.resamples)
    p_chance = max(guessed, _share(drawn[:, 0] <= chance))
    rate = Rate(value, chance, p_chance, low, high, len(before), best)
    margin = rule.margin(rate)
    unseen = (1 - min(margin, 100) / 100) ** len(np.unique(cluster))
    some_lost = (before[:, None] & ~after).any(axis=0)
    losses = []
    for place, changed in enumerate(values):
        draws, lost = drawn[:, 0] - drawn[:, 1 + place], round(value - changed, 9)
        low, high = rule.interval(draws, lost)
        p_value = stratified_mcnemar(before, after[:, place], measure.stratum)
        costs = max(p_value, _share(draws <= margin))
        spared = max(0.0 if some_lost[place] else unseen, _share(draws >= margin))
        losses.append(Loss(changed, lost, p_value, costs, spared, low, high, len(before)))
    return rate, losses


def _share(against: Bool[np.ndarray, " resample"]) -> float:
    """Of the draws, the sample itself among them (Davison and Hinkley, 1997, eq. 4.11)."""
    return (1 + int(against.sum())) / (1 + len(against))
