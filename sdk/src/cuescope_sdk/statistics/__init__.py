"""Intervals, tests, corrections and power: what every method says a finding is."""

from cuescope_sdk.statistics._above_zero import (
    is_mean_above_zero as is_mean_above_zero,
    mean_above_zero_p_value as mean_above_zero_p_value,
    smallest_mean_above_zero as smallest_mean_above_zero,
)
from cuescope_sdk.statistics._association import (
    AssociationTests as AssociationTests,
    association as association,
    association_tests as association_tests,
    centre as centre,
    group_means as group_means,
    tests_of_draws as tests_of_draws,
)
from cuescope_sdk.statistics._groups import (
    FEW as FEW,
    Groups as Groups,
    design_effect as design_effect,
    split_groups as split_groups,
)
from cuescope_sdk.statistics._intervals import (
    bca_interval as bca_interval,
    change_interval as change_interval,
    gap_intervals as gap_intervals,
    mean_interval as mean_interval,
)
from cuescope_sdk.statistics._misclassification import (
    Rate as Rate,
    corrected_rate as corrected_rate,
)
from cuescope_sdk.statistics._paired import PairedFlips as PairedFlips, paired_flips as paired_flips
from cuescope_sdk.statistics._permutation import (
    chance_accuracy as chance_accuracy,
    change_p_value as change_p_value,
    gap_p_values as gap_p_values,
    step_down_max as step_down_max,
)
from cuescope_sdk.statistics._placement import (
    deal_places as deal_places,
    placement_p_value as placement_p_value,
    placement_z as placement_z,
    score_interval as score_interval,
)
from cuescope_sdk.statistics._power import (
    detectable as detectable,
    gap_power as gap_power,
    limit_of_detection as limit_of_detection,
    smallest_effect as smallest_effect,
    smallest_gap as smallest_gap,
)
from cuescope_sdk.statistics._resampling import (
    monte_carlo_p_value as monte_carlo_p_value,
    percentile_interval as percentile_interval,
    permutation_p_value as permutation_p_value,
    portions as portions,
)
from cuescope_sdk.statistics._tests import (
    accuracy_gap_p_value as accuracy_gap_p_value,
    benjamini_hochberg as benjamini_hochberg,
    cohen_kappa as cohen_kappa,
    common_by_chance as common_by_chance,
    correlation_interval as correlation_interval,
    exceeds_rate_p_value as exceeds_rate_p_value,
    holm as holm,
    overlap_p_value as overlap_p_value,
)
