"""What changes at the place of a cue, or of the whole picture: light, colour, contrast, detail."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from cuescope.types import Frame
from cuescope_sdk.locating._cells import FEATURES, GRID, Cells
from cuescope_sdk.locating._linear import BoolPerFrame, PerFrame, Training
from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.locating._pictures import opponents, square_pixels
from cuescope_sdk.locating._whole_pictures import Whole

CLEAR = 0.5  # standard deviations: a smaller change is not told
BEYOND = 2.6  # standard errors of a difference: thirteen figures are compared
SEEN = 0.04  # of the range of a colour: a smaller change is not seen
SHARP = 0.25  # of the logarithm of a contrast
ALIKE = 0.6  # of the spread of others: what is as alike as this is drawn over
FINE = 128  # pixels along a side, of which each has a colour: letters are small
COLOURED = 40  # frames of either side, which are opened for it
MOST = 0.75  # of frames with a cue: what fewer have more of is not told
ONE_HUE = (
    0.6  # of the length of a mean of directions: of hues that are unlike it is near 0
)
COMMON = 0.2  # of the pixels of a place: a rarer colour is not told
COMMONER = 1.5  # times as common as in frames without the cue
GREY = 0.08  # red and blue of what has no colour
PALE = 0.02  # of it in most cells: nothing is left
LIGHT = 0.66
DARK = 0.33
DIM = 0.7  # of red light: an orange that has less is brown, and a pink is purple
TINY = 1e-9  # of a spread
# red less green, blue less brightness; borders are about where the people whom xkcd.com asked for
# names of colours (2010) have them
COLOURS = (
    ("pink", (1.0, 0.05)),
    ("red", (1.0, -0.4)),
    ("orange", (0.8, -0.65)),
    ("yellow", (0.0, -1.0)),
    ("green", (-1.0, -0.3)),
    ("cyan", (-1.0, 0.33)),
    # that of a sky
    ("blue", (-0.72, 0.43)),
    ("blue", (-0.2, 1.0)),
    ("purple", (0.7, 0.8)),
)
HUES = tuple(dict.fromkeys(name for name, _ in COLOURS))
NAMES = (*HUES, "brown", "black", "grey", "white")


@dataclass(frozen=True)
class Saying:
    """The words for more of a figure of whole pictures and for less, and the least that is seen.

    Less of what has no word for it is not told.
    """

    more: str
    less: str | None
    least: float


COLOURFUL = "more colourful"  # of a place: no hue is in most pictures
BLURRED = "blurred"
IN_MIDDLE = ("darker in the middle", "brighter in the middle")
LINES = {
    "upright": ("more upright lines", "more level lines"),
    "rising": ("more lines that rise", "more lines that fall"),
}
OF_WHOLE = {
    "brightness": Saying("brighter", "darker", SEEN),
    "contrast": Saying("more contrast", "less contrast", 0.2),
    "detail": Saying("more fine detail", BLURRED, 0.1),
    "left": Saying("brighter at the left", "brighter at the right", SEEN),
    "top": Saying("brighter at the top", "brighter at the bottom", SEEN),
    "corners": Saying("brighter corners", "darker corners", 0.06),
    "saturation": Saying(COLOURFUL, "less colourful", 0.1),
    "variety": Saying("many colours", None, 0.1),
    "blocks": Saying("blocky", None, 0.4),
    **{name: Saying(*words, 0.1) for name, words in LINES.items()},
    "regular": Saying("a regular pattern", None, 0.2),
}


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
    weights = data.weights()
    clear = {}
    for column, name in enumerate(FEATURES):
        difference, spread = _difference(values[:, column], data, weights)
        least = SHARP if name == "contrast" else SEEN
        is_clear = abs(difference) >= max(least, CLEAR * spread)
        is_of_most = _is_of_most(values[:, column], data, difference)
        clear[name] = difference if is_clear and is_of_most else 0.0
    words = []
    hue = None
    if clear["brightness"]:
        words.append("brighter" if clear["brightness"] > 0 else "darker")
    gain = _gain_of_colour(chroma, data, weights)
    of_mean = np.hypot(values[:, 1], values[:, 2])
    is_motley = _is_motley(of_mean, chroma, data, weights)
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


def change_of_whole(wholes: Sequence[Whole], data: Training) -> Change:
    """What differs of whole pictures, the clearest first."""
    words = [word for _, word in sorted(_sayings(wholes, data), reverse=True)]
    lines = set(chain(*LINES.values())).intersection(words)
    if lines and BLURRED in words:
        # what is left of other lines is no cue by itself
        words = [word for word in words if word not in lines]
        words[words.index(BLURRED)] = "blurred in one direction"
    return Change(tuple(words))


def _sayings(wholes: Sequence[Whole], data: Training) -> Iterator[tuple[float, str]]:
    """How clear each difference is, in standard deviations, and its words."""
    weights = data.weights()
    shown, others = data.groups_of_sides()
    clear = max(CLEAR, BEYOND * np.sqrt(1 / shown + 1 / others))

    def compare(values: Sequence[float], least: float) -> tuple[float, float]:
        """The difference and how clear it is; both 0 where it is not told."""
        difference, spread = _difference(np.array(values), data, weights)
        if abs(difference) < max(least, clear * spread):
            return 0.0, 0.0
        return difference, abs(difference) / max(spread, TINY)

    for name, saying in OF_WHOLE.items():
        values = [getattr(whole, name) for whole in wholes]
        difference, clarity = compare(values, saying.least)
        if name == "detail":
            # less contrast leaves noise, which then is more of what is left
            fine, _ = compare([whole.fine for whole in wholes], saying.least)
            difference = difference if difference * fine > 0 else 0.0
        word = saying.more if difference > 0 else saying.less
        if name == "corners" and difference:
            middle = np.array([whole.middle for whole in wholes])
            of_middle, _ = _difference(middle, data, weights)
            # the part that changes more is told
            if abs(of_middle) > abs(of_middle + difference):
                word = IN_MIDDLE[of_middle > 0]
        if difference and word:
            yield clarity, word
    saturation = np.array([whole.saturation for whole in wholes])
    if np.median(saturation[data.shows]) < PALE:
        return  # what is grey is greener than red pictures, and shows no green
    hues = np.array([(whole.red, whole.blue) for whole in wholes])
    shift = np.array([_difference(column, data, weights)[0] for column in hues.T])
    towards = hues @ shift / max(float(np.linalg.norm(shift)), TINY)
    difference, clarity = compare(towards.tolist(), SEEN)
    if difference:
        yield clarity, f"more {colour_of(*shift.tolist())}"


def _gain_of_colour(chroma: PerFrame, data: Training, weights: PerFrame) -> float:
    """How much more of any colour most frames with the cue have there; 0 where it is not clear.

    It is negative where they are mostly grey and others are not.
    """
    difference, spread = _difference(chroma, data, weights)
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


def _is_motley(
    of_mean: PerFrame, of_each: PerFrame, data: Training, weights: PerFrame
) -> bool:
    """Whether most frames with the cue have many hues there, and others have not.

    The colour `of_mean` is of all cells together, and `of_each` is how much each has on average.
    """
    variety = np.where(of_each >= GREY, 1 - of_mean / np.maximum(of_each, TINY), 0.0)
    difference, spread = _difference(variety, data, weights)
    if difference < CLEAR * spread or not _is_of_most(variety, data, difference):
        return False
    return bool(np.median(variety[data.shows]) >= 1 - ONE_HUE)


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
    return _colour_name(*middle.tolist())


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
    names = _names_of(opponents(pixels))
    return np.array([(names == name).mean() for name in NAMES])


def _colour_name(brightness: float, red: float, blue: float) -> str:
    """A colour, dark or light, or what has none."""
    [name] = _names_of(np.array([[brightness, red, blue]])).tolist()
    if name not in HUES:
        return str(name)
    shade = "dark " if brightness < DARK else "light " if brightness > LIGHT else ""
    return f"{shade}{name}"


def _names_of(colours: Float[np.ndarray, "colour 3"]) -> np.ndarray:
    """The name of each, (colour,), by its brightness, red less green and blue less brightness."""
    brightness, red, blue = colours.T
    red_light = brightness + (red - blue) / 2
    names = _hues_of(colours[:, 1:], red_light < DIM)
    pale = np.select(
        [brightness > LIGHT, brightness < DARK], ["white", "black"], "grey"
    )
    return np.where(np.hypot(red, blue) < GREY, pale, names)


def colour_of(red: float, blue: float, is_dark: bool = False) -> str:
    """The hue that something has more of; an orange that `is_dark` is brown.

    A pink has more red than what is grey, as a red has.

    >>> colour_of(0.3, -0.1), colour_of(0.0, 0.4), colour_of(-0.4, -0.1)
    ('red', 'blue', 'green')
    >>> colour_of(0.12, -0.12), colour_of(0.12, -0.12, is_dark=True)
    ('orange', 'brown')
    >>> colour_of(-0.31, 0.48), colour_of(-1.0, 0.33)
    ('blue', 'cyan')
    >>> colour_of(-0.28, 0.17)  # sky blue
    'blue'
    """
    [name] = _hues_of(np.array([[red, blue]]), np.array([is_dark])).tolist()
    return "red" if name == "pink" else str(name)


def _hues_of(hues: Float[np.ndarray, "colour 2"], is_dark: np.ndarray) -> np.ndarray:
    """Of each the name that is nearest in direction; of what is dark, brown and purple too."""
    named, towards = zip(*COLOURS, strict=True)
    directions = np.array(towards)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    names = np.array(named)[(hues @ directions.T).argmax(axis=1)]
    names = np.where((names == "orange") & is_dark, "brown", names)
    return np.where((names == "pink") & is_dark, "purple", names)
