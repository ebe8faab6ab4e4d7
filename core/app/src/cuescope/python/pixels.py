"""An image of the caller, however it is held, as a frame: PIL, uint8 pixels, or a file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from cuescope_core.digest import digest
from cuescope_core.errors import BadDataError, UserError, with_article
from cuescope_core.pixels import to_rgb
from cuescope_core.types import Frame

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
    got = with_article(type(item).__name__)
    if isinstance(item, Image.Image):
        got = f"one of {item.width} x {item.height} pixels"
    elif hasattr(item, "dtype") and hasattr(item, "shape"):
        # numpy's, or a tensor of another library
        got = f"{item.dtype} of shape {tuple(item.shape)}"
    raise UserError(
        f"{where} is no image",
        expected=KINDS,
        got=got,
        remedy=_how_to_make_pixels(item),
    )


def _how_to_make_pixels(item: Any) -> str | None:
    """Code that turns an array or tensor into pixels that can be pasted; None for all else."""
    if not (hasattr(item, "dtype") and hasattr(item, "shape")):
        return None
    code = "image"
    if not isinstance(item, np.ndarray):
        code += ".numpy(force=True)" if hasattr(item, "detach") else ".__array__()"
    shape = tuple(item.shape)
    channels_first = (
        len(shape) == 3 and shape[0] in (1, 3, 4) and shape[2] not in (3, 4)
    )
    if channels_first:
        code += ".transpose(1, 2, 0)"
    if "float" in str(item.dtype):
        code = f"({code} * 255).astype('uint8')"
        return f"{code} makes pixels of floats from 0 to 1"
    if str(item.dtype).rpartition(".")[2] != "uint8":
        code += ".astype('uint8')"
    return None if code == "image" else f"{code} makes pixels of it"


def rgb(image: Image.Image) -> Image.Image:
    """A copy in RGB; a caller's own image is turned by nobody else."""
    return to_rgb(image, turned=False)


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
