"""A cue that a person gives: recognised in every sample, and what it changes for each label."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_cue.options import CueOptions
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

METRICS = (
    Metric(
        name="accuracy_lost",
        title="Accuracy lost",
        meaning="accuracy on this label without the cue minus accuracy with it (-1 to 1), as a "
        "hierarchical logistic model over all labels estimates both",
        unit="proportion",
        accuracy_cost=True,
    ),
)


class GivenCue(Plugin):
    """Measures the cues of files that `cuescope cue make` wrote."""

    title = "Given cues: what they change"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    finds = "How often each label is correct with a cue that you give, and without it."
    data_needs = DataNeeds(
        least=6,
        enough=60,
        enough_for="a cue in a quarter of a label's samples that costs it 70 points of accuracy",
        choices=2,
    )
    is_control = True  # `cuescope investigate` leaves it out: it looks for no cue
    no_effect = 0.0
    metrics = METRICS
    Options = CueOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature a cue: the samples that likely show it."""
        # imported in the hooks: `cuescope plugins list` must not pay for numpy and scipy
        from cuescope_cue.report import feature_of
        from cuescope_cue.scores import analyse
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "cue")
        audit.require_closed_labels("cue")
        for measured in audit.once(analyse, audit, self.options).cues:
            yield feature_of(measured)

    @hookimpl
    def perturb(self, audit: Audit) -> Iterable[Outcome]:
        """The samples as they are: proposing asked them."""
        from cuescope_sdk.cues import Embedded

        return audit.once(Embedded.ask, audit).outcomes

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature]
    ) -> Iterable[Score]:
        """Accuracy lost with each cue, a row a label."""
        from cuescope_cue.report import scores
        from cuescope_cue.scores import analyse

        return list(
            scores(audit, self.options, audit.once(analyse, audit, self.options))
        )

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """How well each cue is recognised, and whether annotations agree."""
        from cuescope_cue.scores import analyse
        from cuescope_cue.verify import evidence
        from cuescope_sdk.data import independent_samples

        if audit.options is self.options:  # else another method's audit
            yield from independent_samples(audit)
            yield from evidence(audit, audit.once(analyse, audit, self.options))


__all__ = ["GivenCue"]
