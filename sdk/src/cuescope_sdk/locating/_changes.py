"""What changes where a cue is, in words: light, colour, edges, texture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from cuescope_sdk.locating._colours import NAMES, colour_name, colour_of, names_of
from cuescope_sdk.locating._figures import Figures, Pixels
from cuescope_sdk.locating._linear import PerFrame, Training
from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.locating._pictures import opponents

CLEAR = (
    0.5  # standard deviations: a medium effect (Cohen, 1988); a smaller one is not told
)
LEVEL = 0.05  # of all figures together, by Bonferroni (Fisher, 1925)
SEEN = (
    0.04  # of the range of a colour: ten steps of a byte; a smaller change is not seen
)
SEEN_IN_LOGARITHM = 0.1  # of contrast, detail and lines: a tenth more or less
COMMON = 0.2  # of a place's pixels, more than elsewhere: a rarer colour is not told
WORDS = {
    "brightness": ("brighter", "darker"),
    "colour": ("more colourful", "less colourful"),
    "variety": ("many colours", None),
    "contrast": ("more contrast", "less contrast"),
    "detail": ("more fine detail", "blurred"),
    "upright": ("more upright lines", "more level lines"),
    "rising": ("more lines that rise", "more lines that fall"),
}


@dataclass(frozen=True)
class Change:
    """What frames with a cue have more or less of, in words, the clearest first.

    `colour` is what more of its pixels are than of those of other frames: one name, or two.
    """

    words: tuple[str, ...] = ()
    colour: str | None = None


def change_of(figures: Sequence[Figures], data: Training) -> Change:
    """What differs of frames, or of the same part of each."""
    words = sorted(_words(figures, data), reverse=True)
    return Change(tuple(word for _, word in words))


def colour_at(
    pictures: Sequence[Pixels], masks: Sequence[Mask], data: Training
) -> str | None:
    """The colours that pixels there have in frames with the cue, and less often in others."""
    shares = np.stack(list(map(_shares_of_colours, pictures, masks)))
    beyond = shares[data.shows].mean(axis=0) - shares[~data.shows].mean(axis=0)
    commonest = np.argsort(-beyond, kind="stable")[:2]
    names = [NAMES[number] for number in commonest if beyond[number] >= COMMON]
    if len(names) == 1:
        # of one colour the mean knows the shade as well
        shown = np.flatnonzero(data.shows).tolist()
        means = [_mean_colour(pictures[row], masks[row]) for row in shown]
        shade = colour_name(*np.median(means, axis=0).tolist())
        names = [shade] if shade.endswith(names[0]) else names
    return " and ".join(names) or None


def _words(figures: Sequence[Figures], data: Training) -> Iterator[tuple[float, str]]:
    """How clear each difference is, in standard deviations, and its word."""
    compared = len(WORDS) + 1
    beyond = NormalDist().inv_cdf(1 - LEVEL / (2 * compared))
    chance = np.sqrt(sum(1 / groups for groups in data.groups_of_sides()))
    clear = max(CLEAR, beyond * chance)

    def compare(values: PerFrame, seen: float) -> tuple[float, float]:
        """The difference and how clear it is; both 0 where it is not told."""
        difference, spread = data.difference(values)
        if abs(difference) < max(seen, clear * spread):
            return 0.0, 0.0
        return difference, abs(difference) / (spread + SEEN)

    for name, (more, less) in WORDS.items():
        values = np.array([getattr(of_frame, name) for of_frame in figures])
        is_light = name in ("brightness", "colour")
        difference, clarity = compare(values, SEEN if is_light else SEEN_IN_LOGARITHM)
        word = more if difference > 0 else less
        if difference and word:
            yield clarity, word
    hues = np.array([(of_frame.red, of_frame.blue) for of_frame in figures])
    shift = np.array([data.difference(column)[0] for column in hues.T])
    length = float(np.linalg.norm(shift))
    difference, clarity = compare(hues @ shift / max(length, SEEN**2), SEEN)
    # what has lost its colour is greener than red pictures, and shows no green
    middle = np.median(np.linalg.norm(hues[data.shows], axis=1))
    if difference and middle >= SEEN:
        yield clarity, f"more {colour_of(*shift.tolist())}"


def _mean_colour(pixels: Pixels, mask: Mask) -> Float[np.ndarray, "3"]:
    """Brightness, red and blue of a place."""
    inside = pixels[stretch(mask, pixels.shape[:2])]
    return np.asarray(opponents(inside).mean(axis=0))


def _shares_of_colours(pixels: Pixels, mask: Mask) -> Float[np.ndarray, " name"]:
    """Of a place's pixels, how many have each of `NAMES`."""
    names = names_of(opponents(pixels[stretch(mask, pixels.shape[:2])]))
    return np.array([(names == name).mean() for name in NAMES])
