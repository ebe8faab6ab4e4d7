"""TRoVe (Varma et al., 2025): static cues that go with a temporal model's errors."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from cuescope_sdk import (
    Audit,
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
from cuescope_sdk.tools import NAMER
from cuescope_trove.options import TRoVeOptions

METRICS = (
    Metric(
        name="trove_score",
        title="TRoVe score",
        meaning="error contribution + static bias, from -1 to 2: how strongly something seen in "
        "single frames correlates with errors on this label",
    ),
    Metric(
        name="error_contribution",
        title="Error contribution",
        meaning="accuracy on this label when the cue is never on screen, minus accuracy when it "
        "is (-1 to 1); of a cue as the model of its effects estimates it",
        unit="proportion",
        accuracy_cost=True,
    ),
    Metric(
        name="static_bias",
        title="Static bias",
        meaning="calibrated probability that one still frame with the cue gets the same wrong "
        "answer as its whole sequence (0 to 1); chance is 1 / number of labels",
        unit="proportion",
    ),
)


class TRoVe(Plugin):
    """Recognises what samples with a wrong answer share, and asks what it costs each label."""

    title = "TRoVe: static cues that correlate with errors"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}),
        may_use=frozenset({"detector", "namer"}),
        roles=(NAMER,),
        labels=2,
    )
    finds = "Things in single frames that correlate with a video model's errors."
    data_needs = DataNeeds(
        least=6,
        enough=60,
        enough_for="a cue in a quarter of a label's clips that costs it 70 points of accuracy",
        choices=2,
    )
    no_effect = 0.0
    metrics = METRICS
    Options = TRoVeOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Cues that draw an answer, or in the paper's way groups of still clips that look alike."""
        # imported in the hooks: `cuescope plugins list` must not pay for numpy and scipy
        from cuescope_sdk.data import require_data
        from cuescope_sdk.stills import Answers
        from cuescope_trove.analysis import analyse
        from cuescope_trove.naming import candidate_guesses
        from cuescope_trove.power import note_plan
        from cuescope_trove.report import note_candidates
        from cuescope_trove.trials import candidate_features, check

        require_data(audit, self.data_needs, "trove")
        check(audit, self.options)
        # before anything is asked: a plan has no answers to plant a cue in
        if audit.context.planning:
            note_plan(audit, self.options)
        answers = audit.once(Answers.ask, audit)
        analysis = audit.once(analyse, audit, self.options)
        note_candidates(audit, analysis)
        guesses = candidate_guesses(audit, analysis.candidates, answers)
        yield from candidate_features(analysis.candidates, list(answers.row), guesses)

    @hookimpl
    def perturb(self, audit: Audit) -> Iterable[Outcome]:
        """The sequences, and each frame held still: proposing asked them to find clusters."""
        from cuescope_sdk.stills import Answers

        answers = audit.once(Answers.ask, audit)
        return chain(answers.outcomes, answers.stills)

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
    ) -> Iterable[Score]:
        """Error contribution, static bias and their sum for each (cluster, label)."""
        from cuescope_trove.figures import contrasts
        from cuescope_trove.report import findings, scores

        rows = list(scores(audit, self.options, features))
        for found in findings(audit, self.options, features):
            audit.attach(found)
        for shown in contrasts(audit, features, rows):
            audit.attach(shown)
        return rows

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Annotated cues, a detector's pseudo-labels, and the null."""
        from cuescope_sdk.data import independent_samples
        from cuescope_sdk.locating import attach_portraits
        from cuescope_trove.verify import evidence

        # else another method's audit, which says so itself
        if audit.options is self.options:
            yield from independent_samples(audit, place_is_held=True)
            attach_portraits(audit, features, scores)
        yield from evidence(audit, self.options, features, scores)
