"""Region reliance: parts of the picture that right answers need."""

from collections.abc import Iterator, Sequence

import cuescope_sdk as sdk
from cuescope_region_reliance.options import RegionRelianceOptions
from cuescope_region_reliance.report import score_rows
from cuescope_region_reliance.scores import losses
from cuescope_region_reliance.trials import candidates, trials
from cuescope_region_reliance.verify import annotated_cues


class RegionReliance(sdk.Plugin):
    """Hides each quarter of the frames; where right answers get lost, the model needs it."""

    title = "Region reliance: parts of the picture that right answers need"
    requires = sdk.Requirements(outputs=frozenset({"logits"}))
    metrics = (
        sdk.Metric(name="loss", title="Loss", meaning="accuracy lost by hiding it"),
    )
    Options = RegionRelianceOptions
    options: RegionRelianceOptions

    @sdk.hookimpl
    def propose_features(self, audit: sdk.Audit) -> Iterator[sdk.Feature]:
        """The candidates: the four quarters."""
        return candidates(audit.samples)

    @sdk.hookimpl
    def perturb(
        self, audit: sdk.Audit, features: Sequence[sdk.Feature]
    ) -> Iterator[sdk.Trial]:
        """What the model is shown: each sample as it is, then without each quarter."""
        return trials(audit.samples, features)

    @sdk.hookimpl
    def compute_scores(
        self,
        audit: sdk.Audit,
        features: Sequence[sdk.Feature],
        outcomes: Sequence[sdk.Outcome],
    ) -> list[sdk.Score]:
        """Accuracy lost by hiding each quarter, with an interval, a null and a correction."""
        return score_rows(audit.once(losses, audit), self.options)

    @sdk.hookimpl
    def verify(
        self,
        audit: sdk.Audit,
        features: Sequence[sdk.Feature],
        scores: Sequence[sdk.Score],
    ) -> Iterator[sdk.Evidence]:
        """Is an annotated cue in the samples that hiding spoils, more often than elsewhere?"""
        return annotated_cues(audit, scores)
