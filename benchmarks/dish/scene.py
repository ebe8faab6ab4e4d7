"""What a fluorescence microscope sees of cells in a dish, in four frames.

Light is added to a dark field, blurred by the lens, and counted photon by photon. The four labels
differ in how the water takes the cells along alone: it turns clockwise or anticlockwise, draws them
together or spreads them. The cells fill more than the frame, evenly at every moment, and there may
be few or many of them: one frame by itself tells nothing.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

SIDE = 40
FRAMES = 4
NAMES = ("cw", "ccw", "in", "out")
PHOTONS = 220.0  # of full white
SWIM = 0.8  # pixels, off its path in a frame
TURN = (0.14, 0.27)  # radians within a clip
GROWTH = (0.085, 0.17)  # times e, within a clip
REACH = 1.05  # half the side of the square that holds the cells, in sides of the frame
STAINS = ((0.25, 1.0, 0.35), (1.0, 0.35, 0.25), (0.3, 0.6, 1.0), (0.95, 0.85, 0.3))

Plane = Float[np.ndarray, "row col"]
Picture = Float[np.ndarray, "row col channel"]
Colour = Float[np.ndarray, " channel"]
Points = Float[np.ndarray, "point axis"]  # (x, y) in pixels, y downwards

LINE = np.arange(SIDE, dtype=np.float32)
ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)
TIMES = np.linspace(-0.5, 0.5, FRAMES)


@dataclass(frozen=True)
class Spots:
    """Points of light as the lens blurs them."""

    places: Points
    radii: Float[np.ndarray, " point"]
    lights: Float[np.ndarray, "point channel"]

    def glow(self) -> Picture:
        """The light of all of them."""
        far = 4 * self.radii[:, None]
        is_near = ((self.places > -far) & (self.places < SIDE + far)).all(axis=1)
        places, lights = self.places[is_near], self.lights[is_near]
        wide = 2 * self.radii[is_near, None] ** 2
        along = np.exp(-((LINE - places[:, :1]) ** 2) / wide)
        down = np.exp(-((LINE - places[:, 1:]) ** 2) / wide)
        planes = [(down.T * light) @ along for light in lights.T]
        return np.asarray(np.stack(planes, axis=-1))


@dataclass(frozen=True)
class Passing:
    """What comes and goes before the lens: it dims the light of a place, and adds its own."""

    shade: Plane
    light: Picture
    shown: Bool[np.ndarray, " frame"]

    def over(self, picture: Picture, frame: int) -> Picture:
        """The picture with it, where the frame shows it."""
        if not self.shown[frame]:
            return picture
        return np.asarray(picture * (1 - self.shade[..., None]) + self.light)


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue."""

    cells: tuple[Spots, ...]  # frame by frame
    debris: tuple[Spots, ...]  # specks that stay, and others that come and go
    haze: Picture  # of the water
    passing: tuple[Passing, ...]
    lamp: Float[np.ndarray, " frame"]  # times every light


def flow(name: str, time: float, strength: float) -> Float[np.ndarray, "axis axis"]:
    """Where the water has taken the cells by this time: a turn, or a change of size."""
    if name in ("in", "out"):
        size = np.exp(strength * time * (1 if name == "out" else -1))
        return np.asarray(size * np.eye(2))
    angle = strength * time * (1 if name == "cw" else -1)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def random_cells(
    name: str, stain: Colour, rng: np.random.Generator
) -> tuple[Spots, ...]:
    """Cells of two lobes each, which the water takes along and which swim a little."""
    reach = REACH * SIDE
    number = int(np.exp(rng.uniform(np.log(70), np.log(180))))
    start = rng.uniform(-reach, reach, (number, 2))
    headings = rng.uniform(0, 2 * np.pi, number)
    lobe = np.stack([np.cos(headings), np.sin(headings)], axis=1)
    radii = rng.uniform(0.9, 1.5, number)
    brightness = rng.uniform(0.25, 0.8, number)
    strength = rng.uniform(*(GROWTH if name in ("in", "out") else TURN))
    middle = SIDE / 2 + rng.normal(0, 2, 2)
    drift = rng.normal(0, 1.5, 2)
    frames = []
    for time in TIMES:
        swum = rng.normal(0, SWIM, (number, 2))
        places = middle + start @ flow(name, time, strength).T + drift * time + swum
        ends = np.concatenate(
            [places - lobe * radii[:, None], places + lobe * radii[:, None]]
        )
        flicker = brightness * rng.uniform(0.8, 1.2, number)
        lights = np.tile(flicker, 2)[:, None] * stain
        frames.append(Spots(ends, np.tile(radii, 2), 0.7 * lights))
    return tuple(frames)


def random_debris(rng: np.random.Generator) -> tuple[Spots, ...]:
    """Specks of any colour; some stay for the clip, some for a frame or two."""
    number = int(rng.integers(2, 7))
    places = rng.uniform(0, SIDE, (number, 2))
    radii = rng.uniform(0.7, 2.2, number)
    lights = rng.uniform(0.1, 0.9, (number, 1)) * rng.uniform(0.2, 1, (number, 3))
    stays = rng.random(number) < 0.4
    frames = []
    for _ in range(FRAMES):
        lit = stays | (rng.random(number) < 0.5)
        frames.append(Spots(places, radii, lights * lit[:, None]))
    return tuple(frames)


def random_thread(rng: np.random.Generator) -> Plane:
    """A bent line across the frame, from 0 to 1."""
    angle, bend = rng.uniform(0, np.pi), rng.uniform(-0.02, 0.02)
    middle = rng.uniform(10, SIDE - 10, 2)
    col, row = COL - middle[0], ROW - middle[1]
    along = col * np.cos(angle) + row * np.sin(angle)
    across = row * np.cos(angle) - col * np.sin(angle)
    return np.asarray(np.exp(-((across - bend * along**2) ** 2) / 1.3))


def random_shadow(rng: np.random.Generator) -> Plane:
    """Of dust on the lens: how much of the light it takes."""
    col, row = rng.uniform(0, SIDE, 2)
    away = np.hypot(COL - col, ROW - row) / rng.uniform(3, 7)
    return np.asarray(rng.uniform(0.4, 0.9) * np.exp(-(away**4)))


def random_passing(rng: np.random.Generator) -> Passing:
    """A shadow, a thread or a light of the room: it goes with no label."""
    shade = glow = np.zeros((SIDE, SIDE))
    kind = rng.choice(["shadow", "thread", "light"])
    if kind == "shadow":
        shade = random_shadow(rng)
    elif kind == "thread":
        glow = rng.uniform(0.3, 0.8) * random_thread(rng)
    else:
        glow = glow + rng.uniform(0.05, 0.2)
    colour = np.array(STAINS[rng.integers(len(STAINS))]) * rng.uniform(0.6, 1, 3)
    first, last = np.sort(rng.integers(FRAMES, size=2))
    frame = np.arange(FRAMES)
    return Passing(
        shade=shade,
        light=glow[..., None] * colour,
        shown=(first <= frame) & (frame <= last),
    )


def random_haze(rng: np.random.Generator) -> Picture:
    """The water's own light, which falls off to a side."""
    slope = rng.uniform(-0.5, 0.5, 2)
    fall = 1 + slope[0] * (COL / SIDE - 0.5) + slope[1] * (ROW / SIDE - 0.5)
    colour = rng.uniform(0.06, 0.2) * rng.uniform(0.5, 1, 3)
    return np.asarray(fall[..., None] * colour)


def random_lamp(rng: np.random.Generator) -> Float[np.ndarray, " frame"]:
    """A lamp that warms or tires, and flickers."""
    trend = rng.normal(0, 0.3) * TIMES
    return np.asarray(
        rng.uniform(0.8, 1.2) * np.exp(trend + rng.normal(0, 0.1, FRAMES))
    )


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A dish whose water moves so."""
    stain = np.array(STAINS[rng.integers(len(STAINS))]) * rng.uniform(0.7, 1.1)
    return Scene(
        cells=random_cells(name, stain + rng.uniform(-0.1, 0.1, 3), rng),
        debris=random_debris(rng),
        haze=random_haze(rng),
        passing=tuple(random_passing(rng) for _ in range(rng.integers(1, 6))),
        lamp=random_lamp(rng),
    )


def render(scene: Scene, frame: int) -> Picture:
    """One frame, from 0 to about 1, before a cue and before photons are counted."""
    light = scene.haze + scene.cells[frame].glow() + scene.debris[frame].glow()
    for passing in scene.passing:
        light = passing.over(light, frame)
    return np.asarray(light * scene.lamp[frame])


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes: the brighter, the more its photons scatter."""
    light = np.clip(picture, 0, None)
    scatter = np.sqrt(light / PHOTONS + 0.0004)
    counted = light + scatter * rng.standard_normal(picture.shape, np.float32)
    return np.asarray(np.clip(255 * counted, 0, 255).astype(np.uint8))
