"""Cues that masks, boxes or a detector show: objects by name, and the background."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from cuescope_confirm.locating.places import Masks, box_mask, located_cue, size_of
from cuescope_confirm.scores import youden_cut
from cuescope_confirm.study import THING, Cue, Study
from cuescope_sdk import Audit, Detection, Occurrence, Sample, UserError
from cuescope_sdk.explain import foreground_of
from cuescope_sdk.interventions import LocatedCue, Place
from cuescope_sdk.statistics import auroc
from cuescope_sdk.tools import cached_detector

MOST_CHECKED = 150  # of the run's samples on each side, by which a detector is judged
SCORE = 0.3  # a detection counts from here on where the run's samples do not tell
LOWEST = 1e-6  # score: what is detected with none is not there


def annotated_masks(sample: Sample, name: str) -> Masks | None:
    """The annotated masks of a thing, one a frame: () where it is not there, None if unknown."""
    if len(sample.frames) != 1:
        return None
    name = name.lower()
    annotations = sample.annotations
    masks: Mapping[str, Any] = annotations.get("masks", {})
    by_name = {str(key).lower(): mask for key, mask in masks.items()}
    if name in by_name:
        mask = by_name[name]
        pixels = mask if isinstance(mask, np.ndarray) else mask.load().convert("L")
        return (np.asarray(pixels).astype(bool),)
    if "boxes" in annotations:
        boxes = [box.box for box in annotations["boxes"] if box.name.lower() == name]
        return (box_mask(boxes, size_of(sample.frames[0])),) if boxes else ()
    return () if "masks" in annotations else None


def object_masks(sample: Sample, label: str | None) -> Masks:
    """The masks of what the sample is about, one a frame; () where they are unknown."""
    foreground = foreground_of(sample)
    if foreground is None or not sample.frames:
        return annotated_masks(sample, label or sample.label or "") or ()
    rows, cols = size_of(sample.frames[0])
    if foreground.shape != (rows, cols):
        raise UserError(
            f"the foreground of sample '{sample.key}' does not fit its frame",
            expected=f"{rows} x {cols} (rows x columns)",
            got=" x ".join(map(str, foreground.shape)),
        )
    return (foreground,) * len(sample.frames)


def with_occurrences(audit: Audit, study: Study, cue: Cue, word: str | None) -> Cue:
    """A cue that is a name alone, with the samples of the run that show it."""
    if cue.feature.occurrences or word is None or cue.kind == THING:
        return cue
    keys = [key for key, sample in study.seen.items() if annotated_masks(sample, word)]
    if not keys and "detector" in audit.tools:
        best = _best_scores(_detect(audit, study.seen, word))
        keys = [key for key, score in best.items() if score >= SCORE]
    occurrences = tuple(Occurrence(sample=key) for key in keys)
    return replace(cue, feature=cue.feature.model_copy(update={"occurrences": occurrences}))


def locate_object(
    audit: Audit, study: Study, cue: Cue, word: str, pool: Mapping[str, Sample]
) -> LocatedCue | None:
    """An object by its name: annotated, else by `--tool detector`; None with neither."""
    annotated = {key: annotated_masks(sample, word) for key, sample in pool.items()}
    if any(annotated.values()):
        masks = {key: masks for key, masks in annotated.items() if masks is not None}
        return _cue_in_masks(cue, masks, "annotated boxes and masks", word=word)
    if "detector" not in audit.tools:
        return None
    threshold, quality = _judge_detector(audit, study, cue, word)
    masks = {}
    for key, of_frames in _detect(audit, pool, word).items():
        of_sample = []
        for frame, detections in zip(pool[key].frames, of_frames, strict=True):
            boxes = [detection.box for detection in detections if detection.score >= threshold]
            of_sample.append(box_mask(boxes, size_of(frame)))
        masks[key] = tuple(of_sample)
    name = audit.tool_specs.get("detector", "detector")
    return _cue_in_masks(cue, masks, name, auroc=quality, word=word)


def _detect(
    audit: Audit, samples: Mapping[str, Sample], word: str
) -> dict[str, list[Sequence[Detection]]]:
    """What the detector finds in each frame of each sample."""
    detector = cached_detector(audit.tools["detector"], audit.context)
    frames = [frame for sample in samples.values() for frame in sample.frames]
    detections = iter(detector.detect(frames, [word]))
    return {key: list(islice(detections, len(sample.frames))) for key, sample in samples.items()}


def _best_scores(detections: Mapping[str, Sequence[Sequence[Detection]]]) -> dict[str, float]:
    """Of each sample the largest score in any frame; 0 without a detection."""
    best = {}
    for key, of_frames in detections.items():
        scores = [detection.score for of_frame in of_frames for detection in of_frame]
        best[key] = max(scores, default=0.0)
    return best


def _judge_detector(audit: Audit, study: Study, cue: Cue, word: str) -> tuple[float, float | None]:
    """By the run's samples: the score from which on a detection counts, and its AUROC."""
    shown = cue.shown_in(study.seen)
    rng = audit.rng("confirm", "detector", cue.id)
    keys = []
    for side in (shown, study.seen.keys() - shown):
        keys += rng.permutation(sorted(side))[:MOST_CHECKED].tolist()
    positive = np.array([key in shown for key in keys], bool)
    if not positive.any() or positive.all():
        return SCORE, None
    detections = _detect(audit, {key: study.seen[key] for key in keys}, word)
    scores = np.array(list(_best_scores(detections).values()))
    return max(youden_cut(scores, positive), LOWEST), auroc(scores, positive)


def locate_background(audit: Audit, cue: Cue, pool: Mapping[str, Sample]) -> LocatedCue | None:
    """All but the foreground, of the cue's factor where it has one; None without a foreground."""
    masks: dict[str, Masks] = {}
    objects: dict[str, Masks] = {}  # of the segmenter: annotated ones are read as they are needed
    for key, sample in pool.items():
        foreground = object_masks(sample, sample.label)
        if not foreground:
            foreground = _segment(audit, sample)
            objects[key] = foreground
        if foreground and not any(map(np.all, foreground)):
            shows = cue.has_factor(sample)
            masks[key] = tuple(~mask for mask in foreground) if shows else ()
    if not masks:
        return None
    located = _cue_in_masks(cue, masks, "the complement of the foreground's masks")
    return replace(located, objects=objects)


def _segment(audit: Audit, sample: Sample) -> Masks:
    if "segmenter" not in audit.tools or sample.label is None:
        return ()
    audit.context.stop_plan_before("the masks of the segmenter")
    found = audit.tools["segmenter"].segment(list(sample.frames), [sample.label])
    masks = tuple(np.asarray(of_frame[0], dtype=bool) for of_frame in found)
    return masks if any(map(np.any, masks)) else ()


def _cue_in_masks(
    cue: Cue,
    masks: Mapping[str, Masks],
    by: str,
    *,
    auroc: float | None = None,
    word: str | None = None,
) -> LocatedCue:
    """A sample whose masks are empty does not show the cue."""
    places = {}
    for key, of_frames in masks.items():
        frames = tuple(np.flatnonzero(list(map(np.any, of_frames))).tolist())
        if frames:
            places[key] = Place(masks=of_frames, frames=frames)
    without = masks.keys() - places.keys()
    return located_cue(cue, places, without, by, auroc=auroc, word=word, has_regions=True)
