"""What a camera on the ground sees of a drone above hills, in four frames.

The five labels differ in how the drone moves alone: it climbs, sinks, comes nearer, leaves or
turns. One frame by itself tells little, for places, sizes and angles are drawn alike.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.ndimage import gaussian_filter, shift

SIDE = 40
FRAMES = 4
NAMES = ("climbs", "sinks", "nears", "leaves", "turns")
NOISE = 0.05  # of full white, of the camera
SKIES = ((0.45, 0.62, 0.85), (0.68, 0.72, 0.76), (0.80, 0.62, 0.52), (0.55, 0.72, 0.78))
LANDS = ((0.28, 0.38, 0.20), (0.42, 0.36, 0.24), (0.24, 0.30, 0.33))

Plane = Float[np.ndarray, "row col"]
Picture = Float[np.ndarray, "row col channel"]
Colour = Float[np.ndarray, " channel"]
Point = Float[np.ndarray, " axis"]  # (x, y) in pixels, y downwards

ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)
TIMES = np.linspace(-0.5, 0.5, FRAMES)


@dataclass(frozen=True)
class Pose:
    """Where the drone is in one frame, from its middle to a rotor, and how far it has turned."""

    place: Point
    size: float
    angle: float


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue."""

    poses: tuple[Pose, ...]
    shell: Colour
    rotors: float  # how much they hide
    behind: Picture
    light: Float[np.ndarray, "frame channel"]  # times every colour
    shakes: Float[np.ndarray, "frame axis"]  # of the camera, (rows, columns)


def disc(place: Point, radius: float) -> Plane:
    """From 0 to 1, how much of each pixel is in it."""
    away = np.hypot(COL - place[0], ROW - place[1])
    return np.asarray(np.clip(0.5 + radius - away, 0, 1))


def bar(start: Point, end: Point, width: float) -> Plane:
    """A line with round ends."""
    along = end - start
    col, row = COL - start[0], ROW - start[1]
    share = np.clip((col * along[0] + row * along[1]) / (along @ along), 0, 1)
    away = np.hypot(col - share * along[0], row - share * along[1])
    return np.asarray(np.clip(0.5 + width / 2 - away, 0, 1))


def painted(picture: Picture, cover: Plane, colour: Colour | Picture) -> Picture:
    """A colour over the picture."""
    return np.asarray(picture + cover[..., None] * (colour - picture))


def random_poses(name: str, rng: np.random.Generator) -> tuple[Pose, ...]:
    """A drone that moves as its label says, and a little otherwise, for the wind."""
    climb, growth, turn = rng.normal(0, (2.5, 0.12, 0.25))
    if name in ("climbs", "sinks"):
        climb = rng.uniform(5, 11) * (-1 if name == "climbs" else 1)
    if name in ("nears", "leaves"):
        growth = rng.uniform(0.35, 0.7) * (1 if name == "nears" else -1)
    if name == "turns":
        turn = rng.uniform(0.9, 1.7) * rng.choice([-1, 1])
    middle = np.array([rng.uniform(11, SIDE - 11), rng.uniform(12, 23)])
    drift = np.array([rng.uniform(-6, 6), climb])
    size, angle = rng.uniform(3.8, 7), rng.uniform(0, np.pi)
    return tuple(
        Pose(
            place=middle + time * drift + rng.normal(0, 0.8, 2),
            size=size * np.exp(growth * time + rng.normal(0, 0.06)),
            angle=angle + time * turn + rng.normal(0, 0.12),
        )
        for time in TIMES
    )


def random_land(rng: np.random.Generator) -> Picture:
    """A sky with clouds, and hills below."""
    sky = np.array(SKIES[rng.integers(len(SKIES))]) * rng.uniform(0.85, 1.1)
    paler = 1 + rng.uniform(0, 0.35) * ROW[..., None] / SIDE
    clouds = gaussian_filter(rng.standard_normal((SIDE, SIDE)), (2.5, 5), mode="wrap")
    cover = rng.uniform(0.1, 0.5) * np.clip(clouds / clouds.std(), 0, 1)
    picture = painted(sky * paler, cover, np.full(3, 0.95))
    waves = rng.uniform(0.1, 0.4, 2)
    starts = rng.uniform(0, 2 * np.pi, 2)
    hills = np.sin(waves[:, None, None] * COL + starts[:, None, None]).sum(axis=0)
    top = rng.uniform(SIDE - 9, SIDE - 5) + 1.5 * hills
    land = np.array(LANDS[rng.integers(len(LANDS))]) * rng.uniform(0.8, 1.2)
    return painted(picture, np.clip(ROW - top, 0, 1), land)


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A drone that moves so."""
    lights = rng.uniform(0.85, 1.1) * (1 + rng.normal(0, 0.02, (FRAMES, 3)))
    return Scene(
        poses=random_poses(name, rng),
        shell=rng.uniform(0.1, 0.5) * (1 + rng.normal(0, 0.2, 3)),
        rotors=rng.uniform(0.45, 0.8),
        behind=random_land(rng),
        light=lights,
        shakes=rng.normal(0, 0.8, (FRAMES, 2)),
    )


def render(scene: Scene, frame: int) -> Picture:
    """One frame, from 0 to about 1, before a cue and before the camera's noise."""
    pose = scene.poses[frame]
    picture = scene.behind
    for quarter in range(4):
        heading = pose.angle + quarter * np.pi / 2
        tip = pose.place + pose.size * np.array([np.cos(heading), np.sin(heading)])
        arm = bar(pose.place, tip, 0.2 * pose.size)
        picture = painted(picture, arm, scene.shell)
        rotor = scene.rotors * disc(tip, 0.4 * pose.size)
        picture = painted(picture, rotor, scene.shell)
    picture = painted(picture, disc(pose.place, 0.38 * pose.size), scene.shell)
    shaken = shift(picture, (*scene.shakes[frame], 0), order=1, mode="nearest")
    return np.asarray(shaken * scene.light[frame])


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the camera's noise."""
    noisy = picture + NOISE * rng.standard_normal(picture.shape, np.float32)
    return np.asarray(np.clip(255 * noisy, 0, 255).astype(np.uint8))
