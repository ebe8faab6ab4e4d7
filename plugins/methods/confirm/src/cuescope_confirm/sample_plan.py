"""How many samples show the findings, and how large an effect the tests tell."""

from dataclasses import dataclass, replace

from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import Results, rarest_finding
from cuescope_confirm.study import prepare
from cuescope_confirm.trials import merged
from cuescope_sdk import Audit
from cuescope_sdk.report import count_of

POWER_NOTE = "power"  # the note that holds the plan
POWER = 0.8  # of a test, as is customary (Cohen, 1988)
OF_FEW = "`--folds 4` makes the run four times, and tests on all samples"


@dataclass(frozen=True)
class SamplePlan:
    """The held-out samples that are expected to show the rarest finding."""

    held: int
    rarest: str | None  # None where no finding says where it occurs
    expected: int
    changed: int  # by each intervention at most
    in_folds: bool

    @property
    def is_enough(self) -> bool:
        """Whether as many are expected as an intervention changes."""
        return self.rarest is not None and self.expected >= self.changed

    @property
    def sentence(self) -> str:
        """What is expected, and what gives more where it is too little.

        The last word is "enough" where it is: readers of a report know it by that.
        """
        if self.rarest is None:
            return (
                f"each intervention changes {count_of(self.changed, 'samples')} at most"
            )
        words = (
            f"of the {self.held:,} held-out samples about {self.expected} are expected to show "
            f"'{self.rarest}', the rarest finding, and each intervention changes {self.changed} at "
            "most: "
        )
        if self.is_enough:
            return words + "enough"
        # of folds all samples are held out, and no more can be had
        more = "" if self.in_folds else f"; {OF_FEW}"
        return f"{words}fewer than could be changed{more}"


def plan_samples(audit: Audit, options: ConfirmOptions) -> SamplePlan | None:
    """The plan of the merged cues; None without a cue, and where the user's own pairs decide."""
    study = audit.once(prepare, audit, options)
    cues = audit.once(merged, study)
    if not cues or options.pairs is not None:
        return None
    expected, rarest = rarest_finding(replace(study, cues=cues)) or (0, None)
    return SamplePlan(
        held=len(study.held),
        rarest=rarest,
        expected=expected,
        changed=options.samples,
        in_folds=bool(study.folds),
    )


def power(results: Results) -> str | None:
    """The effect that is told in 8 of 10 tests like the widest of these; None of no test."""
    options = results.study.options
    limits = options.margin, options.confidence, POWER
    least = [
        (row.posterior.least_told(*limits), results.name_of(row))
        for row in results.rows
        if row.posterior is not None
    ]
    if not least:
        return None
    effect, name = max(least)
    told = f"an effect of {100 * effect:.0f} points or more is told"
    if effect > 1:
        told = "not even an effect of 100 points is told"
    words = f"{told} in 8 of 10 such tests"
    return (
        words if len(least) == 1 else f"{words} ('{name}', and less of the other cues)"
    )
