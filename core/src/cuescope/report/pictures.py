"""The pictures of a report: small ones of where features occur, larger ones for contrasts."""

import io
import warnings
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw

from cuescope.conclusions import Occurrence, Report
from cuescope.errors import BadDataError
from cuescope.runs import exhibit_key, exhibits, illustrations, picture_key
from cuescope.types import Sample

PICTURE_SIDE = 128
EXHIBIT_SIDE = 512
EXHIBIT_BYTES = 2_500_000  # of all contrasts of a report: its page stays below 5 MB


def report_pictures(report: Report, samples: Sequence[Sample]) -> dict[str, bytes]:
    """What the report shows as JPEG files, by `picture_key` and `exhibit_key`.

    A frame that can no longer be read has none: the answers are there, and a picture is not worth
    an audit.
    """
    by_key = {sample.key: sample for sample in samples}
    small = {picture_key(o): _jpeg(o, by_key, PICTURE_SIDE) for o in illustrations(report)}
    shown, side = exhibits(report), EXHIBIT_SIDE
    large = {exhibit_key(o): _jpeg(o, by_key, side) for o in shown}
    while sum(map(len, large.values())) > EXHIBIT_BYTES and side > PICTURE_SIDE:
        side = side * 3 // 4
        large = {exhibit_key(o): _jpeg(o, by_key, side) for o in shown}
    return {key: picture for key, picture in (small | large).items() if picture}


def _jpeg(occurrence: Occurrence, by_key: Mapping[str, Sample], side: int) -> bytes:
    sample = _sample_of(occurrence, by_key)
    if sample is None or not sample.frames:
        return b""
    try:
        return jpeg(sample, occurrence, side)
    except BadDataError as error:
        warnings.warn(f"no picture of {occurrence.sample}: {error}", stacklevel=2)
        return b""


def _sample_of(occurrence: Occurrence, by_key: Mapping[str, Sample]) -> Sample | None:
    """The sample, or the one that it was derived from: its key goes on after a slash."""
    key = occurrence.sample
    while key not in by_key and "/" in key:
        key = key.rpartition("/")[0]
    return by_key.get(key)


def jpeg(sample: Sample, occurrence: Occurrence, side: int) -> bytes:
    """The occurrence's frame, its region outlined, with at most so many pixels a side.

    Small pictures grow to half of `side` in whole steps, so that their pixels stay sharp.
    """
    image = sample.frames[occurrence.frame or 0].load().copy()  # loaders may keep what they gave
    if occurrence.region is not None:
        width = max(1, max(image.size) // 60)  # two pixels in the thumbnail, whatever the image
        ImageDraw.Draw(image).rectangle(occurrence.region, outline="red", width=width)
    if (factor := side // (2 * max(image.size))) > 1:
        image = image.resize(
            (image.width * factor, image.height * factor), Image.Resampling.NEAREST
        )
    image.thumbnail((side, side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=88)
    return out.getvalue()
