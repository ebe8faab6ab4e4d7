"""Images and animations with Pillow: upright, opaque, RGB."""

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np
from jaxtyping import Float
from PIL import ExifTags, Image

from cuescope_core.amounts import count_of
from cuescope_core.atomic_files import Draft
from cuescope_core.pixels import darkened, to_rgb
from cuescope_sdk import BadDataError
from cuescope_sdk.data._media.content import content_digest
from cuescope_sdk.data._media.files import (
    MOST_PIXELS,
    Measured,
    kind_of,
    reads_heif,
    require_pixels,
)

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


# what undoes each orientation (TIFF 6.0, 1992), as Pillow's `exif_transpose` does
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


def keep_content(content: bytes, folder: Path, name: str = "") -> Path:
    """Return the file of a folder that has these bytes, named by their digest; write it if needed.

    Its suffix is that of `name` where it is known, else that of the bytes; "" for unknown ones,
    which whoever opens the file tells.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if not suffix or kind_of(PurePosixPath(f"a{suffix}")) is None:
        suffix = ""
        # decoders meet strangers' bytes, and raise anything at all
        with (
            suppress(Exception),
            Image.open(BytesIO(content), formats=image_formats()) as image,
        ):
            suffix = f".{str(image.format).lower()}"
    key = content_digest(BytesIO(content))
    path = folder / key[:2] / f"{key}{suffix}"
    if not path.exists() or path.stat().st_size != len(content):
        # several processes may write the same one
        with Draft(path) as draft:
            draft.file.write(content)
    return path


def decode_image(file: BinaryIO, *, turned: bool = True) -> Image.Image:
    """The image as a person sees it, RGB; not `turned`: as its pixels are stored."""
    with _open(file, image_formats(), MOST_PIXELS) as image:
        return to_rgb(image, turned=turned)


def decode_animation(file: BinaryIO, wanted: Set[int]) -> dict[int, Image.Image]:
    """The wanted frames by index, as far as they can be read."""
    frames: dict[int, Image.Image] = {}
    with _open(file, ["GIF"], MOST_PIXELS) as image:
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
    with _open(file, ["GIF"], MOST_PIXELS) as image:
        lasts, _ = _durations(image, MOST_PIXELS)
    return np.cumsum([0.0, *lasts[:-1]])  # the last frame's duration starts nothing


def measure_image(file: BinaryIO, max_pixels: int) -> Measured:
    """One frame, once the image has been decoded; raises where it cannot be."""
    with _open(file, image_formats(), max_pixels) as image:
        frames = getattr(image, "n_frames", 1) if image.format in _ANIMATED else 1
        image.load()
        loss = darkened(image)
        if image.mode in ("I", "F"):
            to_rgb(image)  # of numbers all decide
        elif image.mode not in ("L", "RGB", "RGBA"):
            to_rgb(image.crop((0, 0, 1, 1)))  # some modes cannot be converted
    if frames > 1:
        loss = f"only the first of its {frames} frames is shown"
    return Measured(loss=loss)


def measure_animation(file: BinaryIO, max_pixels: int) -> Measured:
    """The frames of a GIF that can be decoded; raises where the first cannot."""
    with _open(file, ["GIF"], max_pixels) as image:
        lasts, is_damaged = _durations(image, max_pixels)
    count = len(lasts)
    file.seek(-1, 2)
    loss = None if file.read() == b";" else f"cut off after {count_of(count, 'frames')}"
    if is_damaged:
        loss = f"damaged after {count_of(count, 'frames')}"
    return Measured(count, loss, len(set(lasts[:-1])) < 2)


def _durations(image: Image.Image, max_pixels: int) -> tuple[list[float], bool]:
    """The seconds of each frame of a GIF that can be decoded, and if one cannot be."""
    image.load()
    lasts = [image.info.get("duration", 0) / 1000]
    try:
        # the header does not say how many: one must go on until it fails
        while True:
            image.seek(len(lasts))
            require_pixels(image.size, max_pixels)
            image.load()
            lasts.append(image.info.get("duration", 0) / 1000)
    except EOFError:
        return lasts, False
    except (OSError, SyntaxError, ValueError):
        return lasts, True


@contextmanager
def _open(file: BinaryIO, formats: list[str], max_pixels: int) -> Iterator[Image.Image]:
    """The image before it is decoded."""
    with Image.open(file, formats=formats) as image:
        require_pixels(image.size, max_pixels)
        yield image
