"""What models say of edited images: a detector, and a zero-shot model; both are optional."""

from collections.abc import Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.quality.cases import Case, Mask, Memory, Pixels, View, grow, move, smooth
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

BATCH = 32
GREY = 127.0  # behind a cut-out
MARGIN = 0.1  # around a cut-out, of its side
SEEN = 0.5  # IoU from which on a box is that of the object
INSIDE = 0.5  # share of a box that may lie over the object's for it to be something else

Box = tuple[float, float, float, float]
Scores = dict[str, float | None]


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
        grey = _frame(np.full((32, 32, 3), GREY))
        names = {"labels": self.labels, "backgrounds": self.backgrounds}
        for kind, choices in names.items():
            try:
                if choices:
                    _ask(self.model, [grey], choices, {"logits"})
            except UserError as error:
                context.announce(f"The quality filter's model is not asked about {kind}: {error}")
                names[kind] = ()
        return replace(self, labels=names["labels"], backgrounds=names["backgrounds"])

    def scores(self, cases: Sequence[Case], memory: Memory) -> Iterator[Scores]:
        """What they say, a dictionary a case."""
        for start in range(0, len(cases), BATCH):
            views = [View(case, memory) for case in cases[start : start + BATCH]]
            found: list[Scores] = [{} for _ in views]
            if self.model is not None:
                self._ask_model(self.model, views, found)
            if self.detector is not None and self.labels:
                self._ask_detector(self.detector, views, found)
            yield from found

    # ---------------------------------------------------------------------------------- zero-shot

    def _ask_model(self, model: Model, views: Sequence[View], found: list[Scores]) -> None:
        before = [cut_out(view.source, view.source_mask) for view in views]
        after = [_undone(view) for view in views]
        can = model.capabilities.outputs
        outputs = can & ({"logits", "embedding"} if self.labels else {"embedding"})
        told = _ask(model, [*before, *after], self.labels, outputs)
        for view, first, second, scores in zip(
            views, told[: len(views)], told[len(views) :], found, strict=True
        ):
            if first.embedding is not None and second.embedding is not None:
                scores["object_embedding"] = 1 - _cosine(first.embedding, second.embedding)
            if first.logits is not None and second.logits is not None:
                scores["object_class"] = self._lost(view.case.label, first.logits, second.logits)
        if "logits" in can and len(self.backgrounds) > 1:
            hidden = [without_object(view) for view in views]
            for view, response, scores in zip(
                views, _ask(model, hidden, self.backgrounds, {"logits"}), found, strict=True
            ):
                scores["background_text"] = self._margin(view.case.background, response.logits)

    def _lost(
        self, label: str, before: Float[np.ndarray, " c"], after: Float[np.ndarray, " c"]
    ) -> float | None:
        """How much less probable the class is for the edited cut-out than for the source's."""
        if label not in self.labels:
            return None
        place = self.labels.index(label)
        return float(_softmax(before)[place] - _softmax(after)[place])

    def _margin(self, asked: str, logits: Float[np.ndarray, " c"] | None) -> float | None:
        """By how much the likeliest other background is likelier than the one asked for."""
        if asked not in self.backgrounds or logits is None:
            return None
        share, place = _softmax(logits), self.backgrounds.index(asked)
        return float(np.delete(share, place).max() - share[place])

    # ----------------------------------------------------------------------------------- detector

    def _ask_detector(self, detector: Detector, views: Sequence[View], found: list[Scores]) -> None:
        frames = [_frame(view.source) for view in views] + [_frame(view.edited) for view in views]
        boxes = detector.detect(frames, self.labels)
        for view, before, after, scores in zip(
            views, boxes[: len(views)], boxes[len(views) :], found, strict=True
        ):
            old, new = bounds(view.source_mask), bounds(view.edited_mask)
            if _best_overlap(before, view.case.label, old) >= SEEN:  # else it cannot tell
                scores["object_box"] = 1 - _best_overlap(after, view.case.label, new)
            others = [each.score for each in after if _share_inside(each.box, new) < INSIDE]
            scores["second_detection"] = max(others, default=0.0)


def cut_out(pixels: Pixels, mask: Mask) -> Frame:
    """The object on grey, with a margin."""
    left, top, right, bottom = bounds(mask)
    margin = round(MARGIN * max(right - left, bottom - top)) + 1
    rows = slice(max(0, int(top) - margin), int(bottom) + margin)
    cols = slice(max(0, int(left) - margin), int(right) + margin)
    return _frame(np.where(mask[..., None], pixels, GREY)[rows, cols])


def without_object(view: View) -> Frame:
    """The background, its surroundings' colours where the object is."""
    hidden = grow(view.edited_mask, 3)
    if hidden.all():
        return _frame(np.full_like(view.edited, GREY))
    filled = smooth(view.edited, 0.05 * max(view.size), ~hidden)
    far = cv2.blur((~hidden).astype(np.float32), (3, 3)) == 0
    mean = view.edited[~hidden].mean(axis=0)
    filled = np.where((far & (filled.sum(axis=2) == 0))[..., None], mean, filled)
    return _frame(np.where(hidden[..., None], filled, view.edited))


def bounds(mask: Mask) -> Box:
    """The box around a mask: left, top, right, bottom, px."""
    rows, cols = np.nonzero(mask)
    return float(cols.min()), float(rows.min()), float(cols.max() + 1), float(rows.max() + 1)


def _undone(view: View) -> Frame:
    """The edited object as it lay in the source, where the geometry is known."""
    if view.geometry is None:
        return cut_out(view.edited, view.edited_mask)
    back = np.linalg.inv(view.geometry)
    size = (view.source.shape[0], view.source.shape[1])
    there = move(view.edited_mask.astype(np.float32), back, size) >= 0.5
    mask = there if there.any() else view.source_mask
    return cut_out(move(view.edited, back, size), mask)


def _ask(
    model: Model, frames: Sequence[Frame], choices: tuple[str, ...], outputs: AbstractSet[Output]
) -> list[Response]:
    """Each frame once: the variants of a source share it."""
    unique = {frame.key: frame for frame in frames}
    trials = [
        Trial(sample=Sample(key=key, frames=(frame,), choices=choices), outputs=frozenset(outputs))
        for key, frame in unique.items()
    ]
    answers = [
        response
        for start in range(0, len(trials), BATCH)
        for response in model.respond(trials[start : start + BATCH])
    ]
    by_key = dict(zip(unique, answers, strict=True))
    return [by_key[frame.key] for frame in frames]


def _frame(pixels: Pixels) -> Frame:
    return Frame.from_array(np.ascontiguousarray(np.rint(pixels).clip(0, 255).astype(np.uint8)))


def _softmax(logits: Float[np.ndarray, " c"]) -> Float[np.ndarray, " c"]:
    share = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(share / share.sum())


def _cosine(first: Float[np.ndarray, " dim"], second: Float[np.ndarray, " dim"]) -> float:
    scale = max(float(np.linalg.norm(first) * np.linalg.norm(second)), 1e-9)
    return float(first @ second) / scale


def _best_overlap(found: Sequence[Detection], name: str, box: Box) -> float:
    return max((_overlap(each.box, box) for each in found if each.name == name), default=0.0)


def _overlap(first: Box, second: Box) -> float:
    """Intersection over union."""
    common = _common(first, second)
    return common / max(_area(first) + _area(second) - common, 1e-9)


def _share_inside(box: Box, other: Box) -> float:
    return _common(box, other) / max(_area(box), 1e-9)


def _common(first: Box, second: Box) -> float:
    wide = min(first[2], second[2]) - max(first[0], second[0])
    high = min(first[3], second[3]) - max(first[1], second[1])
    return max(wide, 0.0) * max(high, 0.0)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
