"""How much accuracy is lost by hiding each feature."""

from collections.abc import Sequence

import cuescope_sdk as sdk
from cuescope_sdk.statistics import Groups, PairedFlips, paired_flips


def losses(audit: sdk.Audit) -> dict[str, PairedFlips]:
    """How the answers change when each feature is hidden, the largest loss first."""
    shown = right_answers(audit.outcomes, "baseline")
    tried = dict.fromkeys(o.trial.feature for o in audit.outcomes if o.trial.feature)
    flips = {
        feature: paired_flips(
            right_answers(audit.outcomes, "hidden", feature),
            shown,
            Groups.of(audit.samples),
            audit.rng("interval", feature),
            alternative="greater",
        )
        for feature in tried
    }
    return dict(sorted(flips.items(), key=lambda item: -item[1].change))


def right_answers(
    outcomes: Sequence[sdk.Outcome], condition: str, feature: str | None = None
) -> list[bool]:
    """Whether each sample is answered right under a condition, in the order of the samples."""
    # Outcomes are found by what their trials are for: positions change with every new trial.
    return [
        outcome.correct()
        for outcome in outcomes
        if (outcome.trial.condition, outcome.trial.feature) == (condition, feature)
    ]
