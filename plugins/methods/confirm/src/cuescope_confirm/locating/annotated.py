"""Cues that masks, boxes or a detector show: objects by name, and the background."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_confirm.asking import has_kind, kind_of_background
from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Audit, Detection, Frame, Occurrence, Sample, UserError
from cuescope_sdk.explain import foreground_of
from cuescope_sdk.interventions import Localisation, LocatedCue, Place, open_frame
from cuescope_sdk.statistics import auroc
from cuescope_sdk.tools import cached_detector

Masks = tuple[Bool[np.ndarray, "_row _col"], ...]
MOST_CHECKED = 150  # of the run's samples on each side, by which a detector is judged
REMEMBERED = 100_000  # sizes of frames
_SIZES: dict[str, tuple[int, int]] = {}  # equal keys are equal pixels
SCORE = 0.3  # a detection counts from here on where the run's samples do not tell


def size_of(frame: Frame) -> tuple[int, int]:
    """Rows and columns; a frame is opened for them once, for each cue asks anew."""
    if frame.key not in _SIZES:
        if len(_SIZES) > REMEMBERED:
            _SIZES.clear()
        width, height = open_frame(frame).size
        _SIZES[frame.key] = height, width
    return _SIZES[frame.key]


def box_mask(boxes: Iterable[Sequence[float]], size: tuple[int, int]) -> Bool[np.ndarray, "r c"]:
    """The pixels inside of any box (x0, y0, x1, y1)."""
    mask = np.zeros(size, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        top, left = max(int(np.floor(y0)), 0), max(int(np.floor(x0)), 0)
        mask[top : int(np.ceil(y1)), left : int(np.ceil(x1))] = True
    return mask


def annotated_masks(sample: Sample, name: str) -> Masks | None:
    """The annotated masks of a thing, one a frame: () where it is not there, None if unknown."""
    known, wanted = sample.annotations, name.lower()
    masks: Mapping[str, Any] = known.get("masks", {})
    by_name = {str(key).lower(): mask for key, mask in masks.items()}
    if wanted in by_name and len(sample.frames) == 1:
        mask = by_name[wanted]
        pixels = mask if isinstance(mask, np.ndarray) else np.asarray(mask.load().convert("L")) > 0
        return (np.asarray(pixels, dtype=bool),)
    if "boxes" in known and len(sample.frames) == 1:
        boxes = [b.box for b in known["boxes"] if b.name.lower() == wanted]
        return (box_mask(boxes, size_of(sample.frames[0])),) if boxes else ()
    if "masks" in known and len(sample.frames) == 1:
        return ()
    return None


def object_masks(sample: Sample, label: str | None) -> Masks:
    """The masks of what the sample is about, one a frame; () where they are unknown."""
    foreground = foreground_of(sample)
    if foreground is not None and sample.frames:
        rows, cols = size_of(sample.frames[0])
        if foreground.shape != (rows, cols):
            raise UserError(
                f"the foreground of sample '{sample.key}' does not fit its frame",
                expected=f"{rows} x {cols} (rows x columns)",
                got=" x ".join(map(str, foreground.shape)),
            )
        return (foreground,) * len(sample.frames)
    return annotated_masks(sample, label or sample.label or "") or ()


def seen_by_name(audit: Audit, study: Study, cue: Cue, word: str | None) -> Cue:
    """A cue that is a name alone, with the samples of the run that show it."""
    if cue.feature.occurrences or word is None or cue.feature.kind == "thing":
        return cue
    shows = [key for key, sample in study.seen.items() if annotated_masks(sample, word)]
    if not shows and "detector" in audit.tools:
        finder = cached_detector(audit.tools["detector"], audit.context)
        frames = [(key, frame) for key, sample in study.seen.items() for frame in sample.frames]
        found = finder.detect([frame for _, frame in frames], [word])
        there = [any(d.score >= SCORE for d in of_frame) for of_frame in found]
        shows = [key for (key, _), yes in zip(frames, there, strict=True) if yes]
    met = tuple(Occurrence(sample=key) for key in dict.fromkeys(shows))
    return replace(cue, feature=cue.feature.model_copy(update={"occurrences": met}))


def locate_object(
    audit: Audit, study: Study, cue: Cue, word: str, pool: Mapping[str, Sample]
) -> LocatedCue | None:
    """An object by its name: annotated, else by `--tool detector`; None with neither."""
    known = {key: annotated_masks(sample, word) for key, sample in pool.items()}
    if any(masks for masks in known.values()):
        return _located(
            cue,
            {key: masks for key, masks in known.items() if masks is not None},
            Localisation("annotated boxes and masks"),
            word,
        )
    if "detector" not in audit.tools:
        return None
    finder = cached_detector(audit.tools["detector"], audit.context)

    def boxes(samples: Iterable[Sample]) -> list[list[list[Detection]]]:
        samples = list(samples)
        frames = [frame for sample in samples for frame in sample.frames]
        found = iter(finder.detect(frames, [word]))
        return [[list(next(found)) for _ in sample.frames] for sample in samples]

    threshold, quality = _judged(audit, study, cue, boxes)
    masks: dict[str, Masks] = {}
    for (key, sample), of_frames in zip(pool.items(), boxes(pool.values()), strict=True):
        strong = [[d.box for d in of_frame if d.score >= threshold] for of_frame in of_frames]
        there = any(strong)
        masks[key] = (
            tuple(box_mask(b, size_of(f)) for b, f in zip(strong, sample.frames, strict=True))
            if there
            else ()
        )
    return _located(cue, masks, quality, word)


def _judged(audit: Audit, study: Study, cue: Cue, boxes: Any) -> tuple[float, Localisation]:
    """By the run's samples: the score from which on a detection counts, and how well it ranks."""
    name = audit.tool_specs.get("detector", "detector")
    shows = {key for o in cue.feature.occurrences if (key := root(o.sample, study.seen))}
    others = sorted(study.seen.keys() - shows)
    rng = audit.rng("confirm", "detector", cue.id)
    rows = [
        *rng.permutation(sorted(shows))[:MOST_CHECKED].tolist(),
        *rng.permutation(others)[:MOST_CHECKED].tolist(),
    ]
    positive = np.array([key in shows for key in rows], bool)
    if not positive.any() or positive.all():
        return SCORE, Localisation(name)
    found = boxes(study.seen[key] for key in rows)
    best = np.array([max((d.score for f in of for d in f), default=0.0) for of in found])
    return balanced_threshold(best, positive), Localisation(name, auroc(best, positive))


def balanced_threshold(scores: np.ndarray, positive: Bool[np.ndarray, " item"]) -> float:
    """The score that tells both sides apart best: the largest sum of both rates (Youden, 1950)."""
    values = np.unique(scores)
    cuts = np.append((values[:-1] + values[1:]) / 2, values[-1:]) if len(values) > 1 else values
    rates = [(scores[positive] >= cut).mean() - (scores[~positive] >= cut).mean() for cut in cuts]
    return max(float(cuts[int(np.argmax(rates))]), 1e-6)


def locate_background(
    audit: Audit, cue: Cue, pool: Mapping[str, Sample]
) -> tuple[LocatedCue | None, bool]:
    """All but the foreground, of an annotated kind; without one, of each label its own."""
    kind = kind_of_background(cue)
    there: dict[str, Masks] = {}
    objects: dict[str, Masks] = {}  # of the segmenter: annotated ones are read as they are needed
    for key, sample in pool.items():
        fore = object_masks(sample, sample.label)
        if not fore:
            fore = objects[key] = _segmented(audit, sample)
        if fore and not any(mask.all() for mask in fore):
            shows = kind is None or has_kind(sample, kind)
            there[key] = tuple(~mask for mask in fore) if shows else ()
    if not there:
        return None, False
    quality = Localisation("the complement of the foreground's masks")
    located = _located(cue, there, quality, None)
    return LocatedCue(**{**vars(located), "objects": objects}), kind is None


def _segmented(audit: Audit, sample: Sample) -> Masks:
    if "segmenter" not in audit.tools or sample.label is None:
        return ()
    audit.context.stop_plan_before("the masks of the segmenter")
    found = audit.tools["segmenter"].segment(list(sample.frames), [sample.label])
    masks = tuple(np.asarray(each[0], dtype=bool) for each in found)
    return masks if any(mask.any() for mask in masks) else ()


def _located(
    cue: Cue, masks: Mapping[str, Masks], quality: Localisation, word: str | None
) -> LocatedCue:
    """`masks` has () for a sample that does not show the cue."""
    places = {
        key: Place(masks=m, frames=tuple(n for n, mask in enumerate(m) if mask.any()))
        for key, m in masks.items()
        if m and any(mask.any() for mask in m)
    }
    area = float(np.mean([place.area for place in places.values()])) if places else None
    return LocatedCue(
        key=cue.feature.key,
        name=cue.name,
        label=cue.label,
        places=places,
        without=frozenset(masks.keys() - places.keys()),
        quality=Localisation(quality.by, quality.auroc, area, len(places)),
        word=word,
    )
