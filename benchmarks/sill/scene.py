"""What a camera before a window sill sees, a picture a day.

Everything is a polygon, drawn large and made small again. A wall with a pattern, a sill, a pot with
its plant, and leaves of other plants that reach in from a side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw

from sill.plants import GROW, Leaf, Points, blade, middle, oval

SIDE = 56
FRAMES = 3
LARGE = 4  # times the size, while polygons are drawn
SILL = 45.0  # row where the wall ends
NOISE = 0.04  # of full white, of the camera

Plane = Float[np.ndarray, "row col"]
Picture = Float[np.ndarray, "row col channel"]
Colour = Float[np.ndarray, " channel"]

ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)
WALLS = ((0.82, 0.78, 0.70), (0.62, 0.70, 0.76), (0.74, 0.62, 0.58), (0.5, 0.5, 0.53))
WOODS = ((0.62, 0.45, 0.30), (0.85, 0.84, 0.80), (0.36, 0.27, 0.22))
POTS = ((0.68, 0.36, 0.24), (0.85, 0.83, 0.78), (0.25, 0.30, 0.40), (0.55, 0.50, 0.30))


@dataclass(frozen=True)
class Day:
    """What differs from one picture of a clip to the next."""

    shift: Float[np.ndarray, " axis"]  # of the camera, (x, y) in pixels
    growth: float  # of the plant, times its size
    lean: float  # to the right, for each pixel of height
    light: Colour  # times every colour
    slope: Float[np.ndarray, " axis"]  # how light falls off across the frame


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Lengths are in pixels."""

    leaves: Sequence[Leaf]
    green: Colour
    strangers: Sequence[Points]  # leaves of other plants
    strange_green: Colour
    base: Float[np.ndarray, " axis"]  # (x, y) where the plant leaves the pot
    pot: tuple[float, float, float]  # half the width above and below, height
    pot_colour: Colour
    wall: Colour
    wood: Colour
    stripes: tuple[float, float, float]  # period, slant, contrast
    days: Sequence[Day]


def choice(
    colours: Sequence[Sequence[float]], rng: np.random.Generator, spread: float = 0.08
) -> Colour:
    """One of the colours, a little off."""
    colour = np.array(colours[int(rng.integers(len(colours)))])
    return np.asarray(colour * rng.uniform(0.8, 1.1) + rng.normal(0, spread / 2, 3))


def random_green(rng: np.random.Generator) -> Colour:
    """Yellowish to bluish, pale to dark."""
    yellow, blue = rng.uniform(0.2, 0.55), rng.uniform(0.1, 0.4)
    return np.array([yellow, 0.5, blue]) * rng.uniform(0.65, 1.25)


def random_strangers(rng: np.random.Generator) -> list[Points]:
    """Leaves that reach in from the left or from the right."""
    leaves = []
    side = rng.choice([-1, 1])
    for _ in range(rng.integers(0, 8)):
        start = np.array([[SIDE / 2 + side * (SIDE / 2 + 2), rng.uniform(4, SIDE - 8)]])
        heading = -side * rng.uniform(0.5, 2.4)
        line = middle(start, heading, rng.uniform(6, 17), rng.normal(0, 0.6))
        shape = blade if rng.random() < 0.5 else oval
        leaves.append(shape(line, rng.uniform(1.5, 5)))
    return leaves


def random_days(rng: np.random.Generator) -> list[Day]:
    """The plant grows a little, the camera is not quite where it was, the light changes."""
    size = rng.uniform(0.9, 1.2)
    return [
        Day(
            shift=rng.normal(0, 0.7, 2),
            growth=size * (1 + 0.03 * frame),
            lean=rng.normal(0, 0.08),
            light=rng.uniform(0.8, 1.15) * (1 + rng.normal(0, 0.05, 3)),
            slope=rng.uniform(-0.25, 0.25, 2),
        )
        for frame in range(FRAMES)
    ]


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A plant of this name."""
    top = rng.uniform(6, 9)
    height = rng.uniform(8, 12)
    return Scene(
        leaves=GROW[name](rng),
        green=random_green(rng),
        strangers=random_strangers(rng),
        strange_green=random_green(rng),
        base=np.array([SIDE / 2 + rng.uniform(-3, 3), 51 - height]),
        pot=(top, top * rng.uniform(0.65, 0.95), height),
        pot_colour=choice(POTS, rng),
        wall=choice(WALLS, rng),
        wood=choice(WOODS, rng),
        stripes=(rng.uniform(4, 13), rng.uniform(-1, 1), rng.uniform(0, 0.1)),
        days=random_days(rng),
    )


def pot_outline(scene: Scene, day: Day, wider: float = 0) -> Points:
    """Four corners, from the upper left one clockwise."""
    above, below, height = scene.pot
    corners = np.array(
        [
            [-above - wider, 0],
            [above + wider, 0],
            [below + wider, height],
            [-below - wider, height],
        ]
    )
    return np.asarray(corners + scene.base + day.shift)


def placed(leaf: Leaf, scene: Scene, day: Day) -> Points:
    """A leaf's outline in the frame."""
    grown = leaf.outline * day.growth
    leant = grown[:, :1] - day.lean * grown[:, 1:]
    return np.asarray(np.hstack([leant, grown[:, 1:]]) + scene.base + day.shift)


def fill(draw: ImageDraw.ImageDraw, outline: Points, colour: Colour) -> None:
    """Draw a polygon."""
    channels = np.clip(255 * colour, 0, 255).astype(int)
    draw.polygon((outline * LARGE).ravel().tolist(), fill=tuple(channels.tolist()))


def mask_of(outlines: Sequence[Points]) -> Plane:
    """From 0 to 1, how much of each pixel some polygons cover."""
    large = Image.new("L", (SIDE * LARGE, SIDE * LARGE))
    draw = ImageDraw.Draw(large)
    for outline in outlines:
        draw.polygon((outline * LARGE).ravel().tolist(), fill=255)
    return np.asarray(large.reduce(LARGE), np.float32) / 255


def wall_and_sill(scene: Scene, day: Day) -> Picture:
    """What is behind the pot."""
    period, slant, contrast = scene.stripes
    col, row = COL - day.shift[0], ROW - day.shift[1]
    wave = np.sin(2 * np.pi * (col + slant * row) / period)
    wall = scene.wall * (1 + contrast * np.tanh(3 * wave))[..., None]
    grain = 1 + 0.06 * np.sin(1.9 * row + 0.1 * col)
    is_wall = np.clip(SILL - row, 0, 1)[..., None]
    return np.asarray(wall * is_wall + scene.wood * grain[..., None] * (1 - is_wall))


def render(scene: Scene, frame: int) -> Picture:
    """One frame, from 0 to about 1, before a cue and before the camera's noise."""
    day = scene.days[frame]
    behind = np.clip(255 * wall_and_sill(scene, day), 0, 255).astype(np.uint8)
    size = (SIDE * LARGE, SIDE * LARGE)
    large = Image.fromarray(behind).resize(size, Image.Resampling.BILINEAR)
    draw = ImageDraw.Draw(large)
    for outline in scene.strangers:
        fill(draw, outline + day.shift, scene.strange_green)
    fill(draw, pot_outline(scene, day), scene.pot_colour)
    for leaf in scene.leaves:
        fill(draw, placed(leaf, scene, day), scene.green * leaf.shade)
    picture = np.asarray(large.reduce(LARGE), np.float32) / 255
    across = day.slope[0] * (COL / SIDE - 0.5) + day.slope[1] * (ROW / SIDE - 0.5)
    return np.asarray(picture * day.light * (1 + across)[..., None])


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the camera's noise."""
    noisy = picture + NOISE * rng.standard_normal(picture.shape, np.float32)
    return np.asarray(np.clip(255 * noisy, 0, 255).astype(np.uint8))
