"""What somebody sees who sits before a shadow theatre, in four frames.

A lamp shines through paper, and a jointed puppet on rods stands between them, with scenery at its
sides. The four labels differ in what the puppet does alone: it walks, bows, waves or leaps. Where
it stands, its size and build, its hat, the way that it faces and the scenery are drawn alike.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter

FRAMES = 4
SIDE = 48
NAMES = ("walks", "bows", "waves", "leaps")
FINE = 4  # times larger is drawn what is cut from card
FLOOR = 0.8  # of the frame's side, where puppets stand
TREMBLE = 0.1  # radians, of every joint
ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)

Picture = Float[np.ndarray, "row col channel"]  # from 0 to 1
Plane = Float[np.ndarray, "row col"]
Point = Float[np.ndarray, " axis"]  # column, row


@dataclass(frozen=True)
class Pose:
    """A puppet at one moment. Angles are radians from straight down, positive ahead."""

    step: float  # ahead of where it began, in its own height
    height: float  # above the floor, in its own height
    lean: float  # of the back, ahead
    arms: tuple[float, float]
    legs: tuple[float, float]
    knees: float  # how far the shanks fold back


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are shares of the frame's side."""

    poses: tuple[Pose, ...]
    col: float
    tall: float
    facing: int
    limb: float  # breadth of a limb
    hat: int
    scenery: Plane  # 1 where card is
    lamp: Point
    glow: Float[np.ndarray, " channel"]
    flicker: Float[np.ndarray, " frame"]
    blur: float


def random_poses(name: str, rng: np.random.Generator) -> tuple[Pose, ...]:
    """What the puppet does from frame to frame."""
    start = rng.uniform(0, 2 * np.pi)
    swing = np.sin(start + rng.uniform(1.1, 1.7) * np.arange(FRAMES))
    bump = np.abs(np.sin(start / 2 + rng.uniform(0.6, 1) * np.arange(FRAMES)))
    much = rng.uniform(0.55, 0.95)
    rest = rng.uniform(-0.5, 0.7, 2)
    stand = rng.uniform(0.05, 0.25)
    poses = []
    for frame in range(FRAMES):
        step, height, lean, knees = 0.0, 0.0, rng.normal(0.05, TREMBLE), 0.1
        arms = rest + rng.normal(0, TREMBLE, 2)
        legs = np.array([stand, -stand]) + rng.normal(0, TREMBLE, 2)
        if name == "walks":
            step = 0.1 * frame
            legs += 0.5 * much * swing[frame] * np.array([1, -1])
            arms -= 0.35 * much * swing[frame] * np.array([1, -1])
        elif name == "bows":
            lean += 1.05 * much * bump[frame]
        elif name == "waves":
            arms[0] = 2.4 + 0.5 * much * swing[frame]
        else:
            height = 0.22 * much * bump[frame]
            knees += 1.1 * much * bump[frame]
            legs += 0.45 * much * bump[frame]
            arms += 0.5 * bump[frame] * np.array([1, -1])
        poses.append(Pose(step, height, lean, tuple(arms), tuple(legs), knees))
    return tuple(poses)


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A puppet that does what the label says."""
    warm = np.array([1.0, rng.uniform(0.66, 0.82), rng.uniform(0.3, 0.5)])
    return Scene(
        poses=random_poses(name, rng),
        col=rng.uniform(0.35, 0.65),
        tall=rng.uniform(0.5, 0.64),
        facing=int(rng.choice([-1, 1])),
        limb=rng.uniform(0.08, 0.11),
        hat=int(rng.integers(3)),
        scenery=random_scenery(rng),
        lamp=rng.uniform([0.3, 0.2], [0.7, 0.6]) * SIDE,
        glow=warm * rng.uniform(0.75, 1),
        flicker=1 + rng.normal(0, 0.04, FRAMES),
        blur=rng.uniform(0.4, 0.8),
    )


def random_scenery(rng: np.random.Generator) -> Plane:
    """Hills, and a house or a tree at a side or at both."""
    plate = Image.new("L", (FINE * SIDE, FINE * SIDE))
    pen = ImageDraw.Draw(plate)
    size = FINE * SIDE
    waves = rng.uniform(0.02, 0.05, 2)
    starts = rng.uniform(0, 2 * np.pi, 2)
    across = np.linspace(0, size, 25)
    hills = (
        FLOOR * size
        + 2
        * FINE
        * sum(
            np.sin(wave * across + start)
            for wave, start in zip(waves, starts, strict=True)
        )
        / 2
    )
    outline = [(0, size), *zip(across, hills + 2 * FINE, strict=True), (size, size)]
    pen.polygon(outline, 255)
    for foot in (rng.uniform(0.02, 0.14), rng.uniform(0.86, 0.98)):
        kind = rng.integers(3)
        col, top = foot * size, size * rng.uniform(0.45, 0.62)
        wide = size * rng.uniform(0.06, 0.1)
        if kind == 0:
            pen.rectangle((col - wide, top, col + wide, size), 255)
            roof = [(col - 1.4 * wide, top), (col, top - wide), (col + 1.4 * wide, top)]
            pen.polygon(roof, 255)
        elif kind == 1:
            pen.line((col, top, col, size), 255, FINE)
            pen.ellipse((col - wide, top - wide, col + wide, top + 1.3 * wide), 255)
    return np.asarray(plate.resize((SIDE, SIDE)), np.float32) / 255


def ahead(angle: float, facing: int) -> Point:
    """A unit step at an angle from straight down."""
    return np.array([facing * np.sin(angle), np.cos(angle)])


def puppet(scene: Scene, frame: int) -> Plane:
    """1 where the puppet's card and its rods are."""
    pose = scene.poses[frame]
    size = FINE * SIDE
    tall, facing = scene.tall * size, scene.facing
    hip = np.array(
        [
            size * scene.col + facing * tall * (pose.step - 0.15 * (pose.step > 0)),
            size * FLOOR - tall * (0.44 + pose.height),
        ]
    )
    neck = hip - 0.32 * tall * ahead(-pose.lean, facing)
    head = neck - 0.13 * tall * ahead(-1.2 * pose.lean, facing)
    plate = Image.new("L", (size, size))
    pen = ImageDraw.Draw(plate)
    breadth = scene.limb * tall

    def limb(*points: Point, wide: float) -> None:
        places = [tuple(point) for point in points]
        pen.line(places, 255, round(wide), "curve")
        for col, row in places:
            half = wide / 2
            pen.ellipse((col - half, row - half, col + half, row + half), 255)

    limb(hip, neck, wide=1.7 * breadth)
    limb(head, head + 0.04 * tall * ahead(1.6 - pose.lean, facing), wide=0.15 * tall)
    for angle in pose.legs:
        knee = hip + 0.22 * tall * ahead(angle, facing)
        foot = knee + 0.22 * tall * ahead(angle - pose.knees, facing)
        limb(hip, knee, foot, foot + 0.06 * tall * ahead(1.5, facing), wide=breadth)
    for angle in pose.arms:
        elbow = neck + 0.16 * tall * ahead(angle + 0.3 * pose.lean, facing)
        hand = elbow + 0.15 * tall * ahead(angle + 0.3 + 0.3 * pose.lean, facing)
        limb(neck, elbow, hand, wide=0.75 * breadth)
    if scene.hat:
        top = head - (0.08 + 0.08 * scene.hat) * tall * ahead(-pose.lean, facing)
        limb(head, top, wide=(0.16 - 0.04 * scene.hat) * tall)
    for end in (hip, neck):
        below = (end[0] + 0.1 * (end[0] - size / 2), size)
        pen.line((*end, *below), 130, FINE // 2)
    return np.asarray(plate.resize((SIDE, SIDE)), np.float32) / 255


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    away = np.hypot(COL - scene.lamp[0], ROW - scene.lamp[1]) / SIDE
    light = scene.flicker[frame] * (0.35 + 0.65 * np.exp(-1.8 * away**2))
    card = np.maximum(scene.scenery, puppet(scene, frame))
    shade = 0.92 * gaussian_filter(card, scene.blur)
    bright = light[..., None] * scene.glow
    return np.asarray(bright * (1 - shade[..., None]) + 0.03)


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a dark hall."""
    noise = rng.normal(0, 0.04, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
