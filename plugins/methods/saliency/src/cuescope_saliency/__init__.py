"""Saliency maps of CLIP models: eleven explainers on stock models, as one method."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_saliency.settings import EXPLAINERS, Explainer, Settings
from cuescope_sdk import (
    Audit,
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

if TYPE_CHECKING:
    import numpy as np

METRICS = (
    Metric(
        name="background_lean",
        title="Lean on background",
        meaning="share of the map's importance on the background, minus the background's share of "
        "the picture (-1 to 1): above 0 the model looks past the object, below 0 at it",
    ),
    Metric(
        name="foreground_share",
        title="On foreground",
        meaning="share of the map's importance on the annotated foreground (0 to 1)",
    ),
    Metric(
        name="iou",
        title="IoU",
        meaning="overlap of the foreground with as many of the map's most important pixels "
        "(0: apart, 1: the same)",
    ),
    Metric(
        name="accuracy", title="Accuracy", meaning="share of these images that the model gets right"
    ),
)


class Saliency(Plugin):
    """Importance maps for the predicted class, the true class or any text, against the masks."""

    title = "Saliency: where in the image a CLIP model looks"
    requires = Requirements(
        outputs=frozenset({"logits"}), exposes=frozenset({"image-tower"}), labels=1
    )
    metrics = METRICS

    class Options(Settings):
        """The explainer, what it explains, and the rule of a finding; the rest are settings."""

        argument: ClassVar[str | None] = "explainer"

        explainer: Explainer = Field(
            "grad-eclip", description=f"which explainer draws the maps: {', '.join(EXPLAINERS)}"
        )
        target: Literal["predicted", "true"] = Field(
            "predicted", description="which label's text is explained in each image"
        )
        text: str | None = Field(
            None, min_length=1, description="explain this text in every image instead"
        )
        min_lean: float = Field(
            0.0, ge=0, le=1, description="a finding leans on the background by more than this"
        )
        fdr: float = Field(0.05, gt=0, le=1, description="false discovery rate over all texts")
        confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
        faithfulness: NonNegativeInt = Field(
            24, description="images of the deletion and insertion check; 0 leaves it out"
        )
        steps: PositiveInt = Field(
            20, description="steps of that check over half of the pixels (CCI's paper: 100)"
        )
        pictures: NonNegativeInt = Field(4, description="images shown with their maps")

    options: "Saliency.Options"

    def maps(
        self, audit: Audit, samples: Sequence[Sample], choices: Sequence[str]
    ) -> "Iterator[np.ndarray]":
        """One importance map (row, col) a canvas sample, for the text beside it."""
        from cuescope_saliency.observing import map_trials

        for outcome in audit.respond(map_trials(audit, self.options, samples, choices)):
            reading = outcome.response.readout
            if reading is not None:
                yield reading

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """One feature for each text that is explained."""
        from cuescope_saliency.observing import propose

        yield from propose(audit, self.options)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> list[Trial]:
        """A reading of each image."""
        from cuescope_saliency.observing import trials

        return trials(audit, self.options)

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """Where each text's maps lie, against the annotated foreground."""
        from cuescope_saliency.observing import explained
        from cuescope_saliency.scoring import scores

        return scores(audit, self.options, explained(audit, self.options, outcomes))

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Deletion and insertion; and the pictures."""
        from cuescope_saliency.showing import show_examples
        from cuescope_sdk.explain import measure_faithfulness

        options = self.options
        yield from measure_faithfulness(
            audit, self, options.explainer, images=options.faithfulness, steps=options.steps
        )
        show_examples(audit, options)


def explain(
    model: Any,
    frame: Frame,
    text: str,
    explainer: Explainer = "grad-eclip",
    settings: Settings | None = None,
) -> "np.ndarray":
    """How important each place of an image is for its similarity to a text: a map (row, col).

    `model` is any with an image tower (`Context().build("model", "open-clip:ViT-B-16/openai")`).
    """
    from cuescope_saliency.explanation import explain as run

    return run(model, frame, text, explainer, settings)


__all__ = ["EXPLAINERS", "Explainer", "Saliency", "Settings", "explain"]
