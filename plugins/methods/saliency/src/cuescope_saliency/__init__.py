"""Saliency maps of CLIP models: eleven explainers on stock models, as one method."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cuescope_saliency.options import EXPLAINERS, Explainer, SaliencyOptions, Settings
from cuescope_sdk import (
    AnnotationNeed,
    Audit,
    DataNeeds,
    Evidence,
    Feature,
    Frame,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Sample,
    Score,
    Trial,
    hookimpl,
)

METRICS = (
    Metric(
        name="background_lean",
        title="Reliance on background",
        meaning="share of the map's importance on the background, minus the background's share of "
        "the picture (-1 to 1): above 0 the map lies beside the object, below 0 on it",
        unit="proportion",
    ),
    Metric(
        name="foreground_share",
        title="On foreground",
        meaning="share of the map's importance on the annotated foreground (0 to 1)",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="iou",
        title="IoU",
        meaning="overlap of the foreground with as many of the map's most important pixels "
        "(0: apart, 1: the same)",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="accuracy",
        title="Accuracy",
        meaning="share of these images that the model gets right",
        unit="proportion",
        higher_is_better=True,
    ),
)


class Saliency(Plugin):
    """Importance maps for the predicted class, the true class or any text, against the masks."""

    title = "Saliency: where in the image a CLIP model looks"
    requires = Requirements(
        outputs=frozenset({"logits"}),
        exposes=frozenset({"image-tower"}),
        labels=1,
    )
    finds = "Classes whose importance maps lie on the background instead of the object."
    data_needs = DataNeeds(
        least=2,
        enough=12,
        enough_for="maps that lie on the background by 20% more than its size explains",
        choices=2,
        annotation=AnnotationNeed(
            key="foreground",
            name="masks of the objects",
            how="Name mask files in a manifest (folder: a column 'mask')",
            unless="maps_only",
        ),
    )
    no_effect = 0.0
    metrics = METRICS
    Options = SaliencyOptions
    options: SaliencyOptions

    def maps(
        self,
        audit: Audit,
        samples: Sequence[Sample],
        choices: Sequence[str],
    ) -> Iterator[np.ndarray]:
        """One importance map (row, col) a canvas sample, for the text beside it."""
        # imported in the hooks: `cuescope plugins list` must not pay for torch
        from cuescope_saliency.trials import map_trials

        for outcome in audit.respond(map_trials(audit, self.options, samples, choices)):
            importance = outcome.response.readout
            if importance is not None:
                yield importance

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """One feature for each text that is explained."""
        from cuescope_saliency.trials import features
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "saliency")
        # of an image: its answer, its map, its mask drawn
        audit.expect_more(3 * len(audit.samples))
        yield from features(audit, self.options)

    @hookimpl
    def perturb(self, audit: Audit) -> list[Trial]:
        """A readout of each image."""
        from cuescope_saliency.trials import trials

        return trials(audit, self.options)

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        outcomes: Sequence[Outcome],
    ) -> Iterable[Score]:
        """Where each text's maps lie, against the annotated foreground."""
        from cuescope_saliency.figures import contrasts
        from cuescope_saliency.report import report_scores
        from cuescope_saliency.trials import explained_images

        images = audit.once(explained_images, audit, self.options, outcomes)
        ranked = list(report_scores(audit, self.options, images))
        for contrast in contrasts(images, ranked):
            audit.attach(contrast)
        return ranked

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        """The pictures."""
        from cuescope_saliency.verify import attach_maps
        from cuescope_sdk.data import independent_samples

        # else another method's audit, which says so itself
        if audit.options is self.options:
            yield from independent_samples(audit)
        attach_maps(audit, self.options)


def explain(
    model: Any,
    frame: Frame,
    text: str,
    explainer: Explainer = "grad-eclip",
    settings: Settings | None = None,
    choices: Sequence[str] = (),
) -> np.ndarray:
    """How important each place of an image is for its similarity to a text: a map (row, col).

    `model` is any with an image tower (`Context().build("model", "open-clip:ViT-B-16/openai")`).
    `choices` are the labels that the text is one of: clip-surgery and rise compare it with them.
    """
    from cuescope_saliency.explainers.explanation import explain as explain_frame

    return explain_frame(model, frame, text, explainer, settings, choices)


__all__ = ["EXPLAINERS", "Explainer", "Saliency", "Settings", "explain"]
