"""One door for pictures, whoever reads them: upright, opaque, RGB, eight bits a channel."""

from io import BytesIO

import numpy as np
from PIL import Image, ImageOps

from cuescope_core.errors import BadDataError
from cuescope_core.trust.child import in_child

FORMATS = ("JPEG", "PNG")  # of what is kept: others run programs

# pixels that are laid over white at a time: each takes four times its memory
STRIP = 2**20
EIGHT_BITS = 255
SIXTEEN_BITS = 65_535


def decode_picture(content: bytes, title: str, most: int) -> Image.Image:
    """Decode a kept JPEG or PNG of at most so many pixels, in a child: it may be a stranger's.

    Raises BadDataError, which begins with `title`, for one that cannot be shown.
    """
    return in_child(title, _decode, content, title, most)


def _decode(content: bytes, title: str, most: int) -> Image.Image:
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > most:
                raise BadDataError(f"{title} is too large to be shown")
            image.load()
            return image.copy()
    # Pillow raises SyntaxError for a broken PNG
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadDataError(f"{title} cannot be read", got=str(error)) from error


def to_rgb(image: Image.Image, *, turned: bool = True) -> Image.Image:
    """A copy in RGB, as a person sees the picture.

    It is turned as its EXIF says, unless not `turned`; transparency lies over white; 16-bit grey is
    shown by its high byte, float grey from 0 to 1 as from black to white. Raises ValueError for
    numbers that have no such meaning, which would be shown as black or white alone.
    """
    image.load()
    # Pillow's convert would clip these at 255, to white
    deep = image.mode.startswith("I;16") or (image.mode, image.format) == ("I", "PPM")
    numbers = image.mode in ("I", "F") and not deep
    if turned:
        image = _upright(image)
    if deep:
        return _grey(np.asarray(image) >> 8)
    if numbers:
        return _grey(_eight_bits(np.asarray(image)))
    return _over_white(image) if image.has_transparency_data else image.convert("RGB")


def darkened(image: Image.Image) -> str | None:
    """Say that 16 bits hold fewer, as cameras of 10 to 14 bits write them; None elsewhere."""
    if not image.mode.startswith("I;16"):
        return None
    highest = int(np.asarray(image).max(initial=0))
    bits = highest.bit_length()
    if not 8 < bits < 16:
        return None
    factor = 2 ** (16 - bits)
    return (
        f"{bits} bits in 16: it is shown darker than they mean, by a factor of {factor}"
    )


def _eight_bits(pixels: np.ndarray) -> np.ndarray:
    low, high = float(pixels.min()), float(pixels.max())
    # NaN fails every comparison
    if not (low >= 0 and high <= SIXTEEN_BITS):
        raise ValueError(f"pixels from {low:.4g} to {high:.4g}, which no screen shows")
    if high > EIGHT_BITS:
        return pixels.astype(np.uint16) >> 8
    is_share = np.issubdtype(pixels.dtype, np.floating) and high <= 1
    return np.rint(pixels * EIGHT_BITS) if is_share else pixels


def _grey(pixels: np.ndarray) -> Image.Image:
    return Image.fromarray(pixels.astype(np.uint8)).convert("RGB")


def _upright(image: Image.Image) -> Image.Image:
    try:
        ImageOps.exif_transpose(image, in_place=True)
    except Exception:  # broken EXIF raises anything, and the pixels are still good
        return image.copy()
    return image


def _over_white(image: Image.Image) -> Image.Image:
    """Strip by strip, for each takes four times its memory."""
    opaque = Image.new("RGB", image.size)
    rows = max(1, STRIP // image.width)
    for top in range(0, image.height, rows):
        bottom = min(top + rows, image.height)
        strip = image.crop((0, top, image.width, bottom)).convert("RGBA")
        white = Image.new("RGBA", strip.size, "white")
        white.alpha_composite(strip)
        opaque.paste(white.convert("RGB"), (0, top))
    return opaque
