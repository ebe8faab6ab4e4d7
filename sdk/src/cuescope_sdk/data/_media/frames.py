"""Probed files as frames: which are sampled, and the loaders that they carry."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_core.types import FrameSource
from cuescope_sdk import Frame, digest
from cuescope_sdk.data._media.content import listed_bytes
from cuescope_sdk.data._media.files import kind_of, readable_still
from cuescope_sdk.data._media.images import (
    animation_times,
    decode_animation,
    decode_image,
)
from cuescope_sdk.data._media.video import decode_video, video_times

_CLIPS_KEPT = 4  # frames of one clip are loaded in turn; more would fill memory
_ROUNDING = 1e-6  # seconds


class Segment(NamedTuple):
    """Seconds [start, end) of a video or animation that lasts `length` seconds."""

    start: float
    end: float
    length: float


@dataclass(frozen=True, slots=True)
class Probe:
    """A file as it was looked at: the digest of its bytes ("" where they cannot be had), how many
    frames it has, and its problem.

    `loss` says what of a file that can be used is not shown: "cut off: 7 of 12 frames"; `steady`
    that its frames come at a constant rate.
    """

    path: Path
    digest: str
    frames: int
    problem: str | None = None
    loss: str | None = None
    steady: bool = True

    def image(self, *, turned: bool = True) -> Frame:
        """The image as a person sees it; not `turned`: as its pixels are stored.

        Boxes and masks of most data sets are of the stored pixels, as their authors read them.
        """
        key = digest("image" if turned else "stored image", self.digest)
        load = partial(load_image, self.path, self.digest, turned=turned)
        return Frame(key, load, FrameSource(self.path))

    @staticmethod
    def sample_indices(count: int, wanted: int) -> tuple[int, ...]:
        """Indices of `wanted` frames of `count`: the middle frame of each of `wanted` equal parts.

        A clip of fewer frames shows some of them repeatedly, in order.
        """
        return tuple((2 * part + 1) * count // (2 * wanted) for part in range(wanted))

    def indices(self, wanted: int) -> tuple[int, ...]:
        """Indices of `wanted` frames: on screen in the middle of each of as many equal times."""
        if self.steady:
            return Probe.sample_indices(self.frames, wanted)
        return _on_screen(self.times(), wanted, *self.between(0.0))

    def clip(
        self,
        wanted: int,
        start: float = 0.0,
        end: float | None = None,
    ) -> tuple[Frame, ...]:
        """`wanted` frames spread over a video or animation, or over its seconds [start, end).

        Each is what is on screen in the middle of an equal part; a frame of a range is that of the
        whole clip. Raises ValueError for a range that ends before it starts.
        """
        if start <= 0 and end is None:
            return self.frames_at(self.indices(wanted))
        within, segment = self.between(start, end)
        if self.steady:
            parts = Probe.sample_indices(len(within), wanted)
            indices = tuple(within[part] for part in parts)
        else:
            indices = _on_screen(self.times(), wanted, within, segment)
        return self.frames_at(indices, segment)

    def times(self) -> Float[np.ndarray, " frame"]:
        """When each frame of a video or animation comes on screen, in seconds from the first.

        Raises BadDataError where the file can no longer be read.
        """
        return _times(self.path, self.digest)

    def between(self, start: float, end: float | None = None) -> tuple[range, Segment]:
        """Indices of the frames in the seconds [start, end), and these seconds of the video.

        Raises ValueError for a range that ends before it starts.
        """
        times = self.times()
        within = frames_between(times, start, end)
        last = float(times[-1])
        # the last frame is as long on screen as others
        length = last + last / max(len(times) - 1, 1)
        stop = length if end is None else min(end, length)
        return within, Segment(max(start, 0.0), stop, length)

    def frames_at(
        self,
        indices: Sequence[int],
        segment: Segment | None = None,
    ) -> tuple[Frame, ...]:
        """These frames of a video or animation, in any order; decoded together when one is loaded.

        `segment` says of which seconds they are, where these are not all. The key of a video's
        frame holds the decoder's version: another may round colours otherwise.
        """
        # unless they are spread over the whole file, what is known of it is not of them
        part = tuple(indices) != self.indices(len(indices))
        shown = segment or (() if part else None)
        decoder = _video_decoder() if kind_of(self.path) == "video" else "gif"
        # shared: loading one frame decodes all in one pass
        clip = Clip(self.path, self.digest, tuple(indices), self.loss is None)
        frames = []
        for position, index in enumerate(indices):
            key = digest(decoder, self.digest, index)
            source = FrameSource(self.path, index, position, len(indices), shown)
            frames.append(Frame(key, partial(load_clip_frame, clip, position), source))
        return tuple(frames)


def load_image(path: Path, digest: str, *, turned: bool = True) -> Image.Image:
    """The image of a file with this digest, RGB; raises BadDataError where it is another now."""
    with readable_still(path), listed_bytes(path, digest) as file:
        return decode_image(file, turned=turned)


def frames_between(
    times: Float[np.ndarray, " frame"],
    start: float,
    end: float | None = None,
) -> range:
    """Indices of the frames that come on screen in the seconds [start, end).

    Where none does, the one that is on screen at `start`: of a range after the end, the last.
    """
    if end is not None and end < start:
        raise ValueError(f"expected a range of time, got {start:g} s to {end:g} s")
    first = int(np.searchsorted(times, start - _ROUNDING))
    stop = len(times) if end is None else int(np.searchsorted(times, end - _ROUNDING))
    if first < stop:
        return range(first, stop)
    after = int(np.searchsorted(times, start + _ROUNDING))
    shown = max(0, after - 1)  # the last that came before
    return range(shown, shown + 1)


def _on_screen(
    times: Float[np.ndarray, " frame"], wanted: int, within: range, segment: Segment
) -> tuple[int, ...]:
    """Indices of the frames in the middle of `wanted` equal times of a segment."""
    length = (segment.end - segment.start) / wanted
    middles = segment.start + length * (np.arange(wanted) + 0.5)
    shown = np.searchsorted(times, middles + _ROUNDING) - 1
    return tuple(shown.clip(within[0], within[-1]).tolist())


@dataclass(frozen=True, slots=True)
class Clip:
    """Chosen frames of one video or animation; `digest` is that of the file's bytes.

    Not `whole`: it is known, and said, that a part of the file is lost.
    """

    path: Path
    digest: str
    indices: tuple[int, ...]
    whole: bool = True


def load_clip_frame(clip: Clip, position: int) -> Image.Image:
    """Frame `position` of the clip; the other frames of the last few clips stay decoded."""
    with _LOADING:
        return _decode(clip)[position].copy()  # the kept image must not be drawn upon


_LOADING = Lock()  # threads that load ahead wait for the clip and do not decode it too


@lru_cache(maxsize=_CLIPS_KEPT)
def _decode(clip: Clip) -> tuple[Image.Image, ...]:
    """The clip's frames from one pass over the file, in the order of its indices."""
    decode = decode_video if kind_of(clip.path) == "video" else decode_animation
    # audits take hours, and disks are unplugged
    with readable_still(clip.path), listed_bytes(clip.path, clip.digest) as file:
        by_index = decode(file, frozenset(clip.indices))
        frames = tuple(_at_or_before(by_index, index) for index in clip.indices)
    missing = sum(index not in by_index for index in clip.indices)
    if missing and clip.whole:
        warnings.warn(
            f"{clip.path}: {missing} of {len(frames)} frames cannot be decoded; "
            "the last good frame before stands in for each",
            stacklevel=2,
        )
    return frames


def _at_or_before(by_index: dict[int, Image.Image], index: int) -> Image.Image:
    if not by_index:
        raise ValueError("no frame can be decoded")
    # A damaged clip may end early: its last readable frame stands in, the first where none is.
    before = [other for other in by_index if other <= index]
    return by_index[max(before) if before else min(by_index)]


@lru_cache  # asked again for each range of a video
def _times(path: Path, digest: str) -> Float[np.ndarray, " frame"]:
    measure = video_times if kind_of(path) == "video" else animation_times
    with readable_still(path), listed_bytes(path, digest) as file:
        return measure(file)


@cache
def _video_decoder() -> str:
    return f"pyav-{version('av')}"
