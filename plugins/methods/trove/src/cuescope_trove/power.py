"""What an audit could have missed: the smallest loss that it would have found 8 times of 10.

A cue is found by a candidate, which is in a part of its sequences and in others too. What the best
candidate keeps, and what candidates that overlap cost, was measured on audits with real clusterings
and planted cues (benchmarks/trove_power.py, docs/trove.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from cuescope_sdk import Audit
from cuescope_sdk.statistics import DetectionLimit, GapPlan, Groups
from cuescope_trove.candidates.correction import CLEAR
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations
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
SPLITS = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of how a cue falls into two parts
# a cue that harms one label gets so much less weight than the mean pair where labels are pooled
POOLED = 2.0


# a label's candidates cost as much as so many tests that do not overlap, half at HALF groups
TESTS = 90
PAPERS_TESTS = 12
HALF = 60


@dataclass(frozen=True)
class Kept:
    """What a clustering keeps of a cue.

    The best candidate is in the share `caught` of the cue's sequences, and `stray` of the others.
    """

    caught: float
    stray: float

    def share_with_candidate(self, share: float) -> float:
        """In which share of the sequences the candidate is, where the cue is in `share`."""
        return share * self.caught + (1 - share) * self.stray

    def contrast(self, share: float) -> float:
        """How much more often the cue is there with the candidate than without it."""
        shown = self.share_with_candidate(share)
        with_candidate = share * self.caught / shown
        without = share * (1 - self.caught) / (1 - shown)
        return with_candidate - without


# In real CLIP a sign and a logo stay together; night and black bars are split by what is behind.
TOGETHER = Kept(caught=0.95, stray=0.005)
SPLIT = Kept(caught=0.45, stray=0.01)
PAPERS_TOGETHER = Kept(caught=0.6, stray=0.02)
PAPERS_SPLIT = Kept(caught=0.25, stray=0.05)


def kinds(options: TRoVeOptions) -> tuple[Kept, Kept]:
    """What is kept of a cue that the embedding keeps together, and of one that it splits."""
    return (PAPERS_TOGETHER, PAPERS_SPLIT) if options.paper else (TOGETHER, SPLIT)


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
    # the power is of one direction, and a finding pays for both
    return min(plan.power(loss, threshold / 2), exceeds)


def smallest_loss(
    share: float,
    groups: float,
    rate: float,
    options: TRoVeOptions,
    *,
    kept: Kept,
    tried: float,
    discover: float,
) -> float | None:
    """The smallest loss that 8 of 10 audits find; None where none is.

    The cue is in a `share` of so many groups; `rate` is the accuracy without it. Only what the best
    candidate shows of it is tested.
    """
    n_with = kept.share_with_candidate(share) * groups
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
    loss = plan.smallest(power)
    return None if loss is None else _undilute(loss, kept.contrast(share), rate)


def _undilute(loss: float, contrast: float, rate: float) -> float | None:
    """What a cue costs that costs its candidate `loss`; None where it would cost more than all."""
    whole = loss / contrast
    return whole if whole <= rate else None


def limit(
    observations: Observations,
    table: ScoredPairs,
    options: TRoVeOptions,
    rng: np.random.Generator,
    share: float,
    kept: Kept,
) -> float | None:
    """The smallest loss found in 8 of 10 audits, had a cue been in `share` of a label's groups.

    It is planted in the audit's own answers. A finding also loses more than
    `min_error_contribution` as measured.
    """
    measured = table.observations
    tried = max(table.correction.count, 1.0) * (POOLED if options.pool_labels else 1.0)
    found = DetectionLimit.of_gap(
        measured.values,
        measured.groups,
        measured.label,
        rng,
        share=kept.share_with_candidate(share),
        threshold=options.fdr / 2 / tried,
    )
    rate = float(measured.values.mean())
    found = found and _undilute(found, kept.contrast(share), rate)
    n = _effective_count(measured)

    by_formula = partial(
        smallest_loss,
        share,
        rate=rate,
        options=options,
        kept=kept,
        tried=tried,
    )
    last = by_formula(n, discover=0.0)
    if found is None or last is None:
        return None
    # the null of few sequences is skewed, and `DetectionLimit` takes it as normal
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

    def limit_of(share: float, kept: Kept) -> float | None:
        return limit(observations, table, options, rng, share, kept)

    return _words(limit_of, options)


def faultless_words(observations: Observations, options: TRoVeOptions) -> str:
    """The same by formula, where no answer is wrong and no pair was tested."""
    labels = len(np.unique(observations.label))
    n = _effective_count(observations)
    tried = expected_tried(labels, n, options, 0.0)
    # 1.0: no answer is wrong, so none is wrong without the cue

    def limit_of(share: float, kept: Kept) -> float | None:
        return smallest_loss(
            share, n, 1.0, options, kept=kept, tried=tried, discover=0.0
        )

    return _words(limit_of, options)


def expected_tried(
    labels: int,
    groups: float,
    options: TRoVeOptions,
    discover: float,
) -> float:
    """So many tests that do not overlap cost as much as what a plan will test last.

    `groups` a label are those of both parts.
    """
    last = groups * (1 - discover)
    tests = PAPERS_TESTS if options.paper else TESTS
    # of few groups rare candidates are not tested
    tried = labels * tests * last / (last + HALF)
    if options.by_pictures and not options.paper and not discover:
        tried *= 2  # beside each label's family there is one of each wrong answer
    if options.pool_labels:
        tried *= POOLED
    # the others have no weight after the first part
    return max(tried * CANDIDATE if discover else tried, 1.0)


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
    tried = expected_tried(len(audit.labels), n, options, discover)

    def limit_of(share: float, kept: Kept) -> float | None:
        return smallest_loss(
            share,
            n,
            ASSUMED_ACCURACY,
            options,
            kept=kept,
            tried=tried,
            discover=discover,
        )

    words = f"if {ASSUMED_ACCURACY:.0%} of the answers are right: "
    words += _words(limit_of, options)
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


def _words(
    limit_of: Callable[[float, Kept], float | None],
    options: TRoVeOptions,
) -> str:
    found = []
    unnoticed = []
    for share in SHARES:
        together, split = (limit_of(share, kept) for kept in kinds(options))
        where = f"a cue in {share:.0%} of a label's sequences"
        if together is None:
            unnoticed.append(where)
            continue
        if_split = "any loss may be missed"
        if split is not None:
            if_split = f"{100 * split:.0f} points"
        found.append(
            f"{where} that costs {100 * together:.0f} points (if the embedding splits it into "
            f"several groups: {if_split})"
        )
    parts = []
    if found:
        parts.append(f"8 of 10 audits find {', or '.join(found)}")
    if unnoticed:
        parts.append(f"{' or '.join(unnoticed)} could go unnoticed whatever it costs")
    return "; ".join(parts) + "; smaller ones may be there"
