"""What an audit can find: power, and the limit of detection in its own answers."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import optimize, special, stats

from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._permutation import _Orders
from cuescope_sdk.statistics._shapes import IntPerSample, PerSample

CELLS = 20_000  # of a table of two binomials; larger ones are taken as normal
RARE = 1e-7  # what is less likely is left out
PLANTED = 200  # draws of where a cue could be
PERMUTED = 400  # draws of the null, for its spread alone
BISECTIONS = 7  # to less than a point


def gap_power(
    drop: float,
    n_with: float,
    n_without: float,
    rate: float,
    threshold: float,
    *,
    design_effect: float = 1.0,
) -> float:
    """Chance that accuracy `rate` without a cue and `rate - drop` with it gives p <= `threshold`.

    The test is Fisher's, one-sided; samples in groups count as fewer, by the design effect.
    """
    many = max(round(n_without / design_effect), 1)
    some = max(round(n_with / design_effect), 1)
    right_without, chance_without = _likely(many, rate)
    right_with, chance_with = _likely(some, rate - drop)
    if len(right_without) * len(right_with) > CELLS:
        # under the null both sides have one rate
        pooled = (rate * many + (rate - drop) * some) / (many + some)
        shares = 1 / many + 1 / some
        null = np.sqrt(pooled * (1 - pooled) * shares)
        spread = np.sqrt(_gap_variance(drop, some, many, rate))
        # half a step more: the exact test counts whole answers (continuity correction)
        needed = stats.norm.isf(threshold) * null + shares / 2
        # with all right or all wrong there is no spread
        return float(stats.norm.cdf((drop - needed) / max(spread, 1e-12)))
    # of each count without, how many counts with are found: p grows with them, so by bisection
    low = np.zeros_like(right_without)
    high = np.full_like(right_without, len(right_with))
    while (left := low < high).any():
        middle = (low + high) // 2
        right = right_with[np.minimum(middle, len(right_with) - 1)]
        passes = (
            stats.hypergeom.cdf(right, many + some, right_without + right, some)
            <= threshold
        )
        low = np.where(left & passes, middle + 1, low)
        high = np.where(left & ~passes, middle, high)
    # low is 0 where not even the lowest count is found
    chance_of_fewer = np.concatenate([[0.0], np.cumsum(chance_with)])
    return float(chance_without @ chance_of_fewer[low])


def _gap_variance(drop: float, n_with: float, n_without: float, rate: float) -> float:
    """Of accuracy `rate` without a cue minus accuracy `rate - drop` with it."""
    return rate * (1 - rate) / n_without + (rate - drop) * (1 - rate + drop) / n_with


def _likely(
    n: int, rate: float
) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """The counts of a binomial that are not too rare, and their probabilities."""
    chances = stats.binom.pmf(np.arange(n + 1), n, rate)
    likely = np.flatnonzero(chances > RARE)
    return likely, chances[likely]


def smallest_gap(
    n_with: float,
    n_without: float,
    rate: float,
    threshold: float,
    *,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> float | None:
    """The smallest drop of accuracy found with `power`; None where none is that large."""

    def power_of(drop: float) -> float:
        return gap_power(
            drop, n_with, n_without, rate, threshold, design_effect=design_effect
        )

    return smallest_with_power(power_of, rate, power=power) if rate > 0 else None


def smallest_with_power(
    power_of: Callable[[float], float], largest: float, *, power: float = 0.8
) -> float | None:
    """The smallest effect up to `largest` that is found with `power`; None where none is.

    To a thousandth, by root finding (Brent, 1973): `power_of` rises with the effect.
    """

    def lacking(effect: float) -> float:
        return power_of(effect) - power

    # brentq needs ends on both sides of the root
    if lacking(largest) < 0:
        return None
    return float(optimize.brentq(lacking, 0.0, largest, xtol=1e-3))


def exceeds_power(
    drop: float, n_with: float, n_without: float, rate: float, least: float
) -> float:
    """Chance that a drop of accuracy, as measured, is above `least`.

    Accuracy is `rate` without a cue and `rate - drop` with it; their difference is taken as normal.
    """
    spread = np.sqrt(_gap_variance(drop, n_with, n_without, rate))
    return float(stats.norm.cdf((drop - least) / max(spread, 1e-9)))


def split_quantiles(
    total: int, marked: int, drawn: int, shares: Sequence[float]
) -> list[float]:
    """Quantiles of how many of the marked are among those drawn (hypergeometric)."""
    return list(stats.hypergeom(total, marked, drawn).ppf(shares).tolist())


def smallest_flip_share(
    count: float, level: float, *, power: float = 0.8
) -> float | None:
    """The share of answers that must be lost, winning none, to be significant with this power.

    McNemar's test (1947) of m lost answers and none won has p = 2 / 2**m, and how many of them are
    lost is binomial (Clopper and Pearson, 1934). None where even all lost would not do.
    """
    needed = int(np.ceil(1 - np.log2(level)))
    if count < needed:
        return None
    return float(special.betaincinv(needed, count - needed + 1, power))


def samples_for_change(effect: float, threshold: float, *, power: float = 0.8) -> int:
    """How many samples show a mean change of `effect` at a one-sided level with this power.

    By the normal approximation (Cohen, 1988), reckoned with answers that either change wholly or
    not at all, which vary most. `effect` lies above 0, up to 1.
    """
    reach = float(stats.norm.isf(threshold) + stats.norm.isf(1 - power))
    variance = effect * (1 - effect)
    return int(np.ceil(reach**2 * variance / effect**2)) + 1


def limit_of_detection(
    values: PerSample,
    groups: Groups,
    strata: IntPerSample,
    rng: np.random.Generator,
    *,
    share: float,
    threshold: float,
    power: float = 0.8,
) -> float | None:
    """The smallest drop of accuracy found with `power`, had a cue been in these very answers.

    A cue is planted in a random `share` of the groups of a random stratum, and makes so many of
    their right answers wrong that accuracy falls by the drop. The test is that of `gap_p_values`
    within the stratum, its null taken as normal. `threshold` is the p-value that a finding needs.
    None where even a cue that makes all of them wrong would be missed too often.
    """
    members = level_indices(strata)
    parts = [
        _Stratum(values[samples], groups.take(samples), rng) for samples in members
    ]
    needed = float(stats.norm.isf(threshold))
    planted = rng.choice(len(parts), PLANTED)
    limits = [parts[index].smallest_drop(share, needed, rng) for index in planted]
    return detectable(limits, power)


def detectable(limits: Sequence[float], power: float = 0.8) -> float | None:
    """The effect found in a share `power` of draws, each found from its own limit on; or None."""
    # limits may be infinite, and nothing lies between them and the next
    limit = float(np.quantile(limits, power, method="higher"))
    return None if np.isinf(limit) else limit


def smallest_effect(is_found: Callable[[float], bool], largest: float = 1.0) -> float:
    """The smallest effect that is found, up to `largest`, by bisection; infinite where none is."""
    if not is_found(largest):
        return float("inf")
    low = 0.0
    high = largest
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if is_found(middle):
            high = middle
        else:
            low = middle
    return high


class _Stratum:
    """The answers of one stratum, with the permutations under which a cue's drop is judged."""

    def __init__(
        self, values: PerSample, groups: Groups, rng: np.random.Generator
    ) -> None:
        self._values = np.asarray(values, dtype=float)
        self._groups = groups
        one_stratum = np.zeros(groups.count, dtype=int)
        # drawn once: the null's spread is judged by the same orders for every planted cue
        self._orders = _Orders(groups, one_stratum).draw(PERMUTED, rng)

    def smallest_drop(
        self, share: float, needed: float, rng: np.random.Generator
    ) -> float:
        """The smallest drop that this draw of a cue needs; infinite where none suffices."""
        groups = self._groups
        values = self._values
        count = max(round(share * groups.count), 1)
        chosen = rng.permutation(groups.count) < count
        present = chosen[groups.codes]
        accuracy = float(values[present].mean())
        # nothing without the cue to compare with, or no right answer to spoil
        if present.all() or accuracy <= 0:
            return float("inf")
        centred = present - present.mean()
        # one draw for all drops: a larger one spoils the same answers and more
        luck = rng.random(len(values))

        def is_found(drop: float) -> bool:
            answers = np.where(present & (luck < drop / accuracy), 0.0, values)
            draws = answers[self._orders] @ centred
            spread = float(draws.std())
            distance = float(draws.mean() - answers @ centred)
            return spread > 0 and distance / spread >= needed

        return smallest_effect(is_found, accuracy)
