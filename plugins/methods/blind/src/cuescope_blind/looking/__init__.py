"""What a model needs to see: its answers without the video, with another, and in another order."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_blind.looking.options import LookingOptions
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


class Looking(Plugin):
    """Asks the same questions without the video, with a wrong one, in parts and in other orders."""

    title = "Looking: what a model needs to see"
    finds = "Questions that a model answers without looking, and whether order matters to it."
    requires = Requirements(labels=0)
    data_needs = DataNeeds(
        each="data set",
        least=20,
        enough=400,
        enough_for="an accuracy 10 points above guessing",
        choices=2,
    )
    metrics = (
        Metric(
            name="beyond_guessing",
            title="Beyond guessing",
            meaning="accuracy so asked, minus chance level; of turned options the share of "
            "answers that change (-1 to 1)",
            unit="proportion",
        ),
        Metric(
            name="lost",
            title="Lost",
            meaning="accuracy as it is, minus accuracy so asked, of the same questions (-1 to 1)",
            unit="proportion",
        ),
    )
    Options = LookingOptions
    options: LookingOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature a way to ask; a finding has the questions that it is about."""
        # late: scipy is not loaded to list plugins (docs/adr/0002)
        from cuescope_blind.looking.report import features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "looking")
        yield from features(audit)

    @hookimpl
    def perturb(self, audit: Audit) -> Sequence[Outcome]:
        """Each question as it is, and in every other way: asked when features were proposed."""
        from cuescope_blind.looking.trials import ask

        return audit.once(ask, audit)

    @hookimpl
    def compute_scores(self, audit: Audit) -> Iterable[Score]:
        """Accuracy of each way, beside guessing and beside the question as it is."""
        from cuescope_blind.looking.report import findings, scores

        for found in findings(audit):
            audit.attach(found)
        return list(scores(audit))

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        """Whether a wrong video is as good as none."""
        from cuescope_blind.looking.verify import evidence

        if audit.options is self.options:  # else another method's audit
            yield from evidence(audit)


__all__ = ["Looking", "LookingOptions"]
