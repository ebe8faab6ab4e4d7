"""What an audit could have missed: the smallest loss that it would have found 8 times of 10."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from cuescope_sdk import Audit
from cuescope_sdk.statistics import GapPlan, Groups, limit_of_detection
from cuescope_trove.candidates.correction import CLEAR
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, compare
from cuescope_trove.selection import (
    CANDIDATE,
    DISCOVERY,
    ScoredPairs,
    splits_by_default,
    weights,
)

SHARES = (0.25, 0.1)  # of a label's groups, in which a cue is thought to be
ASSUMED_ACCURACY = 0.8  # before anything is asked
CLEARNESS = (CLEAR, 0.02, 0.05, 0.1, 0.2, CANDIDATE)  # p-values in the first part
# the mean weight of pairs without a cue that are tried: of uniform p-values up to CANDIDATE
NULL_WEIGHT = (1 + np.log(CANDIDATE / CLEAR)) / CANDIDATE
HALF_TRIED = 200  # groups a label at which half of the pairs are tested
TRIED_AGAIN = 0.2  # of these have a weight after the first part
SPLITS = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of how a cue falls into two parts


def chance_to_find(
    loss: float,
    plan: GapPlan,
    options: TRoVeOptions,
    *,
    tried: float,
    discover: float,
) -> float:
    """Chance that a cue that costs `loss` is found: it passes each part's test, and costs enough.

    The plan is of a label's groups (which prove the least that their sequences can), `tried`
    counts the pairs that are tested last.
    """
    if not discover:
        # a lone finding needs this p-value under the false discovery rate
        return _chance_to_pass(loss, plan, options.fdr / max(tried, 1), options)
    chances = []
    # how many of the groups with the cue fall into the first part is chance
    for first, last in plan.split(discover, SPLITS):
        chance = 0.0
        counts = (first.n_with, first.n_without, last.n_with, last.n_without)
        # a part without a group on one side compares nothing, and finds nothing
        if min(counts) >= 1:
            # how clear the cue is in the first part decides what it must show in the other
            reached = 0.0
            lower = CLEAR
            for bound in CLEARNESS:
                here = first.power(loss, bound) - reached
                reached += here
                # the geometric middle stands for all p-values between both bounds
                [weight] = weights(np.sqrt([lower * bound]))
                lower = bound
                # the cue's share of the error budget beside pairs without a cue
                level = options.fdr * weight / (weight + NULL_WEIGHT * (tried - 1))
                chance += here * _chance_to_pass(loss, last, level, options)
        chances.append(chance)
    return float(np.mean(chances))


def _chance_to_pass(
    loss: float,
    plan: GapPlan,
    threshold: float,
    options: TRoVeOptions,
) -> float:
    # both conditions are about one measured loss, so the harder one decides
    exceeds = plan.exceeds(loss, options.min_error_contribution)
    return min(plan.power(loss, threshold), exceeds)


def smallest_loss(
    share: float,
    groups: float,
    rate: float,
    options: TRoVeOptions,
    *,
    tried: float,
    discover: float,
) -> float | None:
    """The smallest loss that 8 of 10 audits find; None where none is.

    The cue is in a `share` of so many groups; `rate` is the accuracy without it.
    """
    n_with = share * groups
    # less than one group would show it: there is nothing to compare
    if n_with < 1:
        return None
    plan = GapPlan(n_with, groups - n_with, rate)
    power = partial(
        chance_to_find,
        plan=plan,
        options=options,
        tried=tried,
        discover=discover,
    )
    return plan.smallest(power)


def limit(
    observations: Observations,
    table: ScoredPairs,
    options: TRoVeOptions,
    rng: np.random.Generator,
    share: float,
) -> float | None:
    """The smallest loss found in 8 of 10 audits, had a cue been in `share` of a label's groups.

    It is planted in the audit's own answers. A finding also loses more than
    `min_error_contribution` as measured.
    """
    measured = table.observations
    tried = table.correction.count
    if table.first_gap is not None or not tried:
        tried += 1  # the planted cue itself
    found = limit_of_detection(
        measured.values,
        measured.groups,
        measured.label,
        rng,
        share=share,
        threshold=options.fdr / tried,
    )
    rate = float(measured.values.mean())
    n = _effective_count(measured)

    by_formula = partial(smallest_loss, share, rate=rate, options=options, tried=tried)
    last = by_formula(n, discover=0.0)
    if found is None or last is None:
        return None
    # the null of few sequences is skewed, and `limit_of_detection` takes it as normal
    found = max(found, last)
    if table.first_gap is None:
        return found
    # The recorded answers tell of the last part; what the first one adds to it is by formula.
    discover = DISCOVERY if options.discover is None else options.discover
    both = by_formula(n / (1 - discover), discover=discover)
    return None if both is None else found * both / last


def limit_words(
    observations: Observations,
    table: ScoredPairs,
    options: TRoVeOptions,
    rng: np.random.Generator,
) -> str:
    """The limit of detection for cues in a quarter and in a tenth of a label's sequences."""
    return _words([limit(observations, table, options, rng, share) for share in SHARES])


def faultless_words(observations: Observations, options: TRoVeOptions) -> str:
    """The same by formula, where no answer is wrong and no pair was tested."""
    tried = max(len(compare(observations)), 1)
    n = _effective_count(observations)
    # 1.0: no answer is wrong, so none is wrong without the cue
    limits = [
        smallest_loss(share, n, 1.0, options, tried=tried, discover=0.0)
        for share in SHARES
    ]
    return _words(limits)


def expected_tried(pairs: int, groups: float, discover: float) -> int:
    """How many of all pairs are tested last, as far as a plan can know.

    Of so many groups a label, clusters that are rare in it show in too few to be tested. Half of
    the pairs at `HALF_TRIED` groups, and a part of these for two parts, is what simulated audits
    had.
    """
    tried = pairs * groups / (groups + HALF_TRIED)
    if discover:
        return round(tried * TRIED_AGAIN) + 1
    return max(round(tried), 1)


def note_plan(audit: Audit, options: TRoVeOptions) -> None:
    """For a plan, before any answer: what could be found, were 80% of the answers right."""
    groups = Groups.of(audit.samples)
    labels = np.array(
        [audit.labels.index(str(sample.label)) for sample in audit.samples]
    )
    # groups, not samples: those prove the least that their samples can
    counts = [groups.take(labels == label).count for label in np.unique(labels)]
    n = float(np.median(counts))
    discover = options.discover
    if discover is None:
        discover = DISCOVERY if splits_by_default(counts) else 0.0
    # the silhouette chooses later, so a plan takes the middle of the sweep
    pairs = round(len(audit.labels) ** 2 * (options.k_min + options.k_max) / 2)
    tried = expected_tried(pairs, n, discover)
    limits = [
        smallest_loss(
            share,
            n,
            ASSUMED_ACCURACY,
            options,
            tried=tried,
            discover=discover,
        )
        for share in SHARES
    ]
    words = f"if {ASSUMED_ACCURACY:.0%} of the answers are right: {_words(limits)}"
    if not groups.all_single:
        words += (
            ". A group counts as one sample here. If its samples differ, more is found"
        )
    audit.note("can be found", words)


def _effective_count(measured: Observations) -> float:
    """So many independent sequences prove as much as those of the typical label."""
    counts = []
    for label in np.unique(measured.label):
        mine = measured.label == label
        effect = measured.groups.take(mine).design_effect(measured.values[mine])
        counts.append(mine.sum() / effect)
    # the median: one large label must not speak for all
    return float(np.median(counts))


def _words(limits: Sequence[float | None]) -> str:
    parts = []
    for share, loss in zip(SHARES, limits, strict=True):
        where = f"a cue in {share:.0%} of a label's sequences"
        if loss is None:
            parts.append(f"{where} could go unnoticed whatever it costs")
        else:
            parts.append(
                f"{where} that costs {100 * loss:.0f} points is found in 8 of 10 audits"
            )
    return "; ".join(parts) + "; smaller ones may be there"
