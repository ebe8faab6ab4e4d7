"""The pictures of a report: small ones of where features occur, larger ones for contrasts."""

import io
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from PIL import Image, ImageDraw

from cuescope_core.affected import root
from cuescope_core.conclusions import Occurrence, Report
from cuescope_core.errors import BadDataError
from cuescope_core.pixels import FORMATS, decode_picture
from cuescope_core.runs import exhibit_key, exhibits, illustrations, picture_key
from cuescope_core.types import Sample

PICTURE_SIDE = 128
THUMBNAIL_SIDE = 64  # of what a page shows 60 pixels wide
EXHIBIT_SIDE = 512
# a page shows them 100 to 150 pixels wide, so twice that is sharp on any screen; few may be larger,
# for those who enlarge them
EXHIBIT_BYTES = 1_000_000  # of all contrasts of a report
LEAST_EXHIBIT_SIDE = 2 * PICTURE_SIDE
MOST_PIXELS = 50_000_000  # of a stored picture: a stranger's may claim any size


def stored_picture(content: bytes) -> Image.Image:
    """A picture of a run, decoded; raises BadDataError for one that cannot be shown."""
    return decode_picture(content, "the picture", MOST_PIXELS)


@contextmanager
def picture_header(content: bytes) -> Iterator[Image.Image]:
    """A picture of a run of which no pixel is decoded, for its size, form and mode."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise BadDataError("the picture is too large to be shown")
            yield image
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadDataError("the picture cannot be read", got=str(error)) from error


def thumbnail(content: bytes) -> bytes:
    """A stored picture as small as a page shows it among others, as JPEG.

    Raises BadDataError for one that cannot be shown.
    """
    out = io.BytesIO()
    image = stored_picture(content)
    image.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    image.convert("RGB").save(out, "JPEG")
    return out.getvalue()


def report_pictures(report: Report, samples: Sequence[Sample]) -> dict[str, bytes]:
    """Pictures of the report as JPEG files, by `picture_key` and `exhibit_key`.

    A frame that can no longer be read has none: the answers are there, and a picture is not worth
    an audit.
    """
    by_key = {sample.key: sample for sample in samples}
    pictures = {
        picture_key(o): _jpeg(o, by_key, PICTURE_SIDE) for o in illustrations(report)
    }
    large = _exhibit_pictures(report, by_key, EXHIBIT_SIDE)
    size = sum(map(len, large.values()))
    if size > EXHIBIT_BYTES:
        # a picture's bytes grow with its pixels
        side = round(EXHIBIT_SIDE * math.sqrt(EXHIBIT_BYTES / size))
        side = max(side, LEAST_EXHIBIT_SIDE)
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
        return draw_occurrence(sample, occurrence, side)
    except BadDataError as error:
        warnings.warn(f"no picture of {occurrence.sample}: {error}", stacklevel=2)
        return b""


def draw_occurrence(sample: Sample, occurrence: Occurrence, side: int) -> bytes:
    """The occurrence's frame, its region outlined, with at most so many pixels a side.

    Small pictures grow to a third of `side` in whole steps, so that their pixels stay sharp.
    """
    # a stranger's report may name a frame of a longer clip
    number = min(occurrence.frame or 0, len(sample.frames) - 1)
    # loaders may keep what they gave
    image = sample.frames[number].load().copy()
    if occurrence.region is not None:
        # two pixels in the thumbnail, whatever the image
        width = max(1, max(image.size) // 60)
        # Pillow walks along all of an edge, and a stranger's may be a billion pixels long
        most = max(image.size) + width
        edges = [min(max(edge, -width), most) for edge in occurrence.region]
        ImageDraw.Draw(image).rectangle(edges, outline="red", width=width)
    factor = side // (3 * max(image.size))
    if factor > 1:
        size = (image.width * factor, image.height * factor)
        image = image.resize(size, Image.Resampling.NEAREST)
    image.thumbnail((side, side))
    out = io.BytesIO()
    image.save(out, "JPEG")
    return out.getvalue()
