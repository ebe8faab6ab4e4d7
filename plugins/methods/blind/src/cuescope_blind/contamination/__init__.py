"""Whether answers that were right in public stay when the picture, and the right answer, change."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_sdk import (
    AnnotationNeed,
    Audit,
    DataNeeds,
    Feature,
    FindingOptions,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    hookimpl,
)


class Contamination(Plugin):
    """Asks about pairs: an original, and a changed picture with another right answer.

    After the multi-modal semantic perturbation of Park et al. (ICLR 2026). Deviates: pairs are the
    user's own, and a kept answer counts beyond the other wrong options, not by lost accuracy alone,
    which a picture that is merely harder costs too.
    """

    title = "Contamination: are old answers kept?"
    finds = "Whether a model keeps the published answer where the picture was changed."
    requires = Requirements(labels=0)
    data_needs = DataNeeds(
        each="data set",
        least=10,
        enough=100,
        enough_for="the old answer in 20 of 100 pairs",
        choices=3,
        annotation=AnnotationNeed(
            key="original",
            name="pairs",
            how="a column 'original': of a changed picture the key of the published one",
        ),
    )
    no_effect = 0.0
    metrics = (
        Metric(
            name="kept",
            title="Old answer kept",
            meaning="share of changed pictures with the old answer, minus that of each other wrong "
            "one (-1 to 1)",
            unit="proportion",
        ),
        Metric(
            name="lost",
            title="Lost",
            meaning="accuracy of the originals, minus that of the changed pictures (-1 to 1)",
            unit="proportion",
        ),
    )
    Options = FindingOptions
    options: FindingOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The old answer, as it is kept of changed pictures and of those of other questions."""
        # late: scipy is not loaded to list plugins (docs/adr/0002)
        from cuescope_blind.contamination.report import features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "contamination")
        yield from features(audit)

    @hookimpl
    def perturb(self, audit: Audit) -> Sequence[Outcome]:
        """Originals, changed pictures, and the pictures of other pairs."""
        from cuescope_blind.contamination.trials import ask

        return audit.once(ask, audit)

    @hookimpl
    def compute_scores(self, audit: Audit) -> Iterable[Score]:
        """How often the old answer is kept, beside the other wrong ones."""
        from cuescope_blind.contamination.report import scores

        return list(scores(audit))


__all__ = ["Contamination"]
