"""What changes at the place of a cue, in words: light, colour, edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_core.types import Frame
from cuescope_sdk.locating._cells import FEATURES, GRID, Cells
from cuescope_sdk.locating._colours import GREY, NAMES, colour_name, colour_of, names_of
from cuescope_sdk.locating._linear import BoolPerFrame, PerFrame, Training
from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.locating._pictures import opponents, square_pixels

CLEAR = 0.5  # standard deviations: a smaller change is not told
SEEN = 0.04  # of the range of a colour: a smaller change is not seen
SHARP = 0.25  # of the logarithm of a contrast
ALIKE = 0.6  # of the spread of others: what is as alike as this is drawn over
FINE = 128  # pixels along a side, of which each has a colour: letters are small
COLOURED = 40  # frames of either side, which are opened for it
MOST = 0.75  # of frames with a cue: what fewer have more of is not told
ONE_HUE = 0.6  # of the length of a mean of directions: of unlike hues it is near 0
COMMON = 0.2  # of the pixels of a place: a rarer colour is not told
COMMONER = 1.5  # times as common as in frames without the cue
PALE = 0.02  # of it in most cells: nothing is left
TINY = 1e-9  # of a spread
COLOURFUL = "more colourful"  # of a place: no hue is in most pictures


@dataclass(frozen=True)
class Change:
    """What frames with a cue have more or less of, in words, and the colour that stands there.

    `colour` is one that most frames that show the cue share, and others do not. `hue` is what they
    have more of at its place, which is one of the words too.
    """

    words: tuple[str, ...] = ()
    colour: str | None = None
    hue: str | None = None

    @property
    def is_told(self) -> bool:
        """Whether anything that changes has a word."""
        return bool(self.words) or self.colour is not None


def change_at(
    cells: Cells, frames: Sequence[Frame], masks: Sequence[Mask], data: Training
) -> Change:
    """What differs inside of each frame's mask; `cells` are those of the frames."""
    rows = []
    of_each = []
    for frame, mask in zip(cells, masks, strict=True):
        inside = frame[stretch(mask, (GRID, GRID))]
        rows.append(inside.mean(axis=0))
        # of each cell: red and green side by side are colours, and grey on average
        of_each.append(np.hypot(inside[:, 1], inside[:, 2]).mean())
    values = np.array(rows, np.float64)
    chroma = np.array(of_each, np.float64)
    clear = {}
    for column, name in enumerate(FEATURES):
        difference, spread = data.difference(values[:, column])
        least = SHARP if name == "contrast" else SEEN
        is_clear = abs(difference) >= max(least, CLEAR * spread)
        is_of_most = _is_of_most(values[:, column], data, difference)
        clear[name] = difference if is_clear and is_of_most else 0.0
    words = []
    hue = None
    if clear["brightness"]:
        words.append("brighter" if clear["brightness"] > 0 else "darker")
    gain = _gain_of_colour(chroma, data)
    of_mean = np.hypot(values[:, 1], values[:, 2])
    is_motley = _is_motley(of_mean, chroma, data)
    if gain < 0:
        words.append("less colourful")
    elif is_motley or (gain > 0 and not _is_one_hue(values[:, 1:3], data)):
        words.insert(0, COLOURFUL)
    elif clear["red"] or clear["blue"]:
        hue = colour_of(clear["red"], clear["blue"], clear["brightness"] < 0)
        words.append(f"more {hue}")
    if clear["contrast"]:
        words.append("more edges" if clear["contrast"] > 0 else "fewer edges")
    colour = _common_colour(values, data)
    if words or colour is not None:
        # of one colour the mean knows the shade as well; that of many colours is none of theirs
        drawn = " and ".join(_colours_of(frames, masks, data))
        colour = colour if drawn and (colour or "").endswith(drawn) else drawn
    return Change(tuple(words), colour or None, hue)


def _gain_of_colour(chroma: PerFrame, data: Training) -> float:
    """How much more of any colour most frames with the cue have there; 0 where it is not clear.

    It is negative where they are mostly grey and others are not.
    """
    difference, spread = data.difference(chroma)
    if abs(difference) < max(SEEN, CLEAR * spread):
        return 0.0
    if difference < 0:
        return difference if np.median(chroma[data.shows]) < PALE else 0.0
    return difference if _is_of_most(chroma, data, difference) else 0.0


def _is_one_hue(hues: Float[np.ndarray, "frame 2"], data: Training) -> bool:
    """Whether frames with the cue mostly differ from others towards the same hue."""
    apart = hues[data.shows] - np.median(hues[~data.shows], axis=0)
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), TINY)
    return bool(np.linalg.norm(apart.mean(axis=0)) >= ONE_HUE)


def _is_motley(of_mean: PerFrame, of_each: PerFrame, data: Training) -> bool:
    """Whether most frames with the cue have many hues there, and others have not.

    The colour `of_mean` is of all cells together, and `of_each` is how much each has on average.
    """
    variety = np.where(of_each >= GREY, 1 - of_mean / np.maximum(of_each, TINY), 0.0)
    difference, spread = data.difference(variety)
    if difference < CLEAR * spread or not _is_of_most(variety, data, difference):
        return False
    return bool(np.median(variety[data.shows]) >= 1 - ONE_HUE)


def _is_of_most(values: PerFrame, data: Training, difference: float) -> bool:
    """Whether most frames with the cue differ so from the middle of others, and not a few much."""
    apart = values[data.shows] - np.median(values[~data.shows])
    return bool((apart * difference > 0).mean() >= MOST)


def _common_colour(
    values: Float[np.ndarray, "frame feature"],
    data: Training,
) -> str | None:
    """The colour that most frames with the cue have there, where others have many."""
    colours = values[:, :3]
    middle = np.median(colours[data.shows], axis=0)
    # medians: a list of frames holds some without the cue
    far = np.linalg.norm(colours - middle, axis=1)
    if np.median(far[data.shows]) > ALIKE * np.median(far[~data.shows]):
        return None
    return colour_name(*middle.tolist())


def _colours_of(
    frames: Sequence[Frame], masks: Sequence[Mask], data: Training
) -> tuple[str, ...]:
    """The colours that places of frames with the cue are of, and others are not; at most two.

    Black letters on white are grey on average, and stripes that move are of both colours at each
    pixel, so each pixel has a colour of its own. () where no colour is much commoner there.
    """

    def shares_of(side: BoolPerFrame) -> Float[np.ndarray, "opened name"]:
        rows = np.flatnonzero(side)[:COLOURED].tolist()
        return np.stack([_shares_of_colours(frames[row], masks[row]) for row in rows])

    of_frames = shares_of(data.shows)
    shown = of_frames.mean(axis=0)
    others = shares_of(~data.shows).mean(axis=0)
    # in most frames: a thing of many colours has none on average
    is_common = (of_frames >= COMMON).mean(axis=0) > 0.5
    is_common &= shown >= COMMONER * others
    commonest = np.argsort(-shown, kind="stable")
    return tuple(NAMES[row] for row in commonest if is_common[row])[:2]


def _shares_of_colours(frame: Frame, mask: Mask) -> Float[np.ndarray, " name"]:
    """Of a place's pixels, how many have each of `NAMES`."""
    pixels = square_pixels(frame, FINE)[stretch(mask, (FINE, FINE))]
    names = names_of(opponents(pixels))
    return np.array([(names == name).mean() for name in NAMES])
