"""Does a remedy for a cue help? Learned on one part of held-out data, measured on the other."""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_mitigation.options import MitigationOptions
from cuescope_sdk import (
    Audit,
    DataNeeds,
    Evidence,
    Feature,
    Metric,
    Plugin,
    Requirements,
    Score,
    hookimpl,
)

METRICS = (
    Metric(
        name="gain",
        title="Accuracy gained",
        meaning="accuracy on the hurt label where the cue is on screen, after the remedy minus "
        "before (-1 to 1), on samples that were not used for fitting",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="gap_after",
        title="Gap left",
        meaning="accuracy on the hurt label without the cue minus with it, after the remedy "
        "(-1 to 1); 0: the cue costs no accuracy any more",
        unit="proportion",
    ),
    Metric(
        name="worst_group_gain",
        title="Worst group",
        meaning="change of the lowest accuracy among all groups of label, with and without this "
        "cue (-1 to 1)",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="groups_gain",
        title="All groups",
        meaning="change of the mean accuracy of all groups of label, with and without this cue, "
        "each of which counts the same (-1 to 1)",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="overall_gain",
        title="All samples",
        meaning="change of the accuracy over all samples (-1 to 1)",
        unit="proportion",
        higher_is_better=True,
    ),
)


class MitigationTrial(Plugin):
    """Fits a mitigator to the cues of a stored run, and measures it beside what knows no cue."""

    title = "Mitigation: does the remedy help, and is it because of the cue?"
    # which samples show a cue is told by their embeddings
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    started_by = "cuescope mitigate RUN --with NAME"
    finds = "Whether a model that has learned to do without a cue does better on held-out samples."
    data_needs = DataNeeds(
        least=12,
        enough=400,
        enough_for="a gain of 25 points where a tenth of a label's samples show the cue",
        choices=2,
    )
    metrics = METRICS
    Options = MitigationOptions
    options: MitigationOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The cues of the run, where they are on screen in the samples to measure on."""
        # imported as they run: a list of plugins must not wait for numpy
        from cuescope_mitigation.folds import prepare, shown_features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "mitigation")
        study = audit.once(prepare, audit, self.options)
        yield from shown_features(study)

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
    ) -> Iterable[Score]:
        """Fit the mitigator and its placebos, and compare the answers."""
        from cuescope_mitigation.folds import parts_of, prepare, try_remedy
        from cuescope_mitigation.report import scores, scores_of_failure

        study = audit.once(prepare, audit, self.options)
        comparison = audit.once(try_remedy, study)
        if comparison is None:
            return list(scores_of_failure(parts_of(study)))
        return list(scores(comparison))

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Check the gain against each control."""
        from cuescope_mitigation.folds import prepare, try_remedy
        from cuescope_mitigation.verify import evidence
        from cuescope_sdk.data import independent_samples

        # another method's audit has nothing to compare
        if audit.options is not self.options:
            return
        yield from independent_samples(audit)
        study = audit.once(prepare, audit, self.options)
        comparison = audit.once(try_remedy, study)
        if comparison is not None:
            with audit.spare("checks of the remedy"):
                yield from evidence(comparison)
