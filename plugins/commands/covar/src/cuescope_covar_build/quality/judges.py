"""What models say of edited images: a detector, and a zero-shot model; both are optional."""

from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.quality.cases import (
    Case,
    Mask,
    Memory,
    Pixels,
    Scores,
    View,
    grow,
    move,
    move_mask,
    smooth,
)
from cuescope_sdk import (
    Context,
    Detection,
    Detector,
    Frame,
    Model,
    Output,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_sdk.maths import softmax

BATCH = 32
GREY = 127.0  # behind a cut-out
MARGIN = 0.1  # around a cut-out, of its side
SEEN = 0.5  # IoU from which on a box is that of the object
# share of a box that may lie over the object's for it to be something else
INSIDE = 0.5

Box = tuple[float, float, float, float]  # left, top, right, bottom, px


@dataclass(frozen=True)
class Judges:
    """The tools that a user gave, and the words that they are asked about.

    `model` answers with `logits` over choices, or with an `embedding`, or with both. `labels` are
    all classes, `backgrounds` the names of all backgrounds: () where the model has no text tower
    to answer for them.
    """

    model: Model | None = None
    detector: Detector | None = None
    labels: tuple[str, ...] = ()
    backgrounds: tuple[str, ...] = ()

    def usable(self, context: Context) -> "Judges":
        """Without the questions that the model cannot answer, and says so."""
        if self.model is None:
            return self
        # whether it can answer does not depend on what it sees
        grey = frame_of(np.full((32, 32, 3), GREY))
        names = {"labels": self.labels, "backgrounds": self.backgrounds}
        for kind, choices in names.items():
            try:
                if choices:
                    ask(self.model, [grey], choices, {"logits"})
            except UserError as error:
                context.announce(
                    f"The quality filter's model is not asked about {kind}: {error}"
                )
                names[kind] = ()
        return replace(self, labels=names["labels"], backgrounds=names["backgrounds"])

    def scores(self, cases: Sequence[Case]) -> Iterator[tuple[View, Scores]]:
        """Each case as arrays, and what the tools say of it."""
        memory = Memory()
        for start in range(0, len(cases), BATCH):
            views = [View(case, memory) for case in cases[start : start + BATCH]]
            rows: list[Scores] = [{} for _ in views]
            if self.model is not None:
                self._compare_objects(self.model, views, rows)
                can_choose = "logits" in self.model.capabilities.outputs
                # of one background there is no other to be likelier
                if can_choose and len(self.backgrounds) > 1:
                    self._compare_backgrounds(self.model, views, rows)
            if self.detector is not None and self.labels:
                self._compare_boxes(self.detector, views, rows)
            yield from zip(views, rows, strict=True)

    def _compare_objects(
        self,
        model: Model,
        views: Sequence[View],
        rows: list[Scores],
    ) -> None:
        """How far the cut-out is from the source's, and how much less probable its class is."""
        outputs = set(model.capabilities.outputs & {"embedding", "logits"})
        if not self.labels:
            outputs.discard("logits")
        sources = [cut_out(view.source, view.source_mask) for view in views]
        before = ask(model, sources, self.labels, outputs)
        after = ask(model, map(_edited_object, views), self.labels, outputs)
        for view, first, second, scores in zip(views, before, after, rows, strict=True):
            if first.embedding is not None and second.embedding is not None:
                likeness = cosine(first.embedding, second.embedding)
                scores["object_embedding"] = 1 - likeness
            label = view.case.label
            if first.logits is None or second.logits is None:
                continue
            if label in self.labels:
                both = softmax(np.stack([first.logits, second.logits]))
                likely = both[:, self.labels.index(label)]
                scores["object_class"] = float(likely[0] - likely[1])

    def _compare_backgrounds(
        self,
        model: Model,
        views: Sequence[View],
        rows: list[Scores],
    ) -> None:
        """By how much the likeliest other background is likelier than the one asked for."""
        hidden = map(without_object, views)
        responses = ask(model, hidden, self.backgrounds, {"logits"})
        for view, response, scores in zip(views, responses, rows, strict=True):
            asked = view.case.background
            if asked in self.backgrounds and response.logits is not None:
                place = self.backgrounds.index(asked)
                likely = softmax(response.logits[None])[0]
                likeliest_other = np.delete(likely, place).max()
                scores["background_text"] = float(likeliest_other - likely[place])

    def _compare_boxes(
        self,
        detector: Detector,
        views: Sequence[View],
        rows: list[Scores],
    ) -> None:
        """How far the object's box is from its mask, and whether there is something else."""
        before = detector.detect([frame_of(view.source) for view in views], self.labels)
        after = detector.detect([frame_of(view.edited) for view in views], self.labels)
        for view, first, second, scores in zip(views, before, after, rows, strict=True):
            label = view.case.label
            box = bounds(view.edited_mask)
            # where it does not find the source's object it cannot tell
            if best_overlap(first, label, bounds(view.source_mask)) >= SEEN:
                scores["object_box"] = 1 - best_overlap(second, label, box)
            scores["second_detection"] = strongest_beside(second, box)


def cut_out(pixels: Pixels, mask: Mask) -> Frame:
    """The object on grey, with a margin."""
    left, top, right, bottom = bounds(mask)
    margin = round(MARGIN * max(right - left, bottom - top)) + 1
    # a negative start would count from the end
    rows = slice(max(0, top - margin), bottom + margin)
    cols = slice(max(0, left - margin), right + margin)
    on_grey = np.where(mask[..., None], pixels, GREY)
    return frame_of(on_grey[rows, cols])


def without_object(view: View) -> Frame:
    """The background, its surroundings' colours where the object is."""
    # with the edge, where the object's colours are mixed in
    hidden = grow(view.edited_mask, 3)
    if hidden.all():
        return frame_of(np.full_like(view.edited, GREY))
    filled = smooth(view.edited, 0.05 * max(view.size), ~hidden)
    window = np.ones((3, 3), np.uint8)
    # further inside than the blur reaches there is no colour yet
    far = cv2.erode(hidden.astype(np.uint8), window) > 0
    unreached = far & ~filled.any(axis=2)
    filled[unreached] = view.edited[~hidden].mean(axis=0)
    return frame_of(np.where(hidden[..., None], filled, view.edited))


def cosine(
    first: Float[np.ndarray, " dim"], second: Float[np.ndarray, " dim"]
) -> float:
    """Of two embeddings; 0 where one of them is."""
    norms = np.linalg.norm(first) * np.linalg.norm(second)
    return float(first @ second / max(norms, 1e-9))


def bounds(mask: Mask) -> tuple[int, int, int, int]:
    """The box around a mask."""
    left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return left, top, left + width, top + height


def best_overlap(detections: Sequence[Detection], name: str, box: Box) -> float:
    """Largest intersection over union of the box and those of this name."""
    best = 0.0
    for detection in detections:
        if detection.name == name:
            shown = detection.box
            common = shared_area(shown, box)
            union = shared_area(shown, shown) + shared_area(box, box) - common
            best = max(best, common / max(union, 1e-9))
    return best


def strongest_beside(detections: Sequence[Detection], box: Box) -> float:
    """Confidence of the surest detection that does not lie over the box."""
    strongest = 0.0
    for detection in detections:
        area = shared_area(detection.box, detection.box)
        if shared_area(detection.box, box) < INSIDE * max(area, 1e-9):
            strongest = max(strongest, detection.score)
    return strongest


def shared_area(first: Box, second: Box) -> float:
    """Of two boxes; a box shares all of its area with itself."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(width, 0.0) * max(height, 0.0)


def _edited_object(view: View) -> Frame:
    """The cut-out of the edited object as it lay in the source, where the geometry is known."""
    if view.geometry is None:
        return cut_out(view.edited, view.edited_mask)
    back = np.linalg.inv(view.geometry)
    size = view.source.shape[:2]
    mask = move_mask(view.edited_mask, back, size)
    # moved out of the source's frame: a cut-out needs a place
    if not mask.any():
        mask = view.source_mask
    return cut_out(move(view.edited, back, size), mask)


def ask(
    model: Model,
    frames: Iterable[Frame],
    choices: tuple[str, ...],
    outputs: AbstractSet[Output],
) -> list[Response]:
    """Each frame once: the variants of a source share it."""
    shown = list(frames)
    unique = {frame.key: frame for frame in shown}
    trials = []
    for key, frame in unique.items():
        sample = Sample(key=key, frames=(frame,), choices=choices)
        trials.append(Trial(sample=sample, outputs=frozenset(outputs)))
    responses = dict(zip(unique, model.respond(trials), strict=True))
    return [responses[frame.key] for frame in shown]


def frame_of(pixels: Pixels) -> Frame:
    """The image in whole grey levels."""
    levels = np.rint(pixels).clip(0, 255).astype(np.uint8)
    return Frame.from_array(np.ascontiguousarray(levels))
