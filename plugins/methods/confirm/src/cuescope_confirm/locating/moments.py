"""What a moment of a clip looks like, and what moves there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from PIL import Image

from cuescope_sdk import Frame, digest
from cuescope_sdk.locating import Look

# moments of a clip that are looked at where all of it counts
FEWEST = 3
MOST = 4
GREY = 127.5  # of a motion picture: nothing moves there
Rows = Float[np.ndarray, "moment figure"]
Reader = Callable[[Sequence["Moment"]], Rows]


class Moment(NamedTuple):
    """A frame of a clip, by its number."""

    clip: Sequence[Frame]
    number: int

    @property
    def frame(self) -> Frame:
        """The picture at that moment."""
        return self.clip[self.number]

    @property
    def motion(self) -> Frame:
        """How the light changes there: from the frame before, all in all, and to the frame after.

        These are the channels, grey where nothing changes, so a thing that moves leaves what its
        way and its speed are told by. Beyond the ends of a clip nothing moves.
        """
        last = len(self.clip) - 1
        before = self.clip[max(self.number - 1, 0)]
        after = self.clip[min(self.number + 1, last)]
        frames = before, self.frame, after
        key = digest("motion", *(frame.key for frame in frames))
        return Frame(key, partial(_draw_motion, *frames))


def moments_of(clip: Sequence[Frame]) -> list[Moment]:
    """Those that stand for all of a clip: every second one, as each is seen with its neighbours."""
    count = min(max(len(clip) // 2, FEWEST), len(clip), MOST)
    ends = np.linspace(0, len(clip), count + 1)
    middles = ((ends[1:] + ends[:-1]) / 2).astype(int)
    return [Moment(clip, number) for number in middles.tolist()]


def mean_of_clips(clips: Sequence[Sequence[Frame]], read: Reader) -> Rows:
    """What is read of each clip: the mean over some of its moments."""
    moments = [moments_of(clip) for clip in clips]
    rows = read([moment for of_clip in moments for moment in of_clip])
    sizes = np.array(list(map(len, moments)))
    starts = np.cumsum(sizes) - sizes
    return np.asarray(np.add.reduceat(rows, starts) / sizes[:, None])


def _draw_motion(before: Frame, frame: Frame, after: Frame) -> Image.Image:
    now = _light(frame)
    earlier, later = (
        light if light.shape == now.shape else _resized(light, now.shape)
        for light in (_light(before), _light(after))
    )
    changes = np.stack([now - earlier, later - earlier, later - now], axis=-1)
    return Image.fromarray((GREY + changes / 2).astype(np.uint8))


# an edited frame is made once for the moments that it is a neighbour of
@lru_cache(maxsize=4)
def _light(frame: Frame) -> Float[np.ndarray, "row col"]:
    return np.asarray(frame.load().convert("L"), np.float32)


def _resized(light: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    rows, cols = shape
    return np.asarray(Image.fromarray(light).resize((cols, rows)))


@dataclass(frozen=True, eq=False)
class ClipLook:
    """How moments are described: what they look like, and, of clips, what moves.

    Of a cue that `lasts` a moment stands for its clip: it has the mean of some of its moments.
    """

    stills: Look
    motion: Look | None = None
    lasts: bool = False

    @classmethod
    def learn(cls, moments: Sequence[Moment], rng: Generator) -> "ClipLook":
        """From these; nothing of motion where each is alone."""
        stills = Look.learn([moment.frame for moment in moments], rng)
        motion = None
        if any(len(moment.clip) > 1 for moment in moments):
            motion = Look.learn([moment.motion for moment in moments], rng)
        return cls(stills, motion)

    def read(self, moments: Sequence[Moment]) -> Rows:
        """A row a moment."""
        if self.lasts:
            return self.read_clips([moment.clip for moment in moments])
        return self._read(moments)

    def read_clips(self, clips: Sequence[Sequence[Frame]]) -> Rows:
        """A row a clip: the mean of some of its moments."""
        return mean_of_clips(clips, self._read)

    def _read(self, moments: Sequence[Moment]) -> Rows:
        rows = self.stills.read([moment.frame for moment in moments])
        if self.motion is None:
            return rows
        moved = self.motion.read([moment.motion for moment in moments])
        return np.concatenate([rows, moved], axis=1)
