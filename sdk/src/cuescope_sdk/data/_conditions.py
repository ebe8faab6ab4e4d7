"""Measures of samples besides what was found: sizes, places, times, picture quality."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_sdk import Audit, BadDataError, Detection, Frame, Sample
from cuescope_sdk.tools import normalise_name

SIZE = "the size of the labelled object"
ANSWER = "whether a wrong answer is on screen too"
ORDER = "the place in the order of the data"
QUALITY = (
    "the sharpness of the picture",
    "the brightness of the picture",
    "the contrast of the picture",
    "how much its file is compressed",
)
SIZE_KEYS = ("object_size", "object_area", "size", "area")
# where and when something was recorded; any other annotation may be the very cue
PLACES_AND_TIMES = (
    "camera",
    "center",
    "centre",
    "date",
    "device",
    "hospital",
    "scanner",
    "session",
    "site",
    "time",
    "year",
)
FEW_PLACES = 20  # more words than these tell samples apart, and make none alike
YES_NO = ("yes", "no", "true", "false")
SEEN = 0.3  # score of a detection that counts: the default of Grounded-SAM
SIDE = 256  # pixels, to which a picture is made smaller before it is measured
LEAST_BESIDE = 0.1  # of a picture: less than this tells nothing of its quality

PerSample = Float[np.ndarray, " sample"]
Conditions = dict[str, PerSample]
Box = tuple[float, float, float, float]  # left, top, right, bottom
Boxes = Sequence[Detection]


def conditions_of(
    audit: Audit,
    samples: Sequence[Sample],
    label: str | None,
    answers: Sequence[str],
) -> Conditions:
    """The values of each condition by its name, NaN where one is unknown.

    `answers` name things that may be on screen too.
    """
    place = {sample.key: number for number, sample in enumerate(audit.samples)}
    conditions = {ORDER: _numbers(place.get(sample.key) for sample in samples)}
    given = set().union(*(sample.annotations for sample in samples))
    for name in sorted(given.intersection(PLACES_AND_TIMES)):
        values = [sample.annotations.get(name) for sample in samples]
        conditions |= _place_or_time(name, values)
    things = _things(audit, samples, [*filter(None, [label]), *answers])
    if label is not None:
        sizes = [object_size(sample, label) for sample in samples]
        if not any(sizes):
            sizes = [_largest(boxes, label) for boxes in things]
        if any(sizes) or _may_have_a_size(label, samples):
            conditions[SIZE] = _numbers(sizes)
    if answers:
        shown = (None if boxes is None else _shows(boxes, answers) for boxes in things)
        conditions[ANSWER] = _numbers(shown)
    return conditions


def _may_have_a_size(label: str, samples: Sequence[Sample]) -> bool:
    """True if a label may name a thing: "yes" does not, nor the "B" that answers a question."""
    if label.casefold() in YES_NO:
        return False
    # without a question a letter or a digit may be what is seen
    return len(label) > 1 or not all(sample.question for sample in samples)


def _numbers(values: Iterable[float | None]) -> PerSample:
    return np.array([np.nan if value is None else float(value) for value in values])


def _place_or_time(name: str, given: Sequence[Any]) -> Conditions:
    """A number as it is; of words, which samples have each."""
    if all(value is None or is_number(value) for value in given):
        return {f"the {name}": _numbers(given)}
    words = sorted({str(value) for value in given if value is not None})
    if len(words) > FEW_PLACES:
        return {}
    return {
        f"the {name} '{word}'": np.array([float(str(value) == word) for value in given])
        for word in words
    }


def is_number(value: object) -> bool:
    """True if it is a number; True is none."""
    numeric = isinstance(value, int | float | np.integer | np.floating)
    return numeric and not isinstance(value, bool)


# -------------------------------------------------------------------------------- things on screen


def object_size(sample: Sample, label: str) -> float | None:
    """Area of the labelled object: annotated as a number, as a mask or as boxes of its name.

    Where all that is outlined has one other name ("disc" for "moving north"), it is that.
    """
    annotations = sample.annotations
    for key in SIZE_KEYS:
        if is_number(annotations.get(key)):
            return float(annotations[key])
    areas: dict[str, float] = {}
    for name, mask in annotations.get("masks", {}).items():
        areas[normalise_name(name)] = _covered_share(mask)
    # boxes only where no mask is known: a mask has the object's own area
    if not areas:
        for box in annotations.get("boxes", ()):
            name = normalise_name(box.name)
            areas[name] = areas.get(name, 0.0) + _area(box)
    if len(areas) == 1:
        return next(iter(areas.values()))
    return areas.get(normalise_name(label))


def _covered_share(mask: Frame | np.ndarray) -> float:
    """The share of the pixels of a mask: white on black, or True."""
    if isinstance(mask, Frame):
        grey = mask.load().convert("L")
        mask = np.asarray(grey) > 127
    return float(np.mean(mask))


def _area(box: Detection) -> float:
    x0, y0, x1, y1 = box.box
    return (x1 - x0) * (y1 - y0)


def _things(
    audit: Audit, samples: Sequence[Sample], names: Sequence[str]
) -> list[Boxes | None]:
    """The annotated boxes of each sample, else those of a detector; None where nothing tells."""
    if any("boxes" in sample.annotations for sample in samples):
        return [sample.annotations.get("boxes", ()) for sample in samples]
    has_frames = all(sample.frames for sample in samples)
    if "detector" not in audit.tools or not names or not has_frames:
        return [None] * len(samples)
    from cuescope_sdk.tools import CachedDetector

    detector = CachedDetector(audit.tools["detector"], audit.context)
    frames = [sample.frames[len(sample.frames) // 2] for sample in samples]
    return list(detector.detect(frames, names))


def _with_names(boxes: Boxes, names: Sequence[str]) -> list[Detection]:
    wanted = set(map(normalise_name, names))
    return [
        box for box in boxes if box.score >= SEEN and normalise_name(box.name) in wanted
    ]


def _largest(boxes: Boxes | None, label: str) -> float | None:
    return max(map(_area, _with_names(boxes or (), [label])), default=None)


def _shows(boxes: Boxes, answers: Sequence[str]) -> bool:
    return bool(_with_names(boxes, answers))


# --------------------------------------------------------------------------------- picture quality


def picture_quality(
    frames: Sequence[Frame], things: Sequence[Box | None]
) -> Conditions:
    """Sharpness, brightness, contrast and compression of each frame, beside a thing in it.

    `things` are boxes in pixels, None where there is none. A lamp makes its pictures bright, and a
    poster sharp: measured with them, quality would explain whatever such a thing does.
    """
    measured = np.full((len(frames), len(QUALITY)), np.nan)
    for number, (frame, thing) in enumerate(zip(frames, things, strict=True)):
        # what cannot be read any more is unknown: the audit itself is done
        with suppress(BadDataError):
            measured[number] = (*_quality_beside(frame, thing), _quantisation(frame))
    return dict(zip(QUALITY, measured.T, strict=True))


def _quality_beside(frame: Frame, thing: Box | None) -> tuple[float, float, float]:
    """Medians and quartiles: small things that no box tells of change them little."""
    picture = frame.load().convert("L")
    width, height = picture.size
    picture.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    grey = np.asarray(picture, dtype=float)
    beside = np.ones(grey.shape, dtype=bool)
    if thing is not None:
        rows, cols = grey.shape
        x0, y0, x1, y1 = np.array(thing) * np.array([cols / width, rows / height] * 2)
        # cells that a box only touches show the thing too
        beside[
            int(max(y0, 0)) : int(np.ceil(y1)), int(max(x0, 0)) : int(np.ceil(x1))
        ] = False
    middle = grey[1:-1, 1:-1]
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    edges = np.abs(around - 4 * middle)[beside[1:-1, 1:-1]]
    if beside.mean() < LEAST_BESIDE or not edges.size:
        return np.nan, np.nan, np.nan
    low, brightness, high = np.percentile(grey[beside], (25, 50, 75))
    # the Laplacian, as Pech-Pacheco et al. (2000), but its median: one edge may have all variance
    return float(np.median(edges)), float(brightness), float(high - low)


def _quantisation(frame: Frame) -> float:
    """How coarsely a JPEG is stored, whatever it shows; NaN for other files."""
    if frame.source is None or frame.source.count > 1:
        return np.nan
    with suppress(OSError), Image.open(frame.source.path) as image:
        tables = getattr(image, "quantization", {})
        return float(np.mean(tables[0])) if 0 in tables else np.nan
    return np.nan
