"""Kinds of file by suffix, which frames are sampled, and the loaders that a frame carries."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Literal

from PIL import Image

from cuescope_folder.faults import readable_still

Kind = Literal["image", "animation", "video"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".avif"), "image"),
    **dict.fromkeys((".tif", ".tiff", ".ppm", ".pgm"), "image"),
    **dict.fromkeys((".mp4", ".m4v", ".mov", ".3gp", ".mkv", ".webm"), "video"),
    **dict.fromkeys((".avi", ".mpg", ".mpeg", ".wmv", ".flv", ".ogv"), "video"),
    ".gif": "animation",
}
_CLIPS_KEPT = 4


def kind_of(path: PurePath) -> Kind | None:
    """The kind of file that the suffix promises, None where it is neither image nor video."""
    return _KINDS.get(path.suffix.lower())


def sample_indices(count: int, wanted: int) -> tuple[int, ...]:
    """Indices of `wanted` frames of `count`: the middle frame of each of `wanted` equal parts.

    A clip of fewer frames shows some of them repeatedly, in order.
    """
    return tuple((2 * part + 1) * count // (2 * wanted) for part in range(wanted))


@dataclass(frozen=True, slots=True)
class Clip:
    """The sampled frames of one video or animation; `digest` is that of the file's bytes."""

    path: Path
    digest: str
    indices: tuple[int, ...]


@lru_cache(maxsize=_CLIPS_KEPT)
def _decoded(clip: Clip) -> tuple[Image.Image, ...]:
    """The clip's frames from one pass over the file, in the order of its indices."""
    from cuescope_folder.images import decode_animation
    from cuescope_folder.video import decode_video

    decode = decode_video if kind_of(clip.path) == "video" else decode_animation
    with readable_still(clip.path):
        by_index = decode(clip.path, frozenset(clip.indices))
        return tuple(_at_or_before(by_index, index) for index in clip.indices)


def _at_or_before(by_index: dict[int, Image.Image], index: int) -> Image.Image:
    if not by_index:
        raise ValueError("no frame can be decoded")
    # A damaged clip may end early: its last readable frame stands in, the first where none is.
    return by_index[max((i for i in by_index if i <= index), default=min(by_index))]


def load_clip_frame(clip: Clip, position: int) -> Image.Image:
    """Frame `position` of the clip; the other frames of the last few clips stay decoded."""
    return _decoded(clip)[position].copy()
