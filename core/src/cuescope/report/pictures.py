"""The pictures of a report: small ones of where features occur, larger ones for contrasts."""

import io
import warnings
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw

from cuescope.affected import root
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
    pictures = {
        picture_key(o): _jpeg(o, by_key, PICTURE_SIDE) for o in illustrations(report)
    }
    side = EXHIBIT_SIDE
    large = _exhibit_pictures(report, by_key, side)
    while sum(map(len, large.values())) > EXHIBIT_BYTES and side > PICTURE_SIDE:
        side = side * 3 // 4
        large = _exhibit_pictures(report, by_key, side)
    pictures |= large
    return {key: picture for key, picture in pictures.items() if picture}


def _exhibit_pictures(
    report: Report,
    by_key: Mapping[str, Sample],
    side: int,
) -> dict[str, bytes]:
    return {exhibit_key(o): _jpeg(o, by_key, side) for o in exhibits(report)}


def _jpeg(occurrence: Occurrence, by_key: Mapping[str, Sample], side: int) -> bytes:
    # of a changed sample the one that it was made of is shown
    sample = by_key.get(root(occurrence.sample, by_key) or "")
    if sample is None or not sample.frames:
        return b""
    try:
        return jpeg(sample, occurrence, side)
    except BadDataError as error:
        warnings.warn(f"no picture of {occurrence.sample}: {error}", stacklevel=2)
        return b""


def jpeg(sample: Sample, occurrence: Occurrence, side: int) -> bytes:
    """The occurrence's frame, its region outlined, with at most so many pixels a side.

    Small pictures grow to half of `side` in whole steps, so that their pixels stay sharp.
    """
    image = (
        sample.frames[occurrence.frame or 0].load().copy()
    )  # loaders may keep what they gave
    if occurrence.region is not None:
        width = max(
            1, max(image.size) // 60
        )  # two pixels in the thumbnail, whatever the image
        ImageDraw.Draw(image).rectangle(occurrence.region, outline="red", width=width)
    factor = side // (2 * max(image.size))
    if factor > 1:
        size = (image.width * factor, image.height * factor)
        image = image.resize(size, Image.Resampling.NEAREST)
    image.thumbnail((side, side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=88)
    return out.getvalue()
