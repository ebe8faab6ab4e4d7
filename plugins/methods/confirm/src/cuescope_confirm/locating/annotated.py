"""Cues that masks, boxes or a detector show: objects by name, and the background."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from cuescope_confirm.locating.places import LocatedCue, Masks, box_mask, size_of
from cuescope_confirm.study import THING, Cue, Samples, Study, pick, shuffle
from cuescope_sdk import Detection, Frame, Occurrence, Sample, UserError
from cuescope_sdk.explain import foreground_of
from cuescope_sdk.interventions import Place
from cuescope_sdk.statistics import Roc
from cuescope_sdk.tools import CachedDetector

MOST_CHECKED = 150  # of the run's samples on each side, by which a detector is judged
SCORE = 0.3  # a detection counts from here on where the run's samples do not tell
LOWEST = 1e-6  # score: what is detected with none is not there


def annotated_masks(sample: Sample, name: str) -> Masks | None:
    """The annotated masks of a thing, one a frame: () where it is not there, None if unknown."""
    # boxes and masks are of one image: they do not say which frame of a clip is meant
    if len(sample.frames) != 1:
        return None
    name = name.lower()
    annotations = sample.annotations
    for key, image in annotations.get("masks", {}).items():
        if key.lower() == name:
            # white on black: any grey above 0 is the thing
            mask = np.asarray(image.load().convert("L"))
            return (mask.astype(bool),)
    annotated = annotations.get("boxes", ())
    boxes = [box.box for box in annotated if box.name.lower() == name]
    if boxes:
        return (box_mask(boxes, size_of(sample.frames[0])),)
    return () if annotations.keys() & {"boxes", "masks"} else None


def object_masks(sample: Sample, label: str | None) -> Masks:
    """The masks of what the sample is about, one a frame; () where they are unknown."""
    foreground = foreground_of(sample)
    if foreground is None or not sample.frames:
        return annotated_masks(sample, label or sample.label or "") or ()
    rows, cols = size_of(sample.frames[0])
    # stretched, a mask of another image would hide wrong pixels without any sign
    if foreground.shape != (rows, cols):
        raise UserError(
            f"the foreground of sample '{sample.key}' does not fit its frame",
            expected=f"{rows} x {cols} (rows x columns)",
            got=" x ".join(map(str, foreground.shape)),
        )
    return (foreground,) * len(sample.frames)


def with_occurrences(study: Study, cue: Cue) -> Cue:
    """A cue that is a name alone, with the samples of the run that show it."""
    word = cue.word
    if cue.feature.occurrences or word is None or cue.kind == THING:
        return cue
    keys = [key for key, sample in study.seen.items() if annotated_masks(sample, word)]
    # a detector looks at every frame of the run: only where nothing is annotated
    if not keys and "detector" in study.audit.tools:
        best = _best_scores(study, study.seen, word)
        keys = [key for key, score in best.items() if score >= SCORE]
    occurrences = tuple(Occurrence(sample=key) for key in keys)
    feature = cue.feature.model_copy(update={"occurrences": occurrences})
    return replace(cue, feature=feature)


def locate_object(
    study: Study,
    cue: Cue,
    word: str,
    pool: Samples,
) -> LocatedCue | None:
    """An object by its name: annotated, else by `--tool detector`; None with neither."""
    annotated = {key: annotated_masks(sample, word) for key, sample in pool.items()}
    if any(annotated.values()):
        # nobody knows whether a sample without annotations shows it
        masks = {key: masks for key, masks in annotated.items() if masks is not None}
        return _cue_in_masks(masks, "annotated boxes and masks")
    if "detector" not in study.audit.tools:
        return None
    # each detector has a scale of its own: the run's samples tell which score counts
    threshold, quality = _judge_detector(study, cue, word)
    masks = {}
    for key, of_frames in _detect(study, pool, word).items():
        masks[key] = _masks_of_boxes(pool[key], of_frames, threshold)
    name = study.audit.tool_specs.get("detector", "detector")
    return _cue_in_masks(masks, name, quality)


def _masks_of_boxes(
    sample: Sample,
    detections: Sequence[Sequence[Detection]],
    threshold: float,
) -> Masks:
    """The boxes of each frame that score so high."""
    masks = []
    for frame, of_frame in zip(sample.frames, detections, strict=True):
        sure = [detection for detection in of_frame if detection.score >= threshold]
        boxes = [detection.box for detection in sure]
        masks.append(box_mask(boxes, size_of(frame)))
    return tuple(masks)


def _detect(
    study: Study,
    samples: Samples,
    word: str,
) -> dict[str, list[Sequence[Detection]]]:
    """What the detector finds in each frame of each sample."""
    audit = study.audit
    detector = CachedDetector(audit.tools["detector"], audit.context)
    frames: list[Frame] = []
    for sample in samples.values():
        frames += sample.frames
    detections = iter(detector.detect(frames, [word]))
    return {
        key: list(islice(detections, len(sample.frames)))
        for key, sample in samples.items()
    }


def _best_scores(
    study: Study,
    samples: Samples,
    word: str,
) -> dict[str, float]:
    """Of each sample the largest score in any frame; 0 without a detection."""
    best = {}
    for key, of_frames in _detect(study, samples, word).items():
        scores = [detection.score for detection in chain(*of_frames)]
        best[key] = max(scores, default=0.0)
    return best


def _judge_detector(
    study: Study,
    cue: Cue,
    word: str,
) -> tuple[float, float | None]:
    """By the run's samples: the score from which on a detection counts, and its AUROC."""
    shown = cue.samples_with_cue(study.seen)
    rng = study.rng("detector", cue.id)
    keys = []
    for side in (shown, study.seen.keys() - shown):
        keys += shuffle(sorted(side), rng)[:MOST_CHECKED]
    positive = np.isin(keys, list(shown))
    # the run shows it everywhere or nowhere: no cut can be learned
    if not positive.any() or positive.all():
        return SCORE, None
    best = _best_scores(study, pick(study.seen, keys), word)
    scores = np.array(list(best.values()))
    roc = Roc(scores, positive)
    return max(roc.youden_cut(), LOWEST), roc.auroc()


def locate_background(study: Study, cue: Cue, pool: Samples) -> LocatedCue | None:
    """All but the foreground, of the cue's factor where it has one; None without a foreground."""
    masks: dict[str, Masks] = {}
    # of the segmenter: annotated ones are read as they are needed
    objects: dict[str, Masks] = {}
    for key, sample in pool.items():
        foreground = object_masks(sample, sample.label)
        if not foreground:
            foreground = _segment(study, sample)
            objects[key] = foreground
        # an object that fills the frame leaves no background
        if foreground and not any(map(np.all, foreground)):
            # of another kind: this sample is known to be without the cue
            masks[key] = ()
            if cue.has_factor(sample):
                masks[key] = tuple(map(np.invert, foreground))
    if not masks:
        return None
    located = _cue_in_masks(masks, "the complement of the foreground's masks")
    return replace(located, objects=objects)


def _segment(study: Study, sample: Sample) -> Masks:
    # a segmenter is asked for the object by its label
    audit = study.audit
    if "segmenter" not in audit.tools or sample.label is None:
        return ()
    # a plan must cost nothing, and a segmenter may be slow or paid for
    audit.context.stop_plan_before("the masks of the segmenter")
    segmenter = audit.tools["segmenter"]
    by_label = segmenter.segment(list(sample.frames), [sample.label])
    # one label is asked for, so each frame has one mask
    masks = tuple(np.asarray(of_frame[0], dtype=bool) for of_frame in by_label)
    # it found no object: then all of the frame would count as background
    return masks if any(map(np.any, masks)) else ()


def _cue_in_masks(
    masks: Mapping[str, Masks],
    by: str,
    auroc: float | None = None,
) -> LocatedCue:
    """A sample whose masks are empty does not show the cue."""
    places = {}
    for key, of_frames in masks.items():
        frames = np.flatnonzero(list(map(np.any, of_frames))).tolist()
        if frames:
            places[key] = Place(masks=of_frames, frames=tuple(frames))
    return LocatedCue(places, masks.keys() - places.keys(), by, auroc)
