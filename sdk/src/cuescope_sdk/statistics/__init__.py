"""Intervals, tests, corrections and power: what every method says a finding is."""

# one room for all methods: what a finding promises is tested here, once (docs/statistics.md)
from cuescope_sdk.statistics._above_zero import MeanAboveZero
from cuescope_sdk.statistics._always_valid import always_valid_bounds
from cuescope_sdk.statistics._association import AssociationTests, GroupedFeatures
from cuescope_sdk.statistics._correlation import Correlation, pearson_interval
from cuescope_sdk.statistics._estimate import Estimate
from cuescope_sdk.statistics._families import FamilyTest, q_values_in_families
from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._intervals import (
    bca_interval,
    change_interval,
    gap_intervals,
    mean_interval,
    student_interval,
)
from cuescope_sdk.statistics._inversion import excluded_by_test
from cuescope_sdk.statistics._label_noise import Answered, LabelNoise
from cuescope_sdk.statistics._levels import at_error, multiplicity, smallest_found
from cuescope_sdk.statistics._paired import PairedFlips, change_p_value, paired_flips
from cuescope_sdk.statistics._permutation import (
    agreement_p_values,
    chance_accuracy,
    gap_p_values,
)
from cuescope_sdk.statistics._placement import Placement, share_beyond_chance
from cuescope_sdk.statistics._power import (
    GapPlan,
    detectable,
    found_from,
    limit_of_detection,
    samples_for_change,
    smallest_effect,
    smallest_flip_share,
)
from cuescope_sdk.statistics._ranked_gaps import GapTest, random_maxima
from cuescope_sdk.statistics._ranks import (
    auroc,
    auroc_error,
    equal_parts,
    mann_whitney_p_value,
    rank_correlation,
    rank_correlation_interval,
    youden_cut,
)
from cuescope_sdk.statistics._resampling import (
    Bootstrap,
    bound_of_maxima,
    exceeds_normal_draws,
    monte_carlo_p_value,
    stratified_orders,
)
from cuescope_sdk.statistics._tests import (
    benjamini_hochberg,
    cohen_kappa,
    common_by_chance,
    exceeds_rate_p_value,
    holm,
    overlap_p_value,
)
from cuescope_sdk.statistics._unseen import (
    lower_mean_p_value,
    most_by_chance,
    most_unseen,
)
from cuescope_sdk.statistics._weighted_means import WeightedMeans
from cuescope_sdk.statistics._weighted_tests import (
    can_pass,
    joined_p_values_of_others,
    least_gap_p_value,
)

__all__ = [
    "Answered",
    "AssociationTests",
    "Bootstrap",
    "Correlation",
    "Estimate",
    "FamilyTest",
    "GapPlan",
    "GapTest",
    "GroupedFeatures",
    "Groups",
    "LabelNoise",
    "MeanAboveZero",
    "PairedFlips",
    "Placement",
    "WeightedMeans",
    "agreement_p_values",
    "always_valid_bounds",
    "at_error",
    "auroc",
    "auroc_error",
    "bca_interval",
    "benjamini_hochberg",
    "bound_of_maxima",
    "can_pass",
    "chance_accuracy",
    "change_interval",
    "change_p_value",
    "cohen_kappa",
    "common_by_chance",
    "detectable",
    "equal_parts",
    "exceeds_normal_draws",
    "exceeds_rate_p_value",
    "excluded_by_test",
    "found_from",
    "gap_intervals",
    "gap_p_values",
    "holm",
    "joined_p_values_of_others",
    "least_gap_p_value",
    "limit_of_detection",
    "lower_mean_p_value",
    "mann_whitney_p_value",
    "mean_interval",
    "monte_carlo_p_value",
    "most_by_chance",
    "most_unseen",
    "multiplicity",
    "overlap_p_value",
    "paired_flips",
    "pearson_interval",
    "q_values_in_families",
    "random_maxima",
    "rank_correlation",
    "rank_correlation_interval",
    "samples_for_change",
    "share_beyond_chance",
    "smallest_effect",
    "smallest_flip_share",
    "smallest_found",
    "stratified_orders",
    "student_interval",
    "youden_cut",
]
