"""Backgrounds drawn from a few colours and grain: for a machine without any photo.

They are no photos of a place, and a model may not know them for one: they vary colour, horizon and
texture, and that is all that they promise.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from cuescope_sdk import digest

OCTAVES = 4


class Drawn:
    """The paper's twenty backgrounds (Table 6), of two colours above and two below a horizon."""

    def __init__(self) -> None:
        self._recipes = _recipes()
        self.names = tuple(sorted(self._recipes))
        self.fingerprint = digest("drawn", self._recipes)

    def show(
        self, name: str, shape: tuple[int, int], rng: np.random.Generator
    ) -> UInt8[np.ndarray, "row col 3"]:
        """One drawing of this name, (row, col) as asked."""
        recipe = self._recipes[name]
        rows, _ = shape
        horizon = recipe["horizon"] and recipe["horizon"] + float(rng.uniform(-0.06, 0.06))
        edge = round(rows * horizon)
        picture = np.concatenate(
            [_fade(recipe["above"], edge), _fade(recipe["below"], rows - edge)], axis=0
        )
        picture = np.repeat(picture[:, None], shape[1], axis=1)
        above, below = (_noise(shape, recipe[part], rng) for part in ("cloud", "grain"))
        under = (np.arange(rows) >= edge)[:, None]
        picture += np.where(under, below * recipe["rough"], above * recipe["soft"])[..., None]
        for colour in recipe.get("spots", ()):
            chosen = rng.random(shape) < 0.004
            picture[_grown(chosen & (under | (horizon == 0)))] = colour
        return np.asarray(picture.clip(0, 255).round(), np.uint8)


def _fade(colours: Any, rows: int) -> Float[np.ndarray, "row 3"]:
    first, last = np.asarray(colours, float)
    return np.asarray(first + np.linspace(0, 1, rows)[:, None] * (last - first))


def _noise(
    shape: tuple[int, int], stretch: tuple[float, float], rng: np.random.Generator
) -> Float[np.ndarray, "row col"]:
    """Grain of several sizes; `stretch` (row, col) is the largest, as a share of the side."""
    import cv2

    total = np.zeros(shape)
    for octave in range(OCTAVES):
        cells = [max(2, round(2**octave / size)) for size in stretch]
        field = rng.standard_normal((cells[0], cells[1]))
        total += cv2.resize(field, shape[::-1], interpolation=cv2.INTER_CUBIC) / 2**octave
    return np.asarray(total)


def _grown(points: np.ndarray) -> np.ndarray:
    import cv2

    size = max(2, round(0.012 * max(points.shape)))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    return np.asarray(cv2.dilate(points.astype(np.uint8), disc), bool)


@cache
def _recipes() -> dict[str, dict[str, Any]]:
    table = files("cuescope_covar_build").joinpath("composite/drawn.toml").read_text("utf-8")
    return tomllib.loads(table)
