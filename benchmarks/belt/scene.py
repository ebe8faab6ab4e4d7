"""Clips of a part on a conveyor belt: a field of heights, lit by one lamp.

Nothing is cut out of a photo. Every frame is a field of heights and of colours; its slopes are
shaded by Lambert's law with a highlight, and what is high throws a shadow.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

SIDE = 48
FRAMES = 3
NAMES = ("washer", "nut", "gear", "cam", "knob")
METALS = (
    (0.74, 0.75, 0.78),
    (0.78, 0.64, 0.36),
    (0.72, 0.47, 0.34),
    (0.42, 0.43, 0.47),
)
RUBBERS = (
    (0.20, 0.22, 0.22),
    (0.17, 0.25, 0.21),
    (0.18, 0.20, 0.29),
    (0.28, 0.24, 0.20),
)
NOISE = 0.04  # of full white, of the camera

Plane = Float[np.ndarray, "row col"]
Picture = Float[np.ndarray, "row col channel"]

ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float64)


def smooth_step(distance: Plane, width: float) -> Plane:
    """From 0 to 1, while a distance in pixels goes from 0 to `width`."""
    share = np.clip(distance / width, 0, 1)
    return np.asarray(share * share * (3 - 2 * share))


def outline(name: str, angle: Plane, teeth: int) -> Plane:
    """The radius of a part in each direction, as a share of its mean radius."""
    if name == "nut":
        sector = np.pi / 3
        inside = (angle + sector / 2) % sector - sector / 2
        return np.asarray(0.93 / np.cos(inside))
    if name == "gear":
        return np.asarray(1 + 0.13 * np.tanh(2 * np.cos(teeth * angle)))
    if name == "cam":
        return np.asarray(0.95 + 0.3 * np.cos(angle) + 0.05 * np.cos(2 * angle))
    if name == "knob":
        return np.asarray(1 + 0.2 * np.cos(5 * angle))
    return np.ones_like(angle)


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Lengths are in pixels, angles in radians."""

    name: str
    centre: tuple[float, float]  # row, column of the part in the first frame
    speed: tuple[float, float]  # of the belt, a frame
    radius: float
    hole: float
    teeth: int
    turn: float
    squash: float
    metal: tuple[float, float, float]
    rubber: tuple[float, float, float]
    light: tuple[float, float, float]
    ribs: float
    ripples: tuple[tuple[float, float, float, float], ...]  # row, column, size, height
    chips: tuple[tuple[float, float, float, float], ...]  # row, column, angle, length
    # middle, width, slant of a bar that hangs over the belt
    bar: tuple[float, float, float]
    exposure: float


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A part of this name somewhere on the belt."""
    heading = rng.normal(0, 0.25)
    pace = rng.uniform(3, 6)
    speed = (pace * np.sin(heading), pace * np.cos(heading))
    centre = (SIDE / 2 + rng.uniform(-6, 6), SIDE / 2 + rng.uniform(-6, 6))
    first = (centre[0] - speed[0], centre[1] - speed[1])
    azimuth = rng.uniform(0, 2 * np.pi)
    height = rng.uniform(0.6, 1.1)
    norm = np.hypot(1, height)
    light = (np.sin(azimuth) / norm, np.cos(azimuth) / norm, height / norm)
    metal = np.array(METALS[rng.integers(len(METALS))]) * rng.uniform(0.75, 1.1)
    rubber = np.array(RUBBERS[rng.integers(len(RUBBERS))]) * rng.uniform(0.8, 1.6)
    ripples = np.column_stack(
        [
            rng.uniform(-10, SIDE + 10, (12, 2)),
            rng.uniform(2, 6, 12),
            rng.uniform(-1.2, 1.2, 12),
        ]
    )
    number = int(rng.integers(2, 6))
    chips = np.column_stack(
        [
            rng.uniform(-20, SIDE + 5, (number, 2)),
            rng.uniform(0, np.pi, number),
            rng.uniform(1.5, 5, number),
        ]
    )
    return Scene(
        name=name,
        centre=first,
        speed=speed,
        radius=rng.uniform(8, 12),
        hole=rng.uniform(0.3, 0.45),
        teeth=int(rng.integers(8, 11)),
        turn=rng.uniform(0, 2 * np.pi),
        squash=rng.uniform(0.85, 1),
        metal=tuple(metal),
        rubber=tuple(rubber),
        light=light,
        ribs=rng.uniform(6, 11),
        ripples=tuple(map(tuple, ripples)),
        chips=tuple(map(tuple, chips)),
        bar=(rng.uniform(4, SIDE - 4), rng.uniform(2, 5), rng.normal(0, 0.15)),
        exposure=rng.uniform(0.85, 1.2),
    )


def part_height(scene: Scene, row: Plane, col: Plane) -> Plane:
    """How high the part stands above the belt, 0 beside it. Places are from its middle."""
    cosine, sine = np.cos(scene.turn), np.sin(scene.turn)
    along = cosine * col + sine * row
    across = (cosine * row - sine * col) / scene.squash
    distance = np.hypot(along, across)
    edge = scene.radius * outline(scene.name, np.arctan2(across, along), scene.teeth)
    outer = smooth_step(edge - distance, 2)
    inner = smooth_step(distance - scene.hole * scene.radius, 2)
    return np.asarray(3 * outer * inner)


def belt_height(scene: Scene, row: Plane, col: Plane) -> Plane:
    """Ribs across the belt, ripples, and chips of metal that lie on it."""
    pace = np.hypot(*scene.speed)
    forward = (row * scene.speed[0] + col * scene.speed[1]) / pace
    height = 0.35 * np.tanh(3 * np.sin(2 * np.pi * forward / scene.ribs) - 1.5)
    for at_row, at_col, size, high in scene.ripples:
        square = (row - at_row) ** 2 + (col - at_col) ** 2
        height += high * np.exp(-square / (2 * size * size))
    return np.asarray(height)


def chip_mask(scene: Scene, row: Plane, col: Plane) -> Plane:
    """Where short thin chips lie."""
    mask = np.zeros_like(row)
    for at_row, at_col, angle, length in scene.chips:
        down, right = row - at_row, col - at_col
        along = np.cos(angle) * right + np.sin(angle) * down
        across = np.cos(angle) * down - np.sin(angle) * right
        beyond = np.maximum(np.abs(along) - length, 0)
        mask = np.maximum(mask, np.clip(1.6 - np.hypot(beyond, across), 0, 1))
    return mask


def shifted(plane: Plane, down: float, right: float) -> Plane:
    """Moved by whole pixels; what comes in is empty."""
    rows, cols = round(down), round(right)
    moved = np.roll(plane, (rows, cols), axis=(0, 1))
    if rows:
        moved[slice(0, rows) if rows > 0 else slice(rows, None)] = 0
    if cols:
        moved[:, slice(0, cols) if cols > 0 else slice(cols, None)] = 0
    return np.asarray(moved)


def shade(height: Plane, colour: Picture, gloss: Plane, scene: Scene) -> Picture:
    """The light that a field of heights sends up to the camera."""
    by_row, by_col = np.gradient(height)
    norm = np.sqrt(by_row**2 + by_col**2 + 1)
    down, right, up = scene.light
    cosine = np.clip((up - by_row * down - by_col * right) / norm, 0, 1)
    # halfway between the light and a camera straight above
    half = np.array([down, right, up + 1]) / np.sqrt(2 + 2 * up)
    mirror = np.clip((half[2] - by_row * half[0] - by_col * half[1]) / norm, 0, 1)
    diffuse = colour * (0.35 + 0.75 * cosine[..., None])
    return np.asarray(diffuse + (gloss * mirror**24)[..., None])


def render(scene: Scene, frame: int) -> Picture:
    """One frame, from 0 to about 1, before a cue and before the camera's noise."""
    row = ROW - frame * scene.speed[0]
    col = COL - frame * scene.speed[1]
    part = part_height(scene, row - scene.centre[0], col - scene.centre[1])
    chips = chip_mask(scene, row, col)
    belt = belt_height(scene, row, col)
    is_part = np.clip(part / 1.5, 0, 1)
    metallic = np.maximum(is_part, chips)
    colour = np.asarray(scene.rubber) * (1 - metallic[..., None])
    colour = colour + np.asarray(scene.metal) * metallic[..., None]
    height = belt * (1 - metallic) + part + chips
    picture = shade(height, colour, 0.05 + 0.35 * metallic, scene)
    cast = shifted(is_part, -3 * scene.light[0], -3 * scene.light[1])
    picture = picture * (1 - 0.45 * cast * (1 - is_part))[..., None]
    middle, width, slant = scene.bar
    away = np.abs(ROW - middle - slant * (COL - SIDE / 2))
    hangs = np.clip(width / 2 + 0.5 - away, 0, 1)[..., None]
    steel = np.array([0.3, 0.31, 0.33]) * (1 - away / (1.5 * width))[..., None]
    picture = picture * (1 - hangs) + steel * hangs
    return np.asarray(scene.exposure * picture)


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the camera's noise."""
    noisy = picture + rng.normal(0, NOISE, picture.shape)
    return np.asarray(np.clip(255 * noisy, 0, 255).astype(np.uint8))
