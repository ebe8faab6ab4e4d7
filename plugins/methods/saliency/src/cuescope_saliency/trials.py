"""Which text is explained in which image, and the maps beside the masks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from cuescope_saliency.explainers.explanation import Explanation
from cuescope_saliency.options import SaliencyOptions
from cuescope_sdk import Audit, Feature, Occurrence, Outcome, Sample, Trial, UserError
from cuescope_sdk.data import warn_of_weak_data
from cuescope_sdk.explain import Canvas, foreground_of
from cuescope_sdk.maths import energy_share, upsample

Map = Float[np.ndarray, "row col"]
Mask = Bool[np.ndarray, "row col"]


@dataclass(frozen=True)
class Image:
    """One image with what the model answers, what it is shown of it, and the text explained."""

    outcome: Outcome
    canvas: Sample
    text: str

    @property
    def sample(self) -> Sample:
        """The sample of the data set."""
        return self.outcome.trial.sample

    @property
    def is_right(self) -> bool:
        """Whether the model's answer is the label."""
        return self.outcome.prediction == self.sample.label


@dataclass(frozen=True)
class ExplainedImage(Image):
    """With its map for the text, in [0, 1], (row, col) of the canvas.

    `foreground` is None where no mask is annotated.
    """

    importance: Map
    foreground: Mask | None

    @property
    def usable_mask(self) -> Mask | None:
        """The mask; None where it is empty or whole, which leaves nothing to compare with."""
        mask = self.foreground
        return None if mask is None or mask.all() or not mask.any() else mask

    @property
    def foreground_share(self) -> float:
        """Share of the importance on the object; 0 without a mask."""
        if self.foreground is None:
            return 0.0
        return energy_share(self.importance, self.foreground)

    @property
    def lean(self) -> float | None:
        """Share of the map on the background, less its share of the picture; None if unknown."""
        if self.usable_mask is None:
            return None
        return float(self.usable_mask.mean() - self.foreground_share)


Images = Sequence[ExplainedImage]


def list_images(audit: Audit, options: SaliencyOptions) -> list[Image]:
    """The images by key. Raises UserError for a sequence of frames, or where a label lacks."""
    # so that the report does not depend on the order in which the data comes
    samples = audit.samples_by_key()
    if audit.options is options and all(
        foreground_of(sample) is None for sample in samples
    ):
        warn_of_weak_data(
            audit,
            "saliency: the data has no foreground masks, so reliance on the background cannot be "
            "tested: the maps are drawn, and no cue can be found. Add annotations['foreground']",
        )
    # as the network sees them: maps and masks must have the same crop
    canvases = Canvas.samples(audit, samples)
    outcomes = audit.respond(Trial(sample=sample) for sample in samples)
    return [
        Image(outcome, canvas, text_of(outcome, options))
        for outcome, canvas in zip(outcomes, canvases, strict=True)
    ]


def text_of(outcome: Outcome, options: SaliencyOptions) -> str:
    """What is explained in an image; raises UserError where the sample has no such text."""
    label = outcome.trial.sample.label
    chosen = outcome.prediction if options.target == "predicted" else label
    # a text of the user is explained in every image, whatever its label
    text = options.text or chosen
    if text is None:
        raise UserError(
            f"saliency: sample '{outcome.trial.sample.key}' has no label",
            expected="labels for target=true",
            remedy="Say what to explain with -O text=TEXT, or take target=predicted.",
        )
    return text


def features(audit: Audit, options: SaliencyOptions) -> Iterator[Feature]:
    """One feature a text: where the model looks for it; the surest images come first."""
    occurrences: dict[str, list[Occurrence]] = {}
    for image in audit.once(list_images, audit, options):
        strength = _confidence(image.outcome, image.text)
        occurrence = Occurrence(sample=image.sample.key, frame=0, strength=strength)
        occurrences.setdefault(image.text, []).append(occurrence)
    for text, regions in sorted(occurrences.items()):
        regions.sort(key=lambda occurrence: -occurrence.strength)
        yield Feature(
            key=feature_key(text),
            kind="regions",
            name=f"regions that speak for '{text}'",
            occurrences=tuple(regions),
        )


def feature_key(text: str) -> str:
    """Key of the feature of a text."""
    return f"regions-{text}"


def trials(audit: Audit, options: SaliencyOptions) -> list[Trial]:
    """A readout of each image, for the text that is explained in it."""
    images = audit.once(list_images, audit, options)
    texts = [image.text for image in images]
    readouts = map_trials(audit, options, [image.canvas for image in images], texts)
    return [
        replace(readout, feature=feature_key(text), condition="explained")
        for text, readout in zip(texts, readouts, strict=True)
    ]


def map_trials(
    audit: Audit,
    options: SaliencyOptions,
    samples: Sequence[Sample],
    choices: Sequence[str],
) -> list[Trial]:
    """One a canvas sample, for the text beside it; draws depend on the audit's seed as well."""
    # both seeds: another audit draws anew, and so does another option in one audit
    seed = audit.derive_seed("saliency", str(options.seed))
    settings = options.model_copy(update={"seed": seed})
    return [
        Explanation.trial(options.explainer, sample, text, settings)
        for sample, text in zip(samples, choices, strict=True)
    ]


def explained_images(
    audit: Audit,
    options: SaliencyOptions,
    outcomes: Sequence[Outcome],
) -> list[ExplainedImage]:
    """The images with map and mask, from the outcomes of `trials`."""
    # in the same order as when they were listed: texts and canvases are paired by it
    images = audit.once(list_images, audit, options)
    masks = _canvas_foregrounds(audit, [image.sample for image in images])
    explained = []
    for image, outcome in zip(images, outcomes, strict=True):
        width, height = image.canvas.frames[0].load().size
        coarse = np.asarray(outcome.response.readout)
        importance = upsample(coarse, (height, width), rescaled=True)
        mask = masks.get(image.sample.key)
        explained.append(
            ExplainedImage(**vars(image), importance=importance, foreground=mask)
        )
    return explained


def _canvas_foregrounds(audit: Audit, samples: Sequence[Sample]) -> dict[str, Mask]:
    """Annotated foregrounds as the network sees them, by sample."""
    masks = {}
    for sample in samples:
        mask = foreground_of(sample)
        if mask is not None:
            masks[sample.key] = (sample, mask)
    # nothing annotated: no canvas needs to be made of masks
    if not masks:
        return {}
    seen = Canvas.masks(audit, *zip(*masks.values(), strict=True))
    return dict(zip(masks, seen, strict=True))


def _confidence(outcome: Outcome, text: str) -> float:
    """Softmax probability of the text among the sample's choices; 1 for any other text."""
    choices = outcome.trial.sample.choices
    logits = outcome.response.logits
    # any other text has no probability: its images stay in their order
    if text not in choices or logits is None:
        return 1.0
    # the highest logit as 0: exp of a large one overflows
    odds = np.exp(logits - logits.max())
    return float(odds[choices.index(text)] / odds.sum())
