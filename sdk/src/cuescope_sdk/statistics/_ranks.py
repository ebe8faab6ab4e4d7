"""Order of numbers, whatever their scale: the receiver operating characteristic."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped
from scipy import stats

from cuescope_sdk.statistics._groups import level_indices
from cuescope_sdk.statistics._shapes import BoolPerItem, PerItem

EXACT = 20_000  # pairs: of more it takes long, and is nearly normal


@dataclass(frozen=True, eq=False)
class Roc:
    """How well scores tell positives from others."""

    scores: PerItem
    positive: BoolPerItem

    @classmethod
    def of(cls, positives: PerItem, others: Float[np.ndarray, " other_item"]) -> "Roc":
        """Build it of the scores of both sides."""
        scores = np.concatenate([positives, others])
        return cls(scores, np.arange(len(scores)) < len(positives))

    def auroc(self, strata: Shaped[np.ndarray, " item"] | None = None) -> float | None:
        """The chance that a positive scores higher than another one (Mann and Whitney, 1947).

        Equal scores count half. None where all are positive, or none is. Within `strata` each is
        weighted by its smaller side (covariate-adjusted: Pepe, 2003); where no stratum has both
        sides, all items are compared.
        """
        if strata is not None:
            values = []
            sizes = []
            for inside in level_indices(strata):
                value = Roc(self.scores[inside], self.positive[inside]).auroc()
                if value is not None:
                    positives = int(self.positive[inside].sum())
                    values.append(value)
                    sizes.append(min(positives, len(inside) - positives))
            if values:
                return float(np.average(values, weights=sizes))
        positives = int(self.positive.sum())
        others = int((~self.positive).sum())
        if not positives or not others:
            return None
        ranks = stats.rankdata(self.scores)
        # less what the ranks of the positives among themselves add up to
        wins = ranks[self.positive].sum() - positives * (positives + 1) / 2
        return float(wins / (positives * others))

    @staticmethod
    def null_error(positives: int, others: int) -> float:
        """Standard error of an AUROC of scores that tell nothing (Mann and Whitney, 1947).

        >>> Roc.null_error(40, 40)
        0.0649...
        """
        return float(np.sqrt((positives + others + 1) / (12 * positives * others)))

    @staticmethod
    def least_beyond(p_value: float, positives: int, others: int) -> float:
        """The least AUROC that scores which tell nothing reach no more often than this.

        Of few it is less than as many standard errors say, for none is above 1; infinite where no
        AUROC is so rare.

        >>> round(Roc.least_beyond(3.2e-5, 7, 57), 3), round(Roc.least_beyond(0.5, 40, 40), 3)
        (0.917, 0.501)
        """
        most = positives * others
        if most > EXACT:
            error = Roc.null_error(positives, others)
            return float(0.5 + stats.norm.isf(p_value) * error)
        pairs = range(most // 2, most + 1)

        def is_beyond(won: int) -> bool:
            # positives that win so many pairs, each about as many
            each, more = divmod(won, positives)
            scores = each + 0.5 + (np.arange(positives) < more)
            test = stats.mannwhitneyu(
                scores, np.arange(others) + 1, alternative="greater", method="exact"
            )
            return bool(test.pvalue <= p_value)

        least = bisect_left(pairs, True, key=is_beyond)
        return pairs[least] / most if least < len(pairs) else float("inf")

    def p_value(self) -> float:
        """One-sided p-value that positives score higher (Mann and Whitney, 1947).

        Raises ValueError where all are positive, or none is.
        """
        first = self.scores[self.positive]
        second = self.scores[~self.positive]
        if not len(first) or not len(second):
            raise ValueError(
                f"expected numbers on both sides, got {len(first)} and {len(second)}"
            )
        return float(stats.mannwhitneyu(first, second, alternative="greater").pvalue)

    def youden_cut(self) -> float:
        """The score that tells both sides apart best: the largest sum of both rates.

        Youden, 1950.
        """
        values = np.unique(self.scores)
        between = (values[:-1] + values[1:]) / 2
        cuts = np.append(between, values[-1])
        above = self.scores >= cuts[:, None]
        right = above[:, self.positive].mean(axis=1)
        wrong = above[:, ~self.positive].mean(axis=1)
        return float(cuts[np.argmax(right - wrong)])
