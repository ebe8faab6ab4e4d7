"""How many samples the tests need, and whether the held-out ones are enough."""

from dataclasses import dataclass, replace

from cuescope_confirm.analysis import Results, rarest_finding
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import samples_needed
from cuescope_confirm.study import prepare
from cuescope_confirm.trials import interventions, merged
from cuescope_sdk import Audit
from cuescope_sdk.report import count_of

POWER_NOTE = "power"  # the note that holds the plan
SHOWN_EFFECT = 0.25  # that enough samples would show
OF_FEW = "`--folds 4` makes the run four times, and tests on all samples"


@dataclass(frozen=True)
class SamplePlan:
    """The samples that show an effect of `SHOWN_EFFECT`, and those of the rarest finding."""

    tests: int
    needed: int  # that show the cue and can be changed
    held: int
    # the finding in the fewest samples; None where none says where it occurs
    rarest: str | None
    expected: int  # held-out samples that show it, probably
    in_folds: bool

    @property
    def is_enough(self) -> bool:
        """Whether the rarest finding probably has the samples that are needed."""
        return self.rarest is not None and self.expected >= self.needed

    @property
    def sentence(self) -> str:
        """What is needed, what there is, and what gives more where it is too little.

        The last word is "enough" where it is: readers of a report know it by that.
        """
        # of folds all samples are held out, and no more can be had
        if self.rarest is None or self.is_enough or self.in_folds:
            return self._judgement
        return f"{self._judgement}; {OF_FEW}"

    def sentence_when_decided(self, results: Results) -> str:
        """The same when verdicts are known: a rarest finding that is decided needs no more."""
        if self.is_enough:
            return self.sentence
        cues = tuple(row.target.cue for row in results.rows)
        rarest = rarest_finding(replace(results.study, cues=cues))
        if rarest is None:
            return self.sentence
        _, name = rarest
        undecided = [row for row in results.rows if row.ruling.verdict == "cannot tell"]
        if name in {row.target.cue.name for row in undecided}:
            return self.sentence
        return f"{self._judgement}. It was decided all the same"

    @property
    def _judgement(self) -> str:
        words = (
            f"an effect of {100 * SHOWN_EFFECT:.0f} points is found in 8 of 10 tests with "
            f"{count_of(self.needed, 'samples')} that show the cue and can be changed "
            "(corrected for up to "
            f"{self.tests} tests)"
        )
        if self.rarest is None:
            return words
        words += (
            f". Of the {self.held:,} held-out samples, about {self.expected} are expected to show "
            f"'{self.rarest}', the rarest finding, with a label that it is about: "
        )
        if self.is_enough:
            return words + "enough"
        return words + "too few for such an effect, though larger ones need fewer"


def plan_samples(audit: Audit, options: ConfirmOptions) -> SamplePlan | None:
    """The plan of the merged cues; None without a cue, and where the user's own pairs decide."""
    kinds = audit.once(interventions, audit, options)
    study = audit.once(prepare, audit, options)
    cues = audit.once(merged, study)
    if not cues or options.pairs is not None:
        return None
    # every cue times every kind of change: Holm's first step pays for all of them
    tests = len(cues) * len(kinds)
    # merged cues are fewer tests, so fewer samples are enough
    expected, rarest = rarest_finding(replace(study, cues=cues)) or (0, None)
    return SamplePlan(
        tests=tests,
        needed=samples_needed(SHOWN_EFFECT, tests, level=1 - options.confidence),
        held=len(study.held),
        rarest=rarest,
        expected=expected,
        in_folds=bool(study.folds),
    )
