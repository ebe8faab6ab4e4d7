"""The names of colours: of all, and of what something has more of.

A colour is its brightness, red less green light, and blue light less brightness: each 0 to 1, or -1
to 1.
"""

import numpy as np
from jaxtyping import Float

GREY = 0.08  # red and blue of what has no colour
LIGHT = 0.66
DARK = 0.33
DIM = 0.7  # of red light: an orange that has less is brown, and a pink is purple
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


def colour_name(brightness: float, red: float, blue: float) -> str:
    """A colour, dark or light, or what has none."""
    [name] = names_of(np.array([[brightness, red, blue]])).tolist()
    if name not in HUES:
        return str(name)
    shade = "dark " if brightness < DARK else "light " if brightness > LIGHT else ""
    return f"{shade}{name}"


def names_of(colours: Float[np.ndarray, "colour 3"]) -> np.ndarray:
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
    """Name of each that is nearest in direction; brown and purple too, of what is dark."""
    named, towards = zip(*COLOURS, strict=True)
    directions = np.array(towards)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    names = np.array(named)[(hues @ directions.T).argmax(axis=1)]
    names = np.where((names == "orange") & is_dark, "brown", names)
    return np.where((names == "pink") & is_dark, "purple", names)
