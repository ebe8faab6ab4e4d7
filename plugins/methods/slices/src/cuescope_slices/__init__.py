"""Slice discovery made for single pictures, on clips: TRoVe's rivals, and two simple orders."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import ClassVar

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
from cuescope_slices.options import (
    ConfidenceOptions,
    DistillingFailuresOptions,
    DominoOptions,
    GeorgeOptions,
    RandomOptions,
)

METRICS = (
    Metric(
        name="slice_value",
        title="Slice value",
        meaning="what the method ranks its slices by, for this label, in units of its own",
    ),
    Metric(
        name="accuracy_lost",
        title="Accuracy lost",
        meaning="accuracy on this label outside the slice, minus accuracy inside (-1 to 1)",
        unit="proportion",
        accuracy_cost=True,
    ),
)


class Slices(Plugin):
    """What the five methods share: what they ask, and how their slices are tested."""

    name: ClassVar[str]
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    # of single pictures, whose still clip is the sample itself (docs/logs.md)
    reads_recorded = True
    data_needs = DataNeeds(
        least=6,
        enough=100,
        enough_for="a slice of a quarter of a label's clips that costs it 60 points of accuracy",
        choices=2,
    )
    no_effect = 0.0
    metrics = METRICS

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature a slice."""
        from cuescope_sdk.data import require_data
        from cuescope_slices.trials import features, rank

        require_data(audit, self.data_needs, self.name)
        audit.require_closed_labels(self.name)
        yield from features(audit.once(rank, audit, self.name, self.options))

    @hookimpl
    def perturb(self, audit: Audit) -> Iterable[Outcome]:
        """The sequences, and each frame held still: proposing asked them."""
        from cuescope_sdk.stills import Answers

        answers = audit.once(Answers.ask, audit)
        return chain(answers.outcomes, answers.stills)

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
    ) -> Iterable[Score]:
        """The method's value of each slice, and the accuracy lost in it."""
        from cuescope_slices.report import scores

        return list(scores(audit, self.name, self.options, features))

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Other explanations of what was found."""
        from cuescope_sdk.data import independent_samples, other_explanations
        from cuescope_sdk.locating import attach_portraits
        from cuescope_slices.verify import comparisons, sides_by_feature

        if audit.options is self.options:  # else another method's audit
            yield from independent_samples(audit)
            sides = sides_by_feature(audit, self.name, self.options, features)
            attach_portraits(audit, features, scores, sides)
            about = audit, self.name, self.options, features, scores
            yield from other_explanations(audit, list(comparisons(*about)))


class Domino(Slices):
    """A mixture over embedding, label and prediction (Eyuboglu et al., 2022)."""

    name = "domino"
    title = "Domino: slices of embedding, label and prediction"
    finds = "Groups of similar samples whose label the model misses together."
    Options = DominoOptions


class George(Slices):
    """Clusters of each class, their number chosen by silhouette (Sohoni et al., 2020)."""

    name = "george"
    title = "George: hidden subclasses"
    finds = "Subclasses within a label on which the model errs more than on others."
    Options = GeorgeOptions


class DistillingFailures(Slices):
    """A linear SVM per class separates right from wrong (Jain et al., 2023)."""

    name = "distilling-failures"
    title = "Distilling Failures: the direction of a class's errors"
    finds = "The direction in the embeddings along which a label's errors lie."
    Options = DistillingFailuresOptions


class Confidence(Slices):
    """Frames by the highest probability of their still clip (Li et al., 2023)."""

    name = "confidence"
    title = "Confidence: frames that decide by themselves"
    finds = "Single frames of which a video model is already sure."
    Options = ConfidenceOptions


class Random(Slices):
    """Frames in random order."""

    name = "random"
    title = "Random: the order that any ranking must beat"
    finds = "Nothing: it shows what a ranking by chance would look like."
    is_control = True  # `cuescope investigate` leaves it out
    Options = RandomOptions


__all__ = ["Confidence", "DistillingFailures", "Domino", "George", "Random"]
