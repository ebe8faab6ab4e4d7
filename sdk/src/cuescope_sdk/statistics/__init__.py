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
from cuescope_sdk.statistics._correlation import (
    Correlation as Correlation,
    correlation as correlation,
    pearson_interval as pearson_interval,
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
    difference_interval as difference_interval,
    gap_intervals as gap_intervals,
    mean_interval as mean_interval,
    student_interval as student_interval,
    sum_interval as sum_interval,
)
from cuescope_sdk.statistics._misclassification import (
    Rate as Rate,
    corrected_rate as corrected_rate,
)
from cuescope_sdk.statistics._paired import PairedFlips as PairedFlips, paired_flips as paired_flips
from cuescope_sdk.statistics._permutation import (
    agreement_p_values as agreement_p_values,
    chance_accuracy as chance_accuracy,
    change_p_value as change_p_value,
    gap_p_values as gap_p_values,
    step_down_max as step_down_max,
    stratified_change_p_value as stratified_change_p_value,
)
from cuescope_sdk.statistics._placement import (
    critical_z as critical_z,
    deal_places as deal_places,
    placement_p_value as placement_p_value,
    placement_z as placement_z,
    score_interval as score_interval,
    share_beyond_chance as share_beyond_chance,
)
from cuescope_sdk.statistics._power import (
    detectable as detectable,
    exceeds_power as exceeds_power,
    gap_power as gap_power,
    limit_of_detection as limit_of_detection,
    samples_for_change as samples_for_change,
    smallest_effect as smallest_effect,
    smallest_flip_share as smallest_flip_share,
    smallest_gap as smallest_gap,
    smallest_with_power as smallest_with_power,
    split_quantiles as split_quantiles,
)
from cuescope_sdk.statistics._ranked_gaps import (
    GapTest as GapTest,
    gap_test as gap_test,
    gap_weights as gap_weights,
    maxima_p_values as maxima_p_values,
    random_maxima as random_maxima,
    shuffled_gaps as shuffled_gaps,
    smallest_ranked_gap as smallest_ranked_gap,
)
from cuescope_sdk.statistics._ranks import (
    auroc as auroc,
    even_parts as even_parts,
    mann_whitney_p_value as mann_whitney_p_value,
    matched_auroc as matched_auroc,
    rank_correlation as rank_correlation,
    rank_correlation_interval as rank_correlation_interval,
)
from cuescope_sdk.statistics._resampling import (
    bootstrap_weights as bootstrap_weights,
    monte_carlo_p_value as monte_carlo_p_value,
    percentile_interval as percentile_interval,
    permutation_p_value as permutation_p_value,
    portions as portions,
    stratified_orders as stratified_orders,
    weighted_means as weighted_means,
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
from cuescope_sdk.statistics._unseen import (
    lower_mean_p_value as lower_mean_p_value,
    most_by_chance as most_by_chance,
    most_unseen as most_unseen,
)
from cuescope_sdk.statistics._weighted_means import (
    MarginTest as MarginTest,
    WeightedMeans as WeightedMeans,
    interval_p_value as interval_p_value,
)
from cuescope_sdk.statistics._weighted_tests import (
    can_pass as can_pass,
    joined_p_values_of_others as joined_p_values_of_others,
    least_gap_p_value as least_gap_p_value,
    selected_confidence as selected_confidence,
    weighted_q_values as weighted_q_values,
)
