"""Intervals, tests, corrections and power: what every method says a finding is."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

# one room for all methods: what a finding promises is tested here, once (docs/statistics.md)
if TYPE_CHECKING:
    from cuescope_sdk.statistics._above_zero import MeanAboveZero as MeanAboveZero
    from cuescope_sdk.statistics._association import GroupedFeatures as GroupedFeatures
    from cuescope_sdk.statistics._correlation import Correlation as Correlation
    from cuescope_sdk.statistics._dose_response import (
        Design as Design,
        DoseResponse as DoseResponse,
        Observed as Observed,
        Shift as Shift,
        dose_response as dose_response,
    )
    from cuescope_sdk.statistics._estimate import Estimate as Estimate
    from cuescope_sdk.statistics._groups import Groups as Groups
    from cuescope_sdk.statistics._intervals import (
        change_interval as change_interval,
        gap_intervals as gap_intervals,
        mean_above as mean_above,
        mean_interval as mean_interval,
        student_interval as student_interval,
    )
    from cuescope_sdk.statistics._label_effects import LabelEffects as LabelEffects
    from cuescope_sdk.statistics._levels import multiplicity as multiplicity
    from cuescope_sdk.statistics._paired import (
        PairedFlips as PairedFlips,
        change_p_value as change_p_value,
        paired_flips as paired_flips,
    )
    from cuescope_sdk.statistics._permutation import (
        Permutation as Permutation,
        gap_p_values as gap_p_values,
    )
    from cuescope_sdk.statistics._placement import Placement as Placement
    from cuescope_sdk.statistics._power import (
        ChangePlan as ChangePlan,
        DetectionLimit as DetectionLimit,
        GapPlan as GapPlan,
    )
    from cuescope_sdk.statistics._prognosis import (
        PrognosticGap as PrognosticGap,
        prognostic_gap as prognostic_gap,
    )
    from cuescope_sdk.statistics._ranked_gaps import GapTest as GapTest
    from cuescope_sdk.statistics._ranks import Roc as Roc
    from cuescope_sdk.statistics._recogniser import (
        Recognised as Recognised,
        Recogniser as Recogniser,
        association as association,
        recognise as recognise,
    )
    from cuescope_sdk.statistics._resampling import Bootstrap as Bootstrap
    from cuescope_sdk.statistics._tests import (
        SAME_CUE as SAME_CUE,
        Overlap as Overlap,
        benjamini_hochberg as benjamini_hochberg,
        cohen_kappa as cohen_kappa,
        exceeds_rate_p_value as exceeds_rate_p_value,
        holm as holm,
        lower_p_value as lower_p_value,
        uneven_p_value as uneven_p_value,
    )
    from cuescope_sdk.statistics._two_groups import TwoGroups as TwoGroups
    from cuescope_sdk.statistics._unseen import most_unseen as most_unseen
    from cuescope_sdk.statistics._verdicts import Verdict as Verdict, decide as decide
    from cuescope_sdk.statistics._weighted_means import WeightedMeans as WeightedMeans

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._above_zero": ["MeanAboveZero"],
        "._association": ["GroupedFeatures"],
        "._correlation": ["Correlation"],
        "._dose_response": [
            "Design",
            "DoseResponse",
            "Observed",
            "Shift",
            "dose_response",
        ],
        "._estimate": ["Estimate"],
        "._groups": ["Groups"],
        "._intervals": [
            "change_interval",
            "gap_intervals",
            "mean_above",
            "mean_interval",
            "student_interval",
        ],
        "._label_effects": ["LabelEffects"],
        "._levels": ["multiplicity"],
        "._paired": ["PairedFlips", "change_p_value", "paired_flips"],
        "._permutation": ["Permutation", "gap_p_values"],
        "._placement": ["Placement"],
        "._power": ["ChangePlan", "DetectionLimit", "GapPlan"],
        "._prognosis": ["PrognosticGap", "prognostic_gap"],
        "._ranked_gaps": ["GapTest"],
        "._ranks": ["Roc"],
        "._recogniser": ["Recognised", "Recogniser", "association", "recognise"],
        "._resampling": ["Bootstrap"],
        "._tests": [
            "SAME_CUE",
            "Overlap",
            "benjamini_hochberg",
            "cohen_kappa",
            "exceeds_rate_p_value",
            "holm",
            "lower_p_value",
            "uneven_p_value",
        ],
        "._two_groups": ["TwoGroups"],
        "._unseen": ["most_unseen"],
        "._verdicts": ["Verdict", "decide"],
        "._weighted_means": ["WeightedMeans"],
    },
)
