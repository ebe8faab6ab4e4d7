"""QUAG (Rawal et al., 2024): does a video-question model fuse its modalities?"""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_quag.options import QUAGOptions
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
    Trial,
    hookimpl,
)

METRICS = (
    Metric(
        name="points_lost",
        title="Points lost",
        meaning="percentage points of accuracy that are lost when this is averaged or left out "
        "(-100 to 100); of balanced accuracy where the head of the report says so. The row of the "
        "verdict shows the loss that decides it",
        unit="points",
        accuracy_cost=True,
    ),
)


class QUAG(Plugin):
    """Averages quadrants of the fusion attention, and asks what that costs the answers."""

    title = "QUAG: does the model fuse video and text?"
    requires = Requirements(
        outputs=frozenset(),
        edits=frozenset({"average-attention"}),
        labels=0,
    )
    finds = "Whether a video-question model needs the video, the question, and both together."
    data_needs = DataNeeds(
        each="data set",
        least=5,
        enough=100,
        enough_for="a verdict in most audits, and 400 in nearly all",
        questions=True,
    )
    metrics = METRICS
    Options = QUAGOptions
    options: QUAGOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The verdict, then all that may be averaged or left out."""
        from cuescope_quag.attention_maps import require_map
        from cuescope_quag.measures import choose_measure, warn_of_few
        from cuescope_quag.scores import Rule
        from cuescope_quag.trials import features, questions
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "quag")
        samples = audit.once(questions, audit)
        require_map(audit, self.options)
        measure = choose_measure(samples)
        warn_of_few(audit, samples, measure, Rule().level)
        yield from features(audit, self.options)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Every question as it is, then under each condition."""
        from cuescope_quag.trials import trials

        return trials(audit, self.options)

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterable[Score]:
        """The verdict, then what each condition costs."""
        from cuescope_quag.attention_maps import attach_maps
        from cuescope_quag.report import report_scores
        from cuescope_quag.trials import collect_answers

        answers = collect_answers(audit, self.options, outcomes)
        yield from report_scores(audit, self.options, answers)
        attach_maps(audit, self.options, answers)

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Theorem 2.1, lemma 2.2, and how far complements are apart."""
        from cuescope_quag.verify import evidence
        from cuescope_sdk.data import independent_samples

        # else another method's audit, which says so itself
        if audit.options is self.options:
            yield from independent_samples(audit)
        yield from evidence(audit, self.options)
