"""An image of the caller, however it is held, as a frame: PIL, uint8 pixels, or a file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from cuescope.digest import digest
from cuescope.errors import BadDataError, UserError
from cuescope.types import Frame, flatten

_ONE_AT_A_TIME = Lock()  # a caller's data set need not bear the threads that load ahead
KINDS = "a PIL image, uint8 pixels (row, col, 3), or the path of an image file"


def frame_of(item: Any, where: str, root: Path = Path()) -> Frame:
    """The frame; raises UserError, which says `where`, for anything that shows no image."""
    if isinstance(item, str | Path):
        return _from_file(root / item, where)
    image = as_image(item, where)
    # the caller's own object is kept, and no copy of its pixels
    return Frame(digest(np.asarray(rgb(image))), partial(rgb, image))


def late_frame(load: Callable[[], Any], where: str) -> Frame:
    """The frame of an image that is made anew each time it is looked at."""
    key = digest(np.asarray(rgb(as_image(load(), where))))
    return Frame(key, partial(_load_late, load, where))


def as_image(item: Any, where: str) -> Image.Image:
    """The item as a PIL image, in any mode, of a pixel at least."""
    if isinstance(item, Image.Image) and item.width and item.height:
        return item
    is_pixels = isinstance(item, np.ndarray) and item.dtype == np.uint8 and item.size
    if is_pixels and item.ndim in (2, 3):
        pixels = item[..., 0] if item.ndim == 3 and item.shape[2] == 1 else item
        if pixels.ndim == 2 or pixels.shape[2] in (3, 4):
            return Image.fromarray(pixels)
    got = None
    if isinstance(item, np.ndarray):
        got = f"{item.dtype} of shape {item.shape}"
    elif isinstance(item, Image.Image):
        got = f"one of {item.width} x {item.height} pixels"
    raise UserError(
        f"{where} is no image",
        expected=KINDS,
        got=got or type(item).__name__,
        remedy="(pixels * 255).astype('uint8') makes pixels of floats"
        if got and "float" in got
        else None,
    )


def rgb(image: Image.Image) -> Image.Image:
    """A copy in RGB: over white where it is transparent, 16-bit grey by its high byte."""
    return flatten(image, deep=image.mode.startswith("I;16"))


def _load_late(load: Callable[[], Any], where: str) -> Image.Image:
    with _ONE_AT_A_TIME:
        return rgb(as_image(load(), where))


def _from_file(path: Path, where: str) -> Frame:
    try:
        frame = Frame.from_file(path)
        frame.load()  # a damaged file is told now, not after an hour
    except UnidentifiedImageError as error:
        raise UserError(
            f"{where}: {path} cannot be read as an image",
            got="a format that is none of Pillow's",
        ) from error
    except (OSError, SyntaxError, BadDataError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise UserError(
            f"{where}: {path} cannot be read as an image", got=reason
        ) from error
    return frame
