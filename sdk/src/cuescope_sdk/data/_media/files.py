"""Facts about files: their kind by name, what is wrong with them, what is left out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from math import ceil
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from PIL import Image, UnidentifiedImageError

from cuescope_core.amounts import count_of
from cuescope_sdk import BadDataError, UserError

Kind = Literal["image", "animation", "video"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".avif"), "image"),
    **dict.fromkeys((".jpe", ".jfif", ".tif", ".tiff", ".ppm", ".pgm"), "image"),
    **dict.fromkeys((".heic", ".heif", ".hif"), "image"),
    **dict.fromkeys((".mp4", ".m4v", ".mov", ".3gp", ".mkv", ".webm"), "video"),
    **dict.fromkeys((".avi", ".mpg", ".mpeg", ".wmv", ".flv", ".ogv"), "video"),
    ".gif": "animation",
    "": "image",
}


# Pillow reads these only with a package of its own, the extra [heif] of cuescope-folder
_HEIF = (".heic", ".heif", ".hif")


def kind_of(path: PurePath) -> Kind | None:
    """The kind of file that the suffix promises, None where it is neither image nor video.

    A file without suffix is taken for an image: `why_unread` looks into it.
    """
    suffix = path.suffix.lower()
    if suffix in _HEIF and not reads_heif():
        return None
    return _KINDS.get(suffix)


@cache
def reads_heif() -> bool:
    """True if the extra that reads HEIC is installed."""
    return find_spec("pillow_heif") is not None


def unknown_suffix(path: PurePath) -> str:
    """Why a file of no known kind is not read."""
    suffix = path.suffix.lower()
    if suffix in _HEIF:
        return f"'{suffix}' needs pip install pillow-heif"
    return f"'{path.suffix}' is no image or video that is known here"


def printable_name(text: str) -> str:
    """`text` with an escape for each part of a file name that is no Unicode."""
    # SQLite refuses lone surrogates
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class Measured(NamedTuple):
    """How many frames a file has, what of it is not shown, and if they come at a constant rate."""

    frames: int = 1
    loss: str | None = None
    steady: bool = True


# ------------------------------------------------------------------------------------------ faults


# default of Pillow, above which it speaks of a decompression bomb
MAX_PIXELS = 89_478_485
MOST_PIXELS = 2 * MAX_PIXELS  # where it refuses, also by default of Pillow


def reason(error: Exception) -> str:
    """One short line, the same every time."""
    match error:
        case UnidentifiedImageError():
            return "no image of a known format"
        case Image.DecompressionBombError():
            return "so many pixels that it may be a decompression bomb"
        # without the path, which str(error) holds: reasons are grouped
        case OSError(strerror=str(text)) if text:
            return text
    # PyAV's errors have it, and not all are an OSError
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:80]


@contextmanager
def readable_still(path: Path) -> Iterator[None]:
    """Raise BadDataError for whatever goes wrong within: the file was good when it was probed."""
    try:
        yield
    except BadDataError:
        raise
    except Exception as error:  # decoders raise anything at all
        raise BadDataError(
            f"{path} can no longer be read",
            got=reason(error),
            remedy="Put it back as it was and run the same command again",
        ) from error


def require_pixels(size: Sequence[int], max_pixels: int) -> None:
    """Raise ValueError for a picture (width, height) of more pixels than that."""
    width, height = size
    if width * height > max_pixels:
        raise ValueError(
            f"{width} x {height} pixels, more than max_pixels={max_pixels}"
        )


# ---------------------------------------------------------------------------------------- left out


_NAMED = 3  # enough to find the files; thousands may be missing


def describe_problems(problems: Mapping[str, str], thing: str) -> str:
    """Things by problem, in words: "3 videos missing (a, b, c); 1 video with no frames (d)"."""
    by_problem: dict[str, list[str]] = {}
    for name, problem in problems.items():
        by_problem.setdefault(problem, []).append(name)
    parts = []
    for problem, names in by_problem.items():
        things = count_in_words(len(names), thing)
        parts.append(f"{things} {problem} ({shorten_names(names)})")
    return "; ".join(parts)


def require_distinct(title: str, thing: str, keys: Sequence[str], split: str) -> None:
    """Raise UserError where a split has no key, or a key twice."""
    if not keys:
        raise UserError(f"{title}: no {thing}s in split {split}")
    key, count = Counter(keys).most_common(1)[0]
    if count > 1:
        raise UserError(
            f"{title}: {thing} '{key}'",
            expected="it once",
            got=f"it {count_of(count, 'times')}",
        )


def require_enough(
    title: str,
    thing: str,
    out: int,
    total: int,
    max_missing: float,
    *,
    got: str,
    remedy: str,
) -> dict[str, str]:
    """The fact of what is left out; raises BadDataError for more than `max_missing`, or all."""
    counted = f"{out:,} of {total:,} {thing}s"
    allowed = f"at most {max_missing:.0%}"
    # even max_missing=1 must leave something to audit
    if out <= max_missing * total and out < total:
        return {"left out": f"{counted} ({allowed} may be): {got}"} if out else {}
    if out < total:
        remedy += (
            f", or accept it with -O data.max_missing={ceil(100 * out / total) / 100}"
        )
    raise BadDataError(
        f"{title}: {counted} cannot be shown",
        expected=allowed,
        got=got,
        remedy=remedy,
    )


def count_in_words(count: int, thing: str) -> str:
    """ "1 video", "1,000 videos"."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def shorten_names(names: Sequence[str]) -> str:
    """The first few of them."""
    more = ["..."] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])
