"""TRoVe (Varma et al., 2025): static cues that make a temporal model err."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_sdk import (
    Audit,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    hookimpl,
)
from cuescope_trove.options import TRoVeOptions

METRICS = (
    Metric(
        name="trove_score",
        title="TRoVe score",
        meaning="error contribution + static bias, from -1 to 2: how strongly something seen in "
        "single frames makes the model err on this label",
    ),
    Metric(
        name="error_contribution",
        title="Error contribution",
        meaning="accuracy on this label when the cue is never on screen, minus accuracy when it "
        "is (-1 to 1)",
    ),
    Metric(
        name="static_bias",
        title="Static bias",
        meaning="calibrated probability that one frame with the cue, held still, gets the same "
        "wrong answer as its whole sequence (0 to 1); chance is 1 / number of labels",
    ),
)


class TRoVe(Plugin):
    """Clusters still clips, and asks which clusters cost a label its accuracy."""

    title = "TRoVe: static cues that make the model err"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}), may_use=frozenset({"detector"}), labels=2
    )
    metrics = METRICS
    Options = TRoVeOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Clusters of still clips, each of which is one frame repeated."""
        from cuescope_trove.report import note_clusters
        from cuescope_trove.trials import ask, check, cluster, cluster_features

        check(audit, self.options.top_k)
        answers = audit.once(ask, audit)
        choice = cluster(audit, self.options, answers)
        note_clusters(audit, choice)
        yield from cluster_features(choice.clusters, list(answers.row))

    @hookimpl
    def perturb(self, audit: Audit) -> Iterable[Outcome]:
        """The sequences, and each frame held still: proposing asked them to find clusters."""
        from cuescope_trove.trials import ask

        answers = audit.once(ask, audit)
        return [*answers.outcomes, *answers.stills]

    @hookimpl
    def compute_scores(self, audit: Audit, features: Sequence[Feature]) -> Iterable[Score]:
        """Error contribution, static bias and their sum for each (cluster, label)."""
        from cuescope_trove.report import scores

        return scores(audit, self.options, features)

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Annotated cues, a detector's pseudo-labels, and the null."""
        from cuescope_trove.verify import evidence

        yield from evidence(audit, self.options, features, scores)
