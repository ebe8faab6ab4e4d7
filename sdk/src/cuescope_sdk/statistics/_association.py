"""Which features go with which values: all pairs tested at once, by permuting whole groups."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._permutation import step_down_max
from cuescope_sdk.statistics._resampling import RESAMPLES, TIE
from cuescope_sdk.statistics._shapes import (
    DrawByCell,
    FeatureByColumn,
    GroupByColumn,
    IntPerGroup,
)

StratumByColumn = Float[np.ndarray, "stratum column"]
MOST_NUMBERS = 20_000_000  # of all draws together, in memory
STRAIGHT = 1e-3  # skewness from which on it is taken into account
STEEPEST = 5.0  # and up to which


@dataclass(frozen=True, eq=False)
class AssociationTests:
    """p-value of each (feature, column), NaN where nothing could be tested.

    `q_value` is corrected for all of them.
    """

    p_value: FeatureByColumn
    q_value: FeatureByColumn


@dataclass(frozen=True, eq=False)
class GroupedFeatures:
    """Which samples have which features, and the stratum in which each group changes places."""

    present: Shaped[np.ndarray, "sample feature"]
    stratum: IntPerGroup
    groups: Groups

    def shares(self) -> Float[np.ndarray, "group feature"]:
        """The share of each group's samples that have a feature, less its mean in the stratum."""
        return _centre(self.groups.means(self.present), self.stratum)

    def tests(
        self,
        values: Float[np.ndarray, "sample column"],
        rng: np.random.Generator,
        *,
        draws: int = RESAMPLES,
        fewest: int = 3,
    ) -> AssociationTests:
        """Test that values are higher where a feature is present, one-sided, for each pair.

        Null: within a stratum, the features of a group could have been any other group's. Whole
        groups change places. A draw's statistic is the sum over groups of their mean value times
        the share of their samples that have the feature, less its mean in the stratum. All pairs
        are corrected together by the largest of each draw (Westfall and Young, 1993), on a scale
        that takes account of how skewed each is. A pair is tested where `fewest` groups have the
        feature, as many have samples without it, and as many have values other than 0.
        """
        share = self.groups.means(self.present)
        with_feature = (share > 0).sum(axis=0)
        without = (share < 1).sum(axis=0)
        enough = np.minimum(with_feature, without) >= fewest
        value = self.groups.means(values)
        telling = (np.abs(value) > TIE).sum(axis=0) >= fewest
        value = _centre(value, self.stratum)
        feature = self.shares()
        spread = _spread(feature, value, self.stratum)
        # without a spread nothing changes however groups change places
        tested = enough[:, None] & telling & (spread > TIE)
        if not tested.any():
            untested = np.full(tested.shape, np.nan)
            return AssociationTests(untested, untested)
        # the statistics of all pairs and draws are in memory together
        draws = int(np.clip(MOST_NUMBERS // tested.sum(), 200, draws))
        # what is tested nowhere would cost a product in each draw
        features = tested.any(axis=1)
        columns = tested.any(axis=0)
        feature = feature[:, features]
        value = value[:, columns]
        cells = tested[features][:, columns]
        spread = spread[features][:, columns]
        statistics = np.empty((draws + 1, int(tested.sum())))
        # the data is one of the draws, so no p-value is 0 (Phipson and Smyth, 2010)
        statistics[0] = _standardise(feature, value, spread)[cells]
        # groups of a stratum side by side, so that permuting all strata is one sort
        order = np.argsort(self.stratum, kind="stable")
        feature = feature[order]
        value = value[order]
        steps = self.stratum[order].astype(np.float64)
        for draw in range(1, draws + 1):
            # sorted by stratum and a random part: a permutation within each stratum
            shuffled = feature[(steps + rng.random(len(steps))).argsort()]
            statistics[draw] = _standardise(shuffled, value, spread)[cells]
        surprise = unskew(statistics)
        tests = np.full((2, *tested.shape), np.nan)
        tests[:, tested] = (
            (surprise >= surprise[0] - TIE).mean(axis=0),
            step_down_max(surprise[0], surprise[1:]),
        )
        return AssociationTests(*tests)


def _centre(values: GroupByColumn, stratum: IntPerGroup) -> GroupByColumn:
    """The values of groups less the mean of their stratum."""
    # bincount has a 0 for a number that no group bears
    sizes = np.maximum(np.bincount(stratum), 1)
    means = _stratum_sums(values, stratum) / sizes[:, None]
    return np.asarray(values - means[stratum])


def _stratum_sums(values: GroupByColumn, stratum: IntPerGroup) -> StratumByColumn:
    sums = np.zeros((stratum.max(initial=-1) + 1, values.shape[1]))
    # sums[stratum] += values would add one group of each stratum alone
    np.add.at(sums, stratum, values)
    return sums


def _spread(
    feature: Float[np.ndarray, "group feature"],
    value: GroupByColumn,
    stratum: IntPerGroup,
) -> FeatureByColumn:
    """Standard deviation of the statistic under permutation, exactly (Hoeffding, 1951)."""
    # a stratum of one group: centred, its values are 0 all the same
    freedom = np.maximum(np.bincount(stratum) - 1, 1)
    of_feature = _stratum_sums(feature**2, stratum)
    of_value = _stratum_sums(value**2, stratum) / freedom[:, None]
    return np.sqrt(of_feature.T @ of_value)


def _standardise(
    feature: Float[np.ndarray, "group feature"],
    value: GroupByColumn,
    spread: FeatureByColumn,
) -> FeatureByColumn:
    """The statistic over its spread: under permutation, or as the groups have it if that is more.

    Where all values other than 0 are of one feature, permutation alone takes it for too certain
    (Chung and Romano, 2013).
    """
    own = np.sqrt((feature**2).T @ value**2)
    scale = np.maximum(np.maximum(own, spread), TIE)
    return np.asarray((feature.T @ value) / scale)


def unskew(statistics: DrawByCell) -> DrawByCell:
    """As a normal deviate, by a cell's own skewness (Wilson and Hilferty's cube root, 1931).

    The same function of the data and of each draw, so the permutation test stays exact.
    """
    # Rare values have long tails: without it they would set the bar for all others.
    away = statistics - statistics.mean(axis=0)
    variance = np.maximum((away**2).mean(axis=0), TIE)
    skewness = (away**3).mean(axis=0) / variance**1.5
    skewness = np.clip(skewness, -STEEPEST, STEEPEST)
    # a skewness of 0 would divide by 0
    bend = np.where(np.abs(skewness) < STRAIGHT, STRAIGHT, skewness)
    root = np.cbrt(bend / 2 * statistics + 1)
    return np.asarray(6 / bend * (root - 1) + bend / 6)
