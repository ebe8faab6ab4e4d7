"""Which text is explained in which image, and the maps beside the masks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from cuescope_saliency.explanation import Explanation
from cuescope_sdk import Audit, Feature, Occurrence, Outcome, Sample, Trial, UserError
from cuescope_sdk.explain import canvas_masks, canvas_samples, foreground_of
from cuescope_sdk.maths import rescale, upsample

if TYPE_CHECKING:
    from cuescope_saliency import Saliency


@dataclass(frozen=True)
class Explained:
    """One image with its map in [0, 1], (row, col) of the canvas, for one text.

    `canvas` shows what the network saw; `foreground` is None where no mask is annotated.
    """

    sample: Sample
    canvas: Sample
    text: str
    importance: Float[np.ndarray, "row col"]
    foreground: Bool[np.ndarray, "row col"] | None
    prediction: str | None


@dataclass(frozen=True)
class Asked:
    """One image with what the model answers, what it is shown of it, and the text explained."""

    outcome: Outcome
    canvas: Sample
    text: str

    @property
    def sample(self) -> Sample:
        """The sample of the data set."""
        return self.outcome.trial.sample


def asked(audit: Audit, options: "Saliency.Options") -> list[Asked]:
    """The images by key. Raises UserError for a sequence of frames, or where a label lacks."""
    samples = sorted(audit.samples, key=lambda sample: sample.key)
    seen = canvas_samples(audit, samples)
    outcomes = audit.respond(Trial(sample=sample) for sample in samples)
    texts = [text_of(outcome, options) for outcome in outcomes]
    return [Asked(*each) for each in zip(outcomes, seen, texts, strict=True)]


def text_of(outcome: Outcome, options: "Saliency.Options") -> str:
    """What is explained in an image; raises UserError where the sample has no such text."""
    label = outcome.trial.sample.label
    text = options.text or (outcome.prediction if options.target == "predicted" else label)
    if text is None:
        raise UserError(
            f"saliency: sample '{outcome.trial.sample.key}' has no label",
            expected="labels for target=true",
            remedy="Say what to explain with -O text=TEXT, or take target=predicted.",
        )
    return text


def propose(audit: Audit, options: "Saliency.Options") -> Iterator[Feature]:
    """One feature a text: where the model looks for it; the surest images come first."""
    places: dict[str, list[Occurrence]] = {}
    for one in asked(audit, options):
        strength = _confidence(one.outcome, one.text)
        place = Occurrence(sample=one.sample.key, frame=0, strength=strength)
        places.setdefault(one.text, []).append(place)
    for text, found in sorted(places.items()):
        yield Feature(
            key=key_of(text),
            kind="regions",
            name=f"regions that speak for '{text}'",
            occurrences=tuple(sorted(found, key=lambda place: -place.strength)),
        )


def key_of(text: str) -> str:
    """Key of the feature of a text."""
    return f"regions-{text}"


def trials(audit: Audit, options: "Saliency.Options") -> list[Trial]:
    """A reading of each image, for the text that is explained in it."""
    images = asked(audit, options)
    read = map_trials(audit, options, [i.canvas for i in images], [i.text for i in images])
    return [
        trial.model_copy(update={"feature": key_of(one.text), "condition": "explained"})
        for one, trial in zip(images, read, strict=True)
    ]


def map_trials(
    audit: Audit, options: "Saliency.Options", samples: Sequence[Sample], choices: Sequence[str]
) -> list[Trial]:
    """One a canvas sample, for the text beside it; draws depend on the audit's seed as well."""
    seed = audit.derive_seed("saliency", str(options.seed))
    settings = options.model_copy(update={"seed": seed})
    return [
        Explanation.asking(options.explainer, sample, text, settings)
        for sample, text in zip(samples, choices, strict=True)
    ]


def explained(
    audit: Audit, options: "Saliency.Options", outcomes: Sequence[Outcome]
) -> list[Explained]:
    """The images with map and mask, from the outcomes of `trials`."""
    images = asked(audit, options)
    masks = _masks(audit, [one.sample for one in images])
    return [
        Explained(
            sample=one.sample,
            canvas=one.canvas,
            text=one.text,
            importance=_spread(outcome, one.canvas),
            foreground=masks.get(one.sample.key),
            prediction=one.outcome.prediction,
        )
        for one, outcome in zip(images, outcomes, strict=True)
    ]


def _spread(outcome: Outcome, canvas: Sample) -> Float[np.ndarray, "row col"]:
    width, height = canvas.frames[0].load().size
    importance = np.asarray(outcome.response.readout)
    return rescale(upsample(importance, (height, width)))


def _masks(audit: Audit, samples: Sequence[Sample]) -> dict[str, Bool[np.ndarray, "row col"]]:
    """Annotated foregrounds as the network sees them, by sample."""
    known = [(sample, foreground_of(sample)) for sample in samples]
    masked = [(sample, mask) for sample, mask in known if mask is not None]
    if not masked:
        return {}
    seen = canvas_masks(audit, [sample for sample, _ in masked], [mask for _, mask in masked])
    return {sample.key: mask for (sample, _), mask in zip(masked, seen, strict=True)}


def _confidence(outcome: Outcome, text: str) -> float:
    """Softmax probability of the text among the sample's choices; 1 for any other text."""
    choices, logits = outcome.trial.sample.choices, outcome.response.logits
    if text not in choices or logits is None:
        return 1.0
    odds = np.exp(logits - logits.max())
    return float(odds[choices.index(text)] / odds.sum())
