"""What can be wrong with a file, in words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from cuescope_sdk import BadDataError

# Pillow's own limit, above which it speaks of a decompression bomb.
MAX_PIXELS = 89_478_485


def reason(error: Exception) -> str:
    """One short line, the same every time."""
    match error:
        case UnidentifiedImageError():
            return "no image of a known format"
        case Image.DecompressionBombError():
            return "so many pixels that it may be a decompression bomb"
        case OSError(strerror=str(text)) if text:
            return text
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:80]


@contextmanager
def readable_still(path: Path) -> Iterator[None]:
    """Raise BadDataError for whatever goes wrong within: the file was good when it was probed."""
    try:
        yield
    except Exception as error:
        raise BadDataError(
            f"{path} can no longer be read",
            got=reason(error),
            remedy="Put it back as it was and run the same command again",
        ) from error


def require_pixels(size: Sequence[int], max_pixels: int) -> None:
    """Raise ValueError for an image (width, height) of more than `max_pixels`."""
    width, height = size
    if width * height > max_pixels:
        raise ValueError(f"{width} x {height} pixels, more than max_pixels={max_pixels}")
