"""Does the cue cause the answer? Interventions beside controls, on samples that were held out."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cuescope_confirm.options import ConfirmOptions
from cuescope_sdk import (
    Audit,
    Capabilities,
    DataNeeds,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    hookimpl,
)

if TYPE_CHECKING:
    from cuescope_confirm.scores import Results

METRICS = (
    Metric(
        name="effect",
        title="Effect on the answer",
        meaning="how far the cue moves the mean probability of the answer, in the direction of a "
        "cause (-1 to 1; 0.1 is 10 points of probability): by one dose-response model of all "
        "interventions, controls and unchanged samples. n is how many samples an intervention "
        "changed at most, q the share of false ones expected among verdicts at least as sure",
        unit="proportion",
    ),
    Metric(
        name="probability",
        title="Probability of a cause",
        meaning="that the cue moves the probability of the answer by more than the margin (0 to 1),"
        " by the same model",
        unit="proportion",
    ),
    Metric(
        name="accuracy_lost",
        title="Accuracy lost",
        meaning="share of all samples that are wrong because of the cue (-1 to 1; below 0: it "
        "helps): the accuracy lost where the cue is, times the share of samples that show it",
        unit="proportion",
        accuracy_cost=True,
    ),
    Metric(
        name="localisation",
        title="Localisation",
        meaning="AUROC of the localiser, the model that tells which samples show the cue and "
        "where, on samples of the run that it was not fitted to (0.5 is chance)",
        higher_is_better=True,
    ),
)


class Confirm(Plugin):
    """Locates each cue of a run, takes it out and puts it in, beside controls."""

    title = "Confirm: does the cue cause the answer?"
    requires = Requirements(
        outputs=frozenset(),
        may_use=frozenset({"detector", "segmenter", "image-editor", "embedder"}),
        labels=0,
    )
    started_by = "cuescope confirm RUN"
    finds = "Whether a cue that was found causes the answer."
    data_needs = DataNeeds(
        each="data set",
        least=20,
        enough=400,
        enough_for="an effect of 25 points where a tenth of the samples show the cue",
    )
    metrics = METRICS
    Options = ConfirmOptions
    options: ConfirmOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The cues where they are in the held-out samples."""
        # imported as they run: a list of plugins must not wait for scipy
        from cuescope_confirm.sample_plan import POWER_NOTE, plan_samples
        from cuescope_confirm.trials import features, gather
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "confirm")
        plan = audit.once(plan_samples, audit, self.options)
        if plan is not None:
            audit.note(POWER_NOTE, plan.sentence)
            # a plan shows no notes
            if audit.context.planning:
                audit.context.announce(plan.sentence)
        yield from features(audit.once(gather, audit, self.options))

    @staticmethod
    def refuses(capabilities: Capabilities) -> str | None:
        """Why a model cannot be tested: it repeats what it answered once."""
        if "recorded" in capabilities.exposes:
            return "answers that were recorded before, and the test asks about changed samples"
        return None

    @hookimpl
    def perturb(
        self,
        audit: Audit,
        features: Sequence[Feature],
    ) -> Sequence[Outcome]:
        """Each sample as it is, changed, and with the control."""
        from cuescope_confirm.trials import ask, gather

        gathered = audit.once(gather, audit, self.options)
        _, outcomes = audit.once(ask, gathered)
        return outcomes

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterable[Score]:
        """The verdicts."""
        from cuescope_confirm.figures import contrasts
        from cuescope_confirm.merging.sources import sources
        from cuescope_confirm.reasoning import say_do_gap
        from cuescope_confirm.report import findings, scores
        from cuescope_confirm.sample_plan import plan_samples

        results = audit.once(_results, audit, self.options, outcomes)
        plan = audit.once(plan_samples, audit, self.options)
        rows = list(scores(results, plan))
        parts = {
            "findings": findings,
            "say-do gap": say_do_gap,
            "tables of what found the cues": sources,
            "pictures of what was changed": contrasts,
        }
        audit.attach_each(
            {part: partial(make, results) for part, make in parts.items()}
        )
        return rows

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Where the cues are, beside what was planted, and how they look there."""
        from cuescope_confirm.verify import evidence
        from cuescope_sdk.data import independent_samples
        from cuescope_sdk.locating import attach_portraits

        # another method's audit has no interventions
        if audit.options is not self.options:
            return
        yield from independent_samples(audit)
        results = audit.once(_results, audit, self.options, audit.outcomes)
        cues = [row.target.cue for row in results.rows]
        # where it was found all samples with it are listed, and here those that are surely with it
        sights = {cue.feature.key: cue.sight for cue in cues if cue.sight is not None}
        attach_portraits(audit, features, scores, guess=False, sights=sights)
        with audit.spare("checks of places"):
            yield from evidence(results)


def _results(
    audit: Audit,
    options: ConfirmOptions,
    outcomes: Sequence[Outcome],
) -> "Results":
    from cuescope_confirm.scores import measure
    from cuescope_confirm.trials import ask, gather, with_answers

    experiment, _ = audit.once(ask, audit.once(gather, audit, options))
    return measure(with_answers(experiment, outcomes))
