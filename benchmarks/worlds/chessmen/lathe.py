"""Things as a lathe turns them: stacks of round discs, seen from a little above.

Of each pixel the highest disc that covers it is seen. Heights and radii are in units of
the thing, and a unit is `zoom` pixels where it stands.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light, paint
from worlds.design import Facts

SIDE = 64  # pixels of a picture
FINE = 2  # of each side of a pixel, samples of what stands on the board
SQUASH = 0.32  # how high a circle on the board is seen, of its width
STEP = 0.5  # between discs
SUN = np.array((-0.55, 0.62, 0.56), np.float32)  # to the right, upwards, to the viewer
HALF = np.array((-0.33, 0.55, 0.77), np.float32)  # between the sun and the viewer
Rng = np.random.Generator
Crest = Callable[[Field, Field], Field]


def rng_of(facts: Facts, part: str) -> Rng:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "chessmen", part)


def colour(red: float, green: float, blue: float) -> Colour:
    """From 0 to 1."""
    return np.array((red, green, blue), np.float32)


def fine_grid() -> Grid:
    """Where the samples lie that the scene is drawn on, from the middle, in pixels."""
    grid = Grid.whole(SIDE * FINE)
    return Grid(grid.x / FINE, grid.y / FINE)


def coarse(light: Light) -> Light:
    """A mean of the samples of each pixel."""
    parts = light.reshape(SIDE, FINE, SIDE, FINE, 3)
    return np.asarray(parts.mean(axis=(1, 3)), np.float32)


@dataclass(frozen=True)
class Turned:
    """A turned thing where it stands.

    `radii` and `hues` are of its discs, from the foot on. Gaps are cut in the upper
    `notched` discs. A `crest` is flat and above the last disc: how much is covered at a
    place to the right and upwards. `haze` is how much of what is behind shows through.
    """

    radii: np.ndarray
    hues: np.ndarray
    x: float = 0.0
    foot: float = 0.0
    zoom: float = 1.0
    lean: float = 0.0
    haze: float = 0.0
    gloss: float = 0.3
    notched: int = 0
    crest: Crest | None = None

    @property
    def high(self) -> float:
        """From the foot to the last disc."""
        return STEP * (len(self.radii) - 1)

    def at(self, x: float, foot: float, zoom: float) -> "Turned":
        """The same thing elsewhere."""
        return replace(self, x=x, foot=foot, zoom=zoom)


def standing(light: Light, grid: Grid, thing: Turned) -> Light:
    """A thing over what is there, on the fine grid."""
    rows, columns = _window(thing)
    place = Grid(grid.x[rows, columns], grid.y[rows, columns])
    place = place.around(thing.x, thing.foot).turned(thing.lean, thing.zoom)
    cover, seen = _surface(thing, place)
    under = light[rows, columns]
    over = paint(under, cover * (1 - thing.haze), seen)
    if thing.crest is not None:
        crest = thing.crest(place.x, -place.y - thing.high)
        over = paint(over, crest * (1 - thing.haze), 0.85 * thing.hues[-1])
    light = light.copy()
    light[rows, columns] = over
    return light


def shaded_foot(light: Light, grid: Grid, thing: Turned) -> Light:
    """The shadow that a thing throws on the board, away from the sun."""
    wide = thing.zoom * float(thing.radii[0])
    place = grid.around(thing.x + 0.75 * wide, thing.foot - 0.08 * wide)
    far = np.hypot(place.x / (1.7 * wide), place.y / (1.15 * SQUASH * wide))
    shade = (1 - thing.haze) * 0.55 * ((1.25 - far) / 0.5).clip(0, 1)
    return paint(light, shade, (0.03, 0.03, 0.04))


def _surface(thing: Turned, place: Grid) -> tuple[Field, Light]:
    """What is covered, and what is seen there."""
    heights = (STEP * np.arange(len(thing.radii))).astype(np.float32)
    radii = thing.radii.astype(np.float32)
    # to the viewer, of each disc
    ahead = (place.y[None] + heights[:, None, None]) / SQUASH
    inside = place.x[None] ** 2 + ahead**2 <= radii[:, None, None] ** 2
    if thing.notched:
        angle = np.arctan2(ahead[-thing.notched :], place.x[None])
        inside[-thing.notched :] &= np.cos(5 * angle + 0.6) > -0.25
    highest = len(radii) - 1 - inside[::-1].argmax(axis=0)
    radius = np.maximum(radii[highest], 0.1)
    across = (place.x / radius).clip(-1, 1)
    forward = ((place.y + heights[highest]) / SQUASH / radius).clip(-1, 1)
    slope = np.gradient(radii, STEP)
    slope[-1] = -4
    steep = slope[highest]
    length = np.sqrt(1 + steep**2)
    # the middle of a disc that is seen is its upper side
    flat = ((0.8 - np.hypot(across, forward)) / 0.3).clip(0, 1)
    up = np.maximum(-steep / length, flat)
    sideways = (1 - flat) / length
    normal = np.stack([across * sideways, up, forward * sideways], axis=-1)
    lit = 0.38 + 0.72 * (normal @ SUN).clip(0, 1)
    shine = thing.gloss * (normal @ HALF).clip(0, 1) ** 16
    seen = thing.hues[highest] * lit[..., None] + shine[..., None]
    return inside.any(axis=0).astype(np.float32), seen.clip(0, 1)


def _window(thing: Turned) -> tuple[slice, slice]:
    """Rows and columns of the fine grid that a thing may touch."""
    high = thing.zoom * (thing.high + 7)
    wide = thing.zoom * (float(thing.radii.max()) + 1)
    aside = high * abs(np.sin(thing.lean))
    rows = _between(thing.foot - high, thing.foot + 0.7 * wide + 1)
    return rows, _between(thing.x - wide - aside, thing.x + wide + aside)


def _between(first: float, last: float) -> slice:
    start, stop = (round(FINE * (end + SIDE / 2)) for end in (first, last))
    return slice(max(start, 0), min(max(stop, 1), SIDE * FINE))
