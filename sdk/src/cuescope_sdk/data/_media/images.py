"""Images and animations with Pillow: upright, opaque, RGB."""

from collections.abc import Set
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageOps

from cuescope_sdk.data._media.files import MAX_PIXELS, readable_still, require_pixels


@cache
def _formats() -> list[str]:
    # Named, because Pillow would otherwise go by content alone and run Ghostscript for an EPS.
    wanted = ("JPEG", "PNG", "WEBP", "BMP", "DIB", "GIF", "TIFF", "PPM", "AVIF")
    Image.init()
    return [name for name in wanted if name in Image.OPEN]


def load_image(path: Path) -> Image.Image:
    """The image as a person sees it, RGB."""
    with readable_still(path), Image.open(path, formats=_formats()) as image:
        return upright_rgb(image)


def upright_rgb(image: Image.Image) -> Image.Image:
    """Turned as its EXIF says; transparency over white; 16-bit grey by its high byte."""
    image.load()
    # Pillow's convert would clip these at 255, to white
    deep = image.mode.startswith("I;16") or (image.mode, image.format) == ("I", "PPM")
    try:
        image = ImageOps.exif_transpose(image)
    except Exception:  # broken EXIF raises anything, and the pixels are still good
        image = image.copy()
    if deep:
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        opaque = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(opaque, image.convert("RGBA")).convert("RGB")
    return image.convert("RGB")


def decode_animation(path: Path, wanted: Set[int]) -> dict[int, Image.Image]:
    """The wanted frames by index, as far as they can be read."""
    frames: dict[int, Image.Image] = {}
    with Image.open(path, formats=("GIF",)) as image:
        for index in sorted(wanted):
            try:
                image.seek(index)
                frames[index] = upright_rgb(image)
            except (EOFError, OSError, SyntaxError, ValueError):
                break  # a GIF that is cut off keeps its first frames
    return frames


def animation_times(path: Path) -> Float[np.ndarray, " frame"]:
    """When each frame of a GIF comes on screen, in seconds from the first."""
    lasts = []
    with Image.open(path, formats=("GIF",)) as image:
        for index in range(measure_animation(path, MAX_PIXELS)):
            image.seek(index)
            lasts.append(image.info.get("duration", 0) / 1000)
    return np.cumsum([0.0, *lasts[:-1]])  # the last frame's duration starts nothing


def measure_image(path: Path, max_pixels: int) -> int:
    """1, the count of frames, once the image has been decoded; raises where it cannot be."""
    with Image.open(path, formats=_formats()) as image:
        require_pixels(image.size, max_pixels)
        upright_rgb(image)
    return 1


def measure_animation(path: Path, max_pixels: int) -> int:
    """How many frames of a GIF can be decoded; raises where the first cannot."""
    with Image.open(path, formats=("GIF",)) as image:
        require_pixels(image.size, max_pixels)
        upright_rgb(image)
        count = 1  # the header does not say how many: one must go on until it fails
        try:
            while True:
                image.seek(count)
                image.load()
                count += 1
        except (EOFError, OSError, SyntaxError, ValueError):
            return count
