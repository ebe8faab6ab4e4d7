"""Backgrounds drawn from a few colours and grain: for a machine without any photo.

They are no photos of a place, and a model may not know them for one: they vary colour, horizon and
texture, and that is all that they promise.
"""

import tomllib
from importlib.resources import files

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.geometry import Mask, Pixels
from cuescope_sdk import digest

OCTAVES = 4
_TABLE = files("cuescope_covar_build").joinpath("composite/drawn.toml")
_RECIPES = tomllib.loads(_TABLE.read_text("utf-8"))


class Drawn:
    """The paper's twenty backgrounds (Table 6), of two colours above and two below a horizon."""

    def __init__(self) -> None:
        self.names = tuple(sorted(_RECIPES))
        self.fingerprint = digest("drawn", _RECIPES)

    def show(
        self,
        name: str,
        shape: tuple[int, int],
        rng: np.random.Generator,
    ) -> Pixels:
        """One drawing of this name, (row, col) as asked."""
        recipe = _RECIPES[name]
        rows, cols = shape
        horizon = recipe["horizon"]
        # 0 is a background without a horizon
        if horizon:
            horizon += rng.uniform(-0.06, 0.06)
        edge = round(rows * horizon)
        above = _fade(recipe["above"], edge)
        below = _fade(recipe["below"], rows - edge)
        colours = np.concatenate([above, below])
        picture = np.repeat(colours[:, None], cols, axis=1)
        under = (np.arange(rows) >= edge)[:, None]
        cloud = _noise(shape, recipe["cloud"], rng) * recipe["soft"]
        grain = _noise(shape, recipe["grain"], rng) * recipe["rough"]
        picture += np.where(under, grain, cloud)[..., None]
        for colour in recipe.get("spots", ()):
            chosen = rng.random(shape) < 0.004
            # a spot lies on the ground, where there is a horizon
            if horizon:
                chosen &= under
            picture[_grow(chosen)] = colour
        return picture.clip(0, 255).round().astype(np.uint8)


def _fade(colours: list[list[int]], rows: int) -> Float[np.ndarray, "row 3"]:
    """From the first colour at the top to the second."""
    first, last = np.array(colours, float)
    share = np.linspace(0, 1, rows)[:, None]
    fade: Float[np.ndarray, "row 3"] = first + share * (last - first)
    return fade


def _noise(
    shape: tuple[int, int],
    stretch: tuple[float, float],
    rng: np.random.Generator,
) -> Float[np.ndarray, "row col"]:
    """Grain of several sizes; `stretch` (row, col) is the largest, as a share of the side."""
    total = np.zeros(shape)
    for octave in range(OCTAVES):
        # a field of one cell would be no grain
        cells = [max(2, round(2**octave / size)) for size in stretch]
        field = rng.standard_normal(cells)
        grain = cv2.resize(field, shape[::-1], interpolation=cv2.INTER_CUBIC)
        # halved with each octave: the coarse grain is the strongest
        total += grain / 2**octave
    return total


def _grow(points: Mask) -> Mask:
    """Points as discs."""
    # a share of the side: in a large image fixed spots would be too fine to see
    size = max(2, round(0.012 * max(points.shape)))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    return cv2.dilate(points.astype(np.uint8), disc).astype(bool)
