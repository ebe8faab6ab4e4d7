"""Images and animations with Pillow: upright, opaque, RGB."""

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from jaxtyping import Float
from PIL import ExifTags, Image

from cuescope_core.amounts import count_of
from cuescope_core.jpeg_scans import MOST_SCANS, has_too_many_scans
from cuescope_core.pixels import darkened, to_rgb
from cuescope_sdk import BadDataError
from cuescope_sdk.data._media.content import content_of
from cuescope_sdk.data._media.files import (
    MOST_PIXELS,
    PIXEL_BYTES,
    TOO_MANY_IN_ALL,
    most_clip_pixels,
    reads_heif,
    require_pixels,
)
from cuescope_sdk.data._media.memory import DECODING

# bytes a pixel: these libraries keep canvases of their own
_LARGE_BYTES = {"WEBP": 20, "AVIF": 20, "HEIF": 20}
_BYTE_PIXELS = 10_000  # pixels that are decoded for a byte of an animation
_MOST_FRAMES = 100_000  # of a GIF: an hour; one of a pixel each takes fifteen bytes
_ANIMATED = ("PNG", "WEBP", "AVIF", "GIF")


@cache
def image_formats() -> list[str]:
    """Pillow's names of the formats that are read."""
    # Named, because Pillow would otherwise go by content alone and run Ghostscript for an EPS.
    wanted = ("JPEG", "PNG", "WEBP", "BMP", "DIB", "GIF", "TIFF", "PPM", "AVIF", "HEIF")
    if reads_heif():
        import pillow_heif  # type: ignore[import-not-found, unused-ignore]

        pillow_heif.register_heif_opener()
    Image.init()
    return [name for name in wanted if name in Image.OPEN]


@dataclass(frozen=True, slots=True)
class PictureShape:
    """Width and height of a picture as its pixels are `stored`, and its EXIF `orientation`."""

    stored: tuple[int, int]
    orientation: int = 1

    @property
    def shown(self) -> tuple[int, int]:
        """Width and height once it is turned as its EXIF says."""
        # 5 to 8 exchange the sides (CIPA DC-008, tag 0x0112)
        return self.stored[::-1] if self.orientation >= 5 else self.stored

    @property
    def is_turned(self) -> bool:
        return self.orientation != 1

    def turn(self, image: Image.Image) -> Image.Image:
        """An image of the stored pixels, such as a mask, turned as the picture is."""
        method = _TURNS.get(self.orientation)
        return image if method is None else image.transpose(method)

    def turn_box(self, box: Sequence[float]) -> tuple[float, float, float, float]:
        """A box of the stored pixels (left, top, right, bottom) in those that are shown."""
        width, height = self.stored
        left, top, right, bottom = box
        x0, y0 = _turned(left, top, width, height, self.orientation)
        x1, y1 = _turned(right, bottom, width, height, self.orientation)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


# what undoes each orientation, as Pillow's `exif_transpose` does
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def _turned(
    x: float, y: float, width: float, height: float, orientation: int
) -> tuple[float, float]:
    """Where a point of the stored pixels is shown."""
    places = {
        2: (width - x, y),
        3: (width - x, height - y),
        4: (x, height - y),
        5: (y, x),
        6: (height - y, x),
        7: (height - y, width - x),
        8: (y, width - x),
    }
    return places.get(orientation, (x, y))


def picture_shape(path: Path) -> PictureShape:
    """The shape of an image file, from its header; raises BadDataError where it has none."""
    try:
        with (
            path.open("rb") as file,
            Image.open(file, formats=image_formats()) as image,
        ):
            orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
            stored = image.size
    # decoders of strangers' bytes raise anything at all
    except Exception as error:
        raise BadDataError(f"{path.name} is no picture") from error
    return PictureShape(stored, orientation if orientation in _TURNS else 1)


def decode_image(file: BinaryIO, *, turned: bool = True) -> Image.Image:
    """The image as a person sees it, RGB; not `turned`: as its pixels are stored."""
    with _open(file, image_formats(), MOST_PIXELS) as image:
        return to_rgb(image, turned=turned)


def decode_animation(file: BinaryIO, wanted: Set[int]) -> dict[int, Image.Image]:
    """The wanted frames by index, as far as they can be read."""
    frames: dict[int, Image.Image] = {}
    with _open(file, ["GIF"], MOST_PIXELS, len(wanted)) as image:
        for index in sorted(wanted):
            try:
                image.seek(index)
                require_pixels(image.size, MOST_PIXELS)  # frames may grow
                frames[index] = to_rgb(image.copy())
            except (EOFError, OSError, SyntaxError, ValueError):
                break  # a GIF that is cut off keeps its first frames
    return frames


def animation_times(file: BinaryIO) -> Float[np.ndarray, " frame"]:
    """When each frame of a GIF comes on screen, in seconds from the first."""
    count, _ = measure_animation(file, MOST_PIXELS)
    file.seek(0)
    lasts = []
    with _open(file, ["GIF"], MOST_PIXELS) as image:
        for index in range(count):
            image.seek(index)
            lasts.append(image.info.get("duration", 0) / 1000)
    return np.cumsum([0.0, *lasts[:-1]])  # the last frame's duration starts nothing


def measure_image(file: BinaryIO, max_pixels: int) -> tuple[int, str | None]:
    """1, the count of frames, once the image has been decoded; raises where it cannot be.

    Beside it, what of the file is not shown.
    """
    with _open(file, image_formats(), max_pixels) as image:
        frames = getattr(image, "n_frames", 1) if image.format in _ANIMATED else 1
        image.load()
        loss = darkened(image)
        if image.mode in ("I", "F"):
            to_rgb(image)  # of numbers all decide
        elif image.mode not in ("L", "RGB", "RGBA"):
            to_rgb(image.crop((0, 0, 1, 1)))  # some modes cannot be converted
    return 1, f"only the first of its {frames} frames is shown" if frames > 1 else loss


def measure_animation(file: BinaryIO, max_pixels: int) -> tuple[int, str | None]:
    """How many frames of a GIF can be decoded; raises where the first cannot.

    Beside it, what of the file is lost.
    """
    most = most_clip_pixels(file, max_pixels, _BYTE_PIXELS)
    with _open(file, ["GIF"], max_pixels) as image:
        image.load()
        count = 1
        total = image.width * image.height
        damage = None
        try:
            # the header does not say how many: one must go on until it fails
            while True:
                image.seek(count)
                total += image.width * image.height
                require_pixels(image.size, max_pixels)
                if total > most:
                    raise _EndlessError(TOO_MANY_IN_ALL.format(most=most))
                if count == _MOST_FRAMES:
                    raise _EndlessError(f"more than {_MOST_FRAMES:,} frames")
                image.load()
                count += 1
        except EOFError:
            pass
        except _EndlessError as error:
            raise ValueError(str(error)) from None
        except (OSError, SyntaxError, ValueError):
            damage = f"damaged after {count_of(count, 'frames')}"
    file.seek(-1, 2)
    cut = None if file.read() == b";" else f"cut off after {count_of(count, 'frames')}"
    return count, damage or cut


class _EndlessError(Exception):
    """An animation of small frames, or of small files, without end."""


@contextmanager
def _open(
    file: BinaryIO,
    formats: list[str],
    max_pixels: int,
    wanted: int = 0,
) -> Iterator[Image.Image]:
    """The image before it is decoded, with the memory reserved that it takes, and its frames."""
    _require_few_scans(file)
    with Image.open(file, formats=formats) as image:
        pixel_bytes = _LARGE_BYTES.get(image.format or "", PIXEL_BYTES)
        require_pixels(image.size, max_pixels, pixel_bytes, image.format or "it")
        with DECODING.hold(image.width * image.height * (pixel_bytes + 3 * wanted)):
            yield image


def _require_few_scans(file: BinaryIO) -> None:
    """Raise ValueError for a JPEG of a few bytes that would be decoded for minutes."""
    if has_too_many_scans(content_of(file)):
        raise ValueError(f"more than {MOST_SCANS} scans, each of all its pixels")
