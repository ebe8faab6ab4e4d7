"""Intervals, tests, corrections and power: what every method says a finding is."""

# one room for all methods: what a finding promises is tested here, once (docs/statistics.md)
from cuescope_sdk.statistics._above_zero import MeanAboveZero
from cuescope_sdk.statistics._always_valid import always_valid_bounds
from cuescope_sdk.statistics._association import AssociationTests, GroupedFeatures
from cuescope_sdk.statistics._correlation import Correlation
from cuescope_sdk.statistics._dose_response import (
    DoseResponse,
    Observed,
    Shift,
    dose_response,
)
from cuescope_sdk.statistics._estimate import Estimate
from cuescope_sdk.statistics._gain_plan import GainPlan, chance_found_again
from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._intervals import (
    change_interval,
    gap_intervals,
    mean_interval,
    student_interval,
)
from cuescope_sdk.statistics._inversion import excluded_by_test
from cuescope_sdk.statistics._label_effects import LabelEffects
from cuescope_sdk.statistics._levels import multiplicity
from cuescope_sdk.statistics._paired import PairedFlips, change_p_value, paired_flips
from cuescope_sdk.statistics._permutation import Permutation, gap_p_values
from cuescope_sdk.statistics._placement import Placement, share_beyond_chance
from cuescope_sdk.statistics._power import ChangePlan, DetectionLimit, GapPlan
from cuescope_sdk.statistics._prognosis import PrognosticGap, prognostic_gap
from cuescope_sdk.statistics._ranked_gaps import GapTest
from cuescope_sdk.statistics._ranks import Roc
from cuescope_sdk.statistics._recogniser import Recognised, Recogniser, recognise
from cuescope_sdk.statistics._resampling import Bootstrap, exceeds_normal_draws
from cuescope_sdk.statistics._tests import (
    Overlap,
    association_p_value,
    benjamini_hochberg,
    cohen_kappa,
    exceeds_rate_p_value,
    holm,
    lower_p_value,
    uneven_p_value,
)
from cuescope_sdk.statistics._two_groups import TwoGroups
from cuescope_sdk.statistics._unseen import most_unseen
from cuescope_sdk.statistics._weighted_means import WeightedMeans

__all__ = [
    "AssociationTests",
    "Bootstrap",
    "ChangePlan",
    "Correlation",
    "DetectionLimit",
    "DoseResponse",
    "Estimate",
    "GainPlan",
    "GapPlan",
    "GapTest",
    "GroupedFeatures",
    "Groups",
    "LabelEffects",
    "MeanAboveZero",
    "Observed",
    "Overlap",
    "PairedFlips",
    "Permutation",
    "Placement",
    "PrognosticGap",
    "Recognised",
    "Recogniser",
    "Roc",
    "Shift",
    "TwoGroups",
    "WeightedMeans",
    "always_valid_bounds",
    "association_p_value",
    "benjamini_hochberg",
    "chance_found_again",
    "change_interval",
    "change_p_value",
    "cohen_kappa",
    "dose_response",
    "exceeds_normal_draws",
    "exceeds_rate_p_value",
    "excluded_by_test",
    "gap_intervals",
    "gap_p_values",
    "holm",
    "lower_p_value",
    "mean_interval",
    "most_unseen",
    "multiplicity",
    "paired_flips",
    "prognostic_gap",
    "recognise",
    "share_beyond_chance",
    "student_interval",
    "uneven_p_value",
]
