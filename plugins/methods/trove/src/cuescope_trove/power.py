"""What an audit could have missed: the smallest loss that it would have found 8 times of 10.

The loss is that of one label alone, of a cue that is recognised: what the embedding and the
pictures do not show is not found, whatever it costs.
"""

from collections.abc import Callable

import numpy as np

from cuescope_sdk import Audit
from cuescope_sdk.statistics import DetectionLimit, GapPlan, Groups
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations

SHARES = (0.25, 0.1)  # of a label's groups, in which a cue is thought to be
ASSUMED_ACCURACY = 0.8  # before anything is asked
Limit = Callable[[float], float | None]


def limit_words(
    observations: Observations,
    tests: int,
    options: TRoVeOptions,
    rng: np.random.Generator,
) -> str:
    """The limit of detection for cues in a quarter and in a tenth of a label's sequences.

    The cue is planted in the audit's own answers.
    """

    def limit_of(share: float) -> float | None:
        return DetectionLimit.of_gap(
            observations.values,
            observations.groups,
            observations.label,
            rng,
            share=share,
            threshold=options.fdr / 2 / max(tests, 1),
        )

    return _words(limit_of)


def faultless_words(observations: Observations, options: TRoVeOptions) -> str:
    """The same by formula, where no answer is wrong and nothing was tested."""
    counts = np.bincount(observations.label)
    n = float(np.median(counts[counts > 0]))

    def limit_of(share: float) -> float | None:
        return smallest_loss(share, n, 1.0, observations.classes, options)

    return _words(limit_of)


def smallest_loss(
    share: float, groups: float, rate: float, tests: int, options: TRoVeOptions
) -> float | None:
    """The smallest loss that 8 of 10 audits find; None where none is.

    The cue is in a `share` of so many groups; `rate` is the accuracy without it.
    """
    n_with = share * groups
    # less than one group would show it: there is nothing to compare
    if n_with < 1:
        return None
    plan = GapPlan(n_with, groups - n_with, rate)
    return plan.smallest_drop(options.fdr / 2 / tests)


def note_plan(audit: Audit, options: TRoVeOptions) -> None:
    """For a plan, before any answer: what could be found, were 80% of the answers right."""
    groups = Groups.of(audit.samples)
    labels = np.array(
        [audit.labels.index(str(sample.label)) for sample in audit.samples]
    )
    # groups, not samples: those prove the least that their samples can
    counts = [groups.take(labels == label).count for label in np.unique(labels)]
    # the median: one large label must not speak for all
    n = float(np.median(counts))

    def limit_of(share: float) -> float | None:
        return smallest_loss(share, n, ASSUMED_ACCURACY, len(audit.labels), options)

    words = f"if {ASSUMED_ACCURACY:.0%} of the answers are right: {_words(limit_of)}"
    if not groups.all_single:
        words += (
            ". A group counts as one sample here. If its samples differ, more is found"
        )
    audit.note("can be found", words)


def _words(limit_of: Limit) -> str:
    found = []
    unnoticed = []
    for share in SHARES:
        limit = limit_of(share)
        where = f"a cue in {share:.0%} of a label's samples"
        if limit is None:
            unnoticed.append(where)
        else:
            found.append(f"{where} that costs {100 * limit:.0f} points")
    parts = []
    if found:
        parts.append(f"80% for {', or '.join(found)}")
    if unnoticed:
        parts.append(f"none for {' or '.join(unnoticed)}")
    return "; ".join(parts)
