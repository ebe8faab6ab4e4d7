"""Gaps between the top and the bottom of rankings, and what gaps chance makes.

A unit is what was drawn by itself: a sample, or all samples of one source. Each cue ranks the
units. `weights` say how a cue's gap comes from them: 1 / k of each unit in its top, -1 / k of each
in its bottom. `stratum` numbers the units that may change places; None lets all of them.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from cuescope_sdk.statistics._permutation import step_down_max
from cuescope_sdk.statistics._resampling import TIE, portions, stratified_orders
from cuescope_sdk.statistics._shapes import (
    CueByUnit,
    IntPerUnit,
    PerCue,
    PerDraw,
    PerUnit,
)

IntPerSide = Int[np.ndarray, "cue k"]
DIGITS = 9


def gap_weights(
    top: IntPerSide,
    bottom: IntPerSide,
    units: int,
    kept: Bool[np.ndarray, " unit"] | None = None,
) -> CueByUnit:
    """Weight of each unit in the gap of each cue; a cue with an empty side has none.

    Units that are not `kept` count in no gap.
    """
    weights = np.zeros((len(top), units))
    for side, sign in ((top, 1.0), (bottom, -1.0)):
        member = np.zeros((len(top), units))
        np.put_along_axis(member, side, 1.0, axis=1)
        if kept is not None:
            member *= kept
        size = member.sum(axis=1, keepdims=True)
        weights += sign * member / np.maximum(size, 1)
    # A side that lost all its units leaves no difference of two means.
    has_top = (weights > 0).any(axis=1, keepdims=True)
    whole = has_top & (weights < 0).any(axis=1, keepdims=True)
    return np.asarray(weights * whole)


def expected_gaps(
    rates: PerUnit,
    weights: CueByUnit,
    stratum: IntPerUnit | None,
) -> PerCue:
    """The gap that the strata alone make: each unit has the mean rate of its stratum."""
    if stratum is None:
        return np.zeros(len(weights))
    means = np.bincount(stratum, rates) / np.maximum(np.bincount(stratum), 1)
    return np.asarray(weights @ means[stratum])


def shuffled_gaps(
    rates: PerUnit,
    weights: CueByUnit,
    stratum: IntPerUnit | None,
    draws: int,
    rng: Generator,
) -> Float[np.ndarray, "draw cue"]:
    """Gaps of all cues once the rates are dealt anew among the units (Pitman, 1937).

    Which units are in a top or a bottom depends on their scores alone. So where the units are
    exchangeable (Sample.group names what is not), every deal within the strata is as likely under
    the null as the rates as they are.
    """
    if stratum is None:
        # sources that no group names made findings in 23 to 87% of classes without a cue
        stratum = np.zeros(len(rates), dtype=int)
    gaps = []
    # A gap is linear in the rates, so one matrix product gives all gaps of all deals.
    for count in portions(draws, max(len(rates), 1)):
        orders = stratified_orders(stratum, count, rng)
        gaps.append(rates[orders] @ weights.T)
    return np.concatenate(gaps)


@dataclass(frozen=True, eq=False)
class GapTest:
    """Test of each cue: its `gap` beyond what the strata make, and in deviations of chance.

    `p_value` is corrected for the choice among the cues, `by_strata` the gap that the strata make,
    and `maxima` the largest strength of all cues in each deal.
    """

    gap: PerCue
    strength: PerCue
    p_value: PerCue
    by_strata: PerCue
    maxima: PerDraw

    @classmethod
    def of(
        cls,
        rates: PerUnit,
        top: IntPerSide,
        bottom: IntPerSide,
        draws: int,
        rng: Generator,
        *,
        stratum: IntPerUnit | None = None,
        kept: Bool[np.ndarray, " unit"] | None = None,
    ) -> "GapTest":
        """Step-down test of the largest of all gaps (Westfall and Young, 1993, algorithm 2.8).

        Units that are not `kept` count in no gap. It bounds the chance of any false cue, whatever
        the cues have in common, where the units are exchangeable; groups that nobody named make
        false findings. Each gap is measured by its standard deviation over the deals, for cues
        with fewer units vary more.
        """
        weights = gap_weights(top, bottom, len(rates), kept)
        expected = expected_gaps(rates, weights, stratum)
        gaps = weights @ rates - expected
        dealt = shuffled_gaps(rates, weights, stratum, draws, rng) - expected
        spread = _spread(np.square(dealt).sum(axis=0), gaps, draws)
        # Rounded: two equal gaps may differ in the last bit, and a tie counts as reached.
        strength = np.round(gaps / spread, DIGITS)
        dealt = np.round(dealt / spread, DIGITS)
        p_value = step_down_max(strength, dealt)
        return cls(gaps, strength, p_value, expected, dealt.max(axis=1))

    @staticmethod
    def random_maxima(
        rates: PerUnit,
        rankings: int,
        k: int,
        draws: int,
        rng: Generator,
    ) -> PerDraw:
        """Largest gap of so many random rankings, `draws` times (SpurLens, appendix N).

        A ranking draws k units for its top and k others for its bottom; only how many of each rate
        are drawn matters, and these counts are drawn at once. `rates` are of at least 2 k units.
        """
        levels, counts = np.unique(rates, return_counts=True)
        counts = np.tile(counts, (draws * rankings, 1))
        top = _draw_counts(counts, k, rng)
        bottom = _draw_counts(counts - top, k, rng)
        gaps = top @ levels / k - bottom @ levels / k
        return np.asarray(gaps.reshape(draws, rankings).max(axis=1))


def _spread(squares: PerCue, gaps: PerCue, draws: int) -> PerCue:
    """Spread of gaps over the deals; the data are one of them, as they are in the p-value."""
    spread = np.sqrt((squares + np.square(gaps)) / (draws + 1))
    # a cue whose gap no deal changes has a strength of 0
    return np.where(spread > TIE, spread, np.inf)


def _draw_counts(
    counts: Int[np.ndarray, "row level"],
    k: int,
    rng: Generator,
) -> Int[np.ndarray, "row level"]:
    """How many of each level are among k drawn without replacement, row by row."""
    # Level after level, each given those before: numpy's multivariate_hypergeometric takes one
    # row at a time, and there are draws x cues of them.
    chosen = np.zeros_like(counts)
    wanted = np.full(len(counts), k)
    for level in range(counts.shape[1]):
        others = counts[:, level + 1 :].sum(axis=1)
        chosen[:, level] = rng.hypergeometric(counts[:, level], others, wanted)
        wanted = wanted - chosen[:, level]
    return chosen
