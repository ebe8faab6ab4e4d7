"""What changes at the place of a cue: its brightness, its colour, its edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_sdk.locating._cells import FEATURES, GRID, Cells
from cuescope_sdk.locating._linear import PerFrame, Training
from cuescope_sdk.locating._masks import Mask, stretch

CLEAR = 0.5  # standard deviations: a smaller change is not told
SEEN = 0.04  # of the range of a colour: a smaller change is not seen
SHARP = 0.25  # of the logarithm of a contrast
ALIKE = 0.6  # of the spread of others: what is as alike as this is drawn over
GREY = 0.08  # red and blue of what has no colour
PALE = 0.02  # of it in most cells: nothing is left
LIGHT = 0.66
DARK = 0.33
# brightness, red less green, blue less brightness
COLOURS = {
    "red": (1.0, -0.6),
    "orange": (0.7, -1.0),
    "yellow": (0.0, -1.0),
    "green": (-1.0, -0.3),
    "cyan": (-1.0, 0.5),
    "blue": (0.0, 1.0),
    "purple": (0.7, 0.8),
}


@dataclass(frozen=True)
class Change:
    """What frames with a cue have more of at its place, each in units of its range.

    `colour` names what stands there where it is alike in most frames that show it. What
    `loses_colour` is greyer than the same place of others, whatever their colours are.
    """

    brightness: float
    red: float
    blue: float
    contrast: float
    colour: str | None = None
    loses_colour: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """In words, the clearest first; none where nothing changes that has a word."""
        words = []
        if self.brightness:
            words.append("brighter" if self.brightness > 0 else "darker")
        if self.loses_colour:
            words.append("less colourful")
        elif self.red or self.blue:
            words.append(f"more {colour_of(self.red, self.blue)}")
        if self.contrast:
            words.append("more edges" if self.contrast > 0 else "fewer edges")
        return tuple(words)


def change_at(
    cells: Cells,
    masks: Sequence[Mask] | None,
    data: Training,
) -> Change:
    """What differs inside of each frame's mask, or in all of it."""
    rows = []
    chroma = []
    for number, frame in enumerate(cells):
        if masks is None:
            inside = frame.reshape(-1, len(FEATURES))
        else:
            inside = frame[stretch(masks[number], (GRID, GRID))]
        rows.append(inside.mean(axis=0))
        # of each cell: red and green side by side are colours, and grey on average
        chroma.append(float(np.hypot(inside[:, 1], inside[:, 2]).mean()))
    values = np.array(rows, np.float64)
    weights = data.weights()
    clear = {}
    for column, name in enumerate(FEATURES):
        difference, spread = _difference(values[:, column], data, weights)
        least = SHARP if name == "contrast" else SEEN
        is_told = abs(difference) >= max(least, CLEAR * spread)
        clear[name] = difference if is_told else 0.0
    return Change(
        brightness=clear["brightness"],
        red=clear["red"],
        blue=clear["blue"],
        contrast=clear["contrast"],
        colour=_common_colour(values, data),
        loses_colour=_loses_colour(np.array(chroma), data, weights),
    )


def _loses_colour(chroma: PerFrame, data: Training, weights: PerFrame) -> bool:
    """Whether frames with the cue are mostly grey where others are not."""
    difference, spread = _difference(chroma, data, weights)
    is_clear = -difference >= max(SEEN, CLEAR * spread)
    return bool(is_clear and np.median(chroma[data.shows]) < PALE)


def _difference(
    values: PerFrame,
    data: Training,
    weights: PerFrame,
) -> tuple[float, float]:
    """Of the means of both sides, with the spread within them."""
    shown = data.shows
    means = []
    variances = []
    for side in (shown, ~shown):
        mean = np.average(values[side], weights=weights[side])
        means.append(mean)
        variances.append(np.average((values[side] - mean) ** 2, weights=weights[side]))
    return float(means[0] - means[1]), float(np.sqrt(np.mean(variances)))


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
    brightness, red, blue = middle.tolist()
    if np.hypot(red, blue) < GREY:
        if brightness > LIGHT:
            return "white"
        return "black" if brightness < DARK else "grey"
    shade = "dark " if brightness < DARK else "light " if brightness > LIGHT else ""
    return shade + colour_of(red, blue)


def colour_of(red: float, blue: float) -> str:
    """The colour that is nearest in direction.

    >>> colour_of(0.3, -0.2), colour_of(0.0, 0.4), colour_of(-0.4, -0.1)
    ('red', 'blue', 'green')
    """
    given = np.array([red, blue])

    def nearness(name: str) -> float:
        direction = np.array(COLOURS[name])
        return float(given @ direction / np.linalg.norm(direction))

    return max(COLOURS, key=nearness)
