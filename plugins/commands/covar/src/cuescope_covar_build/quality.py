"""The quality filter: SSIM, a zero-shot model and a detector; clean composites set the limits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from cuescope_covar_build.composite import Composite, CompositeOptions
from cuescope_covar_build.drafts import Draft, on_background, paint, with_variants
from cuescope_covar_build.geometry import Mask, Pixels
from cuescope_covar_build.lists import Background
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Source, Sources
from cuescope_sdk import (
    Context,
    Detection,
    Detector,
    Frame,
    Model,
    Sample,
    Trial,
    derive,
)
from cuescope_sdk.maths import softmax

# how the measure of each check of the manifest is told
REASONS = {
    "changed": "the background is still the editor's input (SSIM {value:.2f})",
    "kept": "the object is less likely a '{label}' than in the photo (by {value:.2f})",
    "background": "the background is likelier another one than '{asked}' (by {value:.2f})",
    "found": "the detector's box of '{label}' misses the object's by {value:.0%}",
    "else": "the detector finds a further object (confidence {value:.2f})",
}
CLEAN_PAIRS = (
    40  # photos and backgrounds: of as many images a limit is the largest value
)
GREY = 127  # behind a cut-out
SIGMA = 1.5  # px, of the window (Wang et al., 2004)
STEADY = ((0.01 * 255) ** 2, (0.03 * 255) ** 2)  # the constants of Wang et al., 2004
SSIM_SIDE = (
    256  # px of the shorter side: the advice beside the code of Wang et al., 2004
)

Box = tuple[float, float, float, float]  # left, top, right, bottom, px


@dataclass
class Filter:
    """Measures every image that an editor painted, and says why one is dropped.

    `model` answers with logits. A limit is the quantile 1 - `false_drops` of clean composites, of
    each subset and check; `calibrate` sets them. Without limits no image is dropped.
    """

    recipe: Recipe
    false_drops: float
    labels: tuple[str, ...]
    model: Model | None = None
    detector: Detector | None = None
    limits: dict[str, dict[str, float]] = field(default_factory=dict)

    def judge(self, source: Source, drafts: Sequence[Draft]) -> None:
        """Give an image on a background and its variants their scores, and reasons to drop them.

        A variant of a dropped image is dropped with it. A score is above 1 where the measure is
        above its limit.
        """
        for draft, measures in self.measure(source, drafts):
            # nobody knows which generated view is a clean one: a turned object serves
            subset = (
                "rotation"
                if draft.variant.subset == "viewpoint"
                else draft.variant.subset
            )
            limits = self.limits.get(subset, {})
            draft.scores = {
                check: 1 + value - limits[check]
                for check, value in measures.items()
                if check in limits
            }
            worst = max(draft.scores, key=draft.scores.__getitem__, default="")
            if worst and draft.scores[worst] > 1 and not draft.dropped:
                draft.dropped = REASONS[worst].format(
                    value=measures[worst],
                    label=source.label,
                    asked=draft.background and draft.background.name,
                )
        first, *variants = drafts
        for draft in variants:
            if first.dropped and not draft.dropped:
                draft.dropped = f"the image that it was made from: {first.dropped}"

    def measure(
        self, source: Source, drafts: Sequence[Draft]
    ) -> list[tuple[Draft, dict[str, float]]]:
        """The images that an editor painted, each with its measures by check."""
        painted = [
            draft for draft in drafts if draft.edit is not None and draft.shows_object
        ]
        rows: list[tuple[Draft, dict[str, float]]] = [(draft, {}) for draft in painted]
        for draft, measures in rows:
            if draft.paints_background:
                given = (
                    np.asarray(draft.edit.frame.load()) if draft.edit else draft.image
                )
                measures["changed"] = likeness(given, draft.image, _mask_of(draft))
        if self.model is not None and source.label in self.labels:
            self._ask_model(self.model, source, rows)
        if self.detector is not None and self.labels:
            self._ask_detector(self.detector, source, rows)
        return rows

    def calibrate(self, sources: Sources, context: Context) -> None:
        """Take the limits from clean composites of the photos."""
        recipe = _clean_recipe(self.recipe, context)
        pairs = _pairs(sources.typical(CLEAN_PAIRS), recipe.backgrounds)
        clean: dict[str, dict[str, list[float]]] = {}
        with context.progress("Measuring clean composites", len(pairs)) as advance:
            for sample, background in pairs:
                source = sources.open(sample)
                first = on_background(recipe, source, background)
                paint([first], recipe.editor)
                drafts = with_variants(recipe, source, first)
                paint(drafts[1:], recipe.editor)
                for draft, measures in self.measure(source, drafts):
                    of_subset = clean.setdefault(draft.variant.subset, {})
                    for check, value in measures.items():
                        of_subset.setdefault(check, []).append(value)
                advance(1)
        for subset, measured in clean.items():
            self.limits[subset] = {
                check: float(np.quantile(values, 1 - self.false_drops, method="higher"))
                for check, values in measured.items()
            }

    def _ask_model(
        self,
        model: Model,
        source: Source,
        rows: Sequence[tuple[Draft, dict[str, float]]],
    ) -> None:
        """How much less likely the object's class is, and how much likelier another background."""
        objects = [cut_out(source.image, source.mask)]
        objects += [cut_out(draft.image, _mask_of(draft)) for draft, _ in rows]
        likely = _probabilities(model, objects, self.labels)
        in_photo, *in_edits = likely[:, self.labels.index(source.label)]
        names = tuple(background.name for background in self.recipe.backgrounds)
        # of one background there is no other to be likelier
        hidden = [without_object(draft.image, _mask_of(draft)) for draft, _ in rows]
        places = _probabilities(model, hidden, names) if len(names) > 1 else None
        for number, (draft, measures) in enumerate(rows):
            measures["kept"] = float(in_photo - in_edits[number])
            asked = draft.background and draft.background.name
            if places is not None and asked in names:
                place = names.index(asked)
                other = np.delete(places[number], place).max()
                measures["background"] = float(other - places[number, place])

    def _ask_detector(
        self,
        detector: Detector,
        source: Source,
        rows: Sequence[tuple[Draft, dict[str, float]]],
    ) -> None:
        """How far the object's box is from its mask, and whether there is something else."""
        frames = [Frame.from_array(source.image), *(draft.frame for draft, _ in rows)]
        in_photo, *in_edits = detector.detect(frames, self.labels)
        missed = 1 - best_overlap(in_photo, source.label, bounds(source.mask))
        for (draft, measures), detections in zip(rows, in_edits, strict=True):
            box = bounds(_mask_of(draft))
            # beyond what it misses in the photo: it may not know the class
            measures["found"] = 1 - best_overlap(detections, source.label, box) - missed
            measures["else"] = strongest_beside(detections, box)


def _clean_recipe(recipe: Recipe, context: Context) -> Recipe:
    """Like the recipe, with backgrounds that are pasted, and nothing that could go wrong."""
    if not isinstance(recipe.editor.tool, Composite):
        drawn = Composite(CompositeOptions(), context)
        recipe = replace(
            recipe,
            backgrounds=tuple(
                Background(name=name, prompt=name) for name in drawn.names
            ),
            instruction="{background}",
            editor=NamedEditor("", drawn.fingerprint, drawn),
        )
    # other draws than those of the images that are judged
    return replace(recipe, viewpoint_editor=None, seed=derive(recipe.seed, "clean"))


def _pairs(
    samples: Sequence[Sample], backgrounds: Sequence[Background]
) -> list[tuple[Sample, Background]]:
    """Of as many photos and backgrounds as can be, each pair once."""
    pairs = []
    for number in range(min(CLEAN_PAIRS, len(samples) * len(backgrounds))):
        turn, photo = divmod(number, len(samples))
        # + turn: else a photo could meet the same background in every round
        background = (number + turn) % len(backgrounds)
        pairs.append((samples[photo], backgrounds[background]))
    return pairs


def likeness(first: Pixels, second: Pixels, outside: Mask) -> float:
    """Mean structural similarity outside of a mask (Wang et al., 2004, eq. 13), of grey levels."""
    factor = max(1, round(min(outside.shape) / SSIM_SIDE))
    size = (outside.shape[1] // factor, outside.shape[0] // factor)
    levels = []
    for pixels in (first, second):
        grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
        levels.append(cv2.resize(grey, size, interpolation=cv2.INTER_AREA))
    x, y = levels
    mean_x, mean_y = _blur(x), _blur(y)
    variances = _blur(x * x) - mean_x**2 + _blur(y * y) - mean_y**2
    covariance = _blur(x * y) - mean_x * mean_y
    luminance = (2 * mean_x * mean_y + STEADY[0]) / (mean_x**2 + mean_y**2 + STEADY[0])
    ssim = luminance * (2 * covariance + STEADY[1]) / (variances + STEADY[1])
    share = cv2.resize(outside.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    background = share == 0
    return float(ssim[background].mean()) if background.any() else 0.0


def _blur(pixels: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(pixels, (11, 11), SIGMA)


def _mask_of(draft: Draft) -> Mask:
    if draft.mask is None:
        raise ValueError("expected an image whose object is known")
    return draft.mask


def cut_out(pixels: Pixels, mask: Mask) -> Frame:
    """The object on grey, in its box."""
    left, top, right, bottom = bounds(mask)
    on_grey = np.where(mask[..., None], pixels, np.uint8(GREY))
    return Frame.from_array(on_grey[top:bottom, left:right].copy())


def without_object(pixels: Pixels, mask: Mask) -> Frame:
    """The background, its mean colour where the object is."""
    colour = pixels[~mask].mean(axis=0).astype(np.uint8)
    return Frame.from_array(np.where(mask[..., None], colour, pixels))


def bounds(mask: Mask) -> tuple[int, int, int, int]:
    """The box around a mask."""
    left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return left, top, left + width, top + height


def best_overlap(detections: Sequence[Detection], name: str, box: Box) -> float:
    """Largest intersection over union of the box and those of this name."""
    best = 0.0
    for detection in detections:
        if detection.name == name:
            common = shared_area(detection.box, box)
            areas = shared_area(detection.box, detection.box) + shared_area(box, box)
            best = max(best, common / (areas - common))
    return best


def strongest_beside(detections: Sequence[Detection], box: Box) -> float:
    """Confidence of the surest detection whose middle lies outside of the box."""
    left, top, right, bottom = box
    strongest = 0.0
    for detection in detections:
        x = (detection.box[0] + detection.box[2]) / 2
        y = (detection.box[1] + detection.box[3]) / 2
        if not (left <= x <= right and top <= y <= bottom):
            strongest = max(strongest, detection.score)
    return strongest


def shared_area(first: Box, second: Box) -> float:
    """Of two boxes; a box shares all of its area with itself."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(width, 0.0) * max(height, 0.0)


def _probabilities(
    model: Model, frames: Iterable[Frame], choices: tuple[str, ...]
) -> np.ndarray:
    """(frame, choice) probabilities."""
    trials = []
    for frame in frames:
        sample = Sample(key=frame.key, frames=(frame,), choices=choices)
        trials.append(Trial(sample=sample, outputs=frozenset({"logits"})))
    responses = model.respond(trials)
    return softmax(np.stack([np.asarray(response.logits) for response in responses]))
