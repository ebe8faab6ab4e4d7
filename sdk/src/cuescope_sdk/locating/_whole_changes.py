"""What changes of whole pictures, in words: light, colour, contrast, texture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cuescope_sdk.locating._changes import CLEAR, COLOURFUL, PALE, SEEN, TINY, Change
from cuescope_sdk.locating._colours import colour_of
from cuescope_sdk.locating._linear import PerFrame, Training
from cuescope_sdk.locating._whole_pictures import Whole

BEYOND = 2.6  # standard errors of a difference: thirteen figures are compared


@dataclass(frozen=True)
class Saying:
    """The words for more of a figure of whole pictures and for less, and the least that is seen.

    Less of what has no word for it is not told.
    """

    more: str
    less: str | None
    least: float


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
    sides = data.groups_of_sides()
    clear = max(CLEAR, BEYOND * np.sqrt(sum(1 / groups for groups in sides)))

    def figures(name: str) -> PerFrame:
        return np.array([getattr(whole, name) for whole in wholes])

    def compare(values: PerFrame, least: float) -> tuple[float, float]:
        """The difference and how clear it is; both 0 where it is not told."""
        difference, spread = data.difference(values)
        if abs(difference) < max(least, clear * spread):
            return 0.0, 0.0
        return difference, abs(difference) / max(spread, TINY)

    for name, saying in OF_WHOLE.items():
        difference, clarity = compare(figures(name), saying.least)
        if name == "detail":
            # less contrast leaves noise, which then is more of what is left
            fine, _ = compare(figures("fine"), saying.least)
            difference = difference if difference * fine > 0 else 0.0
        word = saying.more if difference > 0 else saying.less
        if name == "corners" and difference:
            of_middle, _ = data.difference(figures("middle"))
            # the part that changes more is told
            if abs(of_middle) > abs(of_middle + difference):
                word = IN_MIDDLE[of_middle > 0]
        if difference and word:
            yield clarity, word
    if np.median(figures("saturation")[data.shows]) < PALE:
        return  # what is grey is greener than red pictures, and shows no green
    hues = np.stack([figures("red"), figures("blue")], axis=1)
    shift = np.array([data.difference(column)[0] for column in hues.T])
    towards = hues @ shift / max(float(np.linalg.norm(shift)), TINY)
    difference, clarity = compare(towards, SEEN)
    if difference:
        yield clarity, f"more {colour_of(*shift.tolist())}"
