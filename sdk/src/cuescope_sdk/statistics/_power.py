"""Power of an audit, and the limit of detection in its own answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator
from scipy import optimize, special, stats

from cuescope_sdk.statistics._estimate import STORED
from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._permutation import GroupOrders
from cuescope_sdk.statistics._shapes import IntPerSample, PerSample

POWER = 0.8  # what is called found: in so many of such audits (Cohen, 1988)
CELLS = 20_000  # of a table of two binomials; larger ones are taken as normal
RARE = 1e-7  # what is less likely is left out
PLANTED = 200  # draws of where a cue could be
PERMUTED = 400  # draws of the null, for its spread alone
BISECTIONS = 7  # to less than a point


@dataclass(frozen=True)
class GapPlan:
    """An audit of `n_with` samples with a cue and `n_without`, whose accuracy is the `rate`.

    What a cue costs is the drop of accuracy that it makes. Samples in groups count as fewer.
    """

    n_with: float
    n_without: float
    rate: float

    def power(self, drop: float, threshold: float) -> float:
        """Chance that a drop gives p <= `threshold` in Fisher's test, one-sided."""
        many = max(round(self.n_without), 1)
        some = max(round(self.n_with), 1)
        rate = self.rate
        right_without, chance_without = _likely(many, rate)
        right_with, chance_with = _likely(some, rate - drop)
        if len(right_without) * len(right_with) > CELLS:
            # under the null both sides have one rate
            pooled = (rate * many + (rate - drop) * some) / (many + some)
            shares = 1 / many + 1 / some
            null = np.sqrt(pooled * (1 - pooled) * shares)
            spread = GapPlan(some, many, rate)._spread(drop)
            # half a step more: the exact test counts whole answers (continuity correction)
            needed = stats.norm.isf(threshold) * null + shares / 2
            # with all right or all wrong there is no spread
            return float(stats.norm.cdf((drop - needed) / max(spread, 1e-12)))
        # of each count without, how many counts with are found: p grows with them: by bisection
        low = np.zeros_like(right_without)
        high = np.full_like(right_without, len(right_with))
        while (left := low < high).any():
            middle = (low + high) // 2
            right = right_with[np.minimum(middle, len(right_with) - 1)]
            p_value = stats.hypergeom.cdf(
                right, many + some, right_without + right, some
            )
            passes = p_value <= threshold
            low = np.where(left & passes, middle + 1, low)
            high = np.where(left & ~passes, middle, high)
        # low is 0 where not even the lowest count is found
        chance_of_fewer = np.concatenate([[0.0], np.cumsum(chance_with)])
        return float(chance_without @ chance_of_fewer[low])

    def smallest_drop(self, threshold: float) -> float | None:
        """The smallest drop that Fisher's test finds in 8 of 10 audits; None where none is."""
        return self.smallest(partial(self.power, threshold=threshold))

    def smallest(self, power_of: Callable[[float], float]) -> float | None:
        """The smallest drop with a power of 80%; None where none has it.

        To a thousandth, by root finding (Brent, 1973): `power_of` rises with the drop.
        """

        def lacking(drop: float) -> float:
            return power_of(drop) - POWER

        # brentq needs ends on both sides of the root
        if self.rate <= 0 or lacking(self.rate) < 0:
            return None
        return float(optimize.brentq(lacking, 0.0, self.rate, xtol=1e-3))

    def _spread(self, drop: float) -> float:
        """Standard deviation of accuracy without the cue minus that with it."""
        lower = self.rate - drop
        without = self.rate * (1 - self.rate) / self.n_without
        return float(np.sqrt(without + lower * (1 - self.rate + drop) / self.n_with))


def _likely(
    n: int, rate: float
) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """The counts of a binomial that are not too rare, and their probabilities."""
    chances = stats.binom.pmf(np.arange(n + 1), n, rate)
    likely = np.flatnonzero(chances > RARE)
    return likely, chances[likely]


@dataclass(frozen=True)
class ChangePlan:
    """An audit of paired changes, whose test asks for a p-value of the `level`."""

    level: float

    def smallest_loss(self, count: float) -> float | None:
        """The share of lost answers, none won, that is significant in 8 of 10 audits.

        McNemar's test (1947) of m lost answers and none won has p = 2 / 2**m, and how many of them
        are lost is binomial (Clopper and Pearson, 1934). None where even all lost would not do.
        """
        needed = int(np.ceil(1 - np.log2(self.level)))
        if count < needed:
            return None
        return float(special.betaincinv(needed, count - needed + 1, POWER))


class DetectionLimit:
    """The smallest effect that would be found, by what is known of the test."""

    @staticmethod
    def beyond(critical: float, error: float) -> float:
        """Effect above a critical value in 8 of 10 audits, with this standard error."""
        return critical + float(stats.norm.ppf(POWER)) * error

    @staticmethod
    def of_intervals(
        half_widths: Sequence[float],
        error: float,
        power: float,
    ) -> float | None:
        """The effect that half of the tests find with this power; None without a test.

        `half_widths` are those of intervals of 95%, of means taken as normal. A test is
        one-sided, at `error` over the number of tests.
        """
        if not half_widths:
            return None
        spread = float(np.median(half_widths)) / stats.norm.isf((1 - STORED) / 2)
        needed = stats.norm.isf(error / len(half_widths)) + stats.norm.ppf(power)
        return float(spread * needed)

    @staticmethod
    def of_draws(limits: Sequence[float]) -> float | None:
        """Effect that 8 of 10 draws find, each from its own limit on; None for no such effect."""
        # limits may be infinite, and nothing lies between them and the next
        limit = float(np.quantile(limits, POWER, method="higher"))
        return None if np.isinf(limit) else limit

    @staticmethod
    def bisect(is_found: Callable[[float], bool], largest: float = 1.0) -> float:
        """The smallest that is found, up to `largest`, by bisection; infinite where none is."""
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

    @staticmethod
    def of_gap(
        values: PerSample,
        groups: Groups,
        strata: IntPerSample,
        rng: Generator,
        *,
        share: float,
        threshold: float,
    ) -> float | None:
        """The smallest drop of accuracy found in 8 of 10 audits, of a cue in these very answers.

        A cue is planted in a random `share` of the groups of a random stratum, and makes so many of
        their right answers wrong that accuracy falls by the drop. The test is that of
        `gap_p_values` within the stratum, its null taken as normal. `threshold` is the p-value that
        a finding needs. None where even a cue that makes all of them wrong would be missed too
        often.
        """
        members = level_indices(strata)
        parts = [
            _Stratum(values[samples], groups.take(samples), rng) for samples in members
        ]
        needed = float(stats.norm.isf(threshold))
        planted = rng.choice(len(parts), PLANTED)
        limits = [parts[index].smallest_drop(share, needed, rng) for index in planted]
        return DetectionLimit.of_draws(limits)


class _Stratum:
    """The answers of one stratum, with the permutations under which a cue's drop is judged."""

    def __init__(self, values: PerSample, groups: Groups, rng: Generator) -> None:
        self._values = np.asarray(values, dtype=float)
        self._groups = groups
        # drawn once: the null's spread is judged by the same orders for every planted cue
        self._orders = GroupOrders(groups).draw(PERMUTED, rng)

    def smallest_drop(self, share: float, needed: float, rng: Generator) -> float:
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

        return DetectionLimit.bisect(is_found, accuracy)
