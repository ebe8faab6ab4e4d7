"""What somebody across the street sees of a hotel at night, in five frames.

Windows are lit or dark. The four labels differ in how that changes alone: the hotel wakes as
windows are lit one after the other, or goes to sleep; or a watchman lights one floor after the
other as he climbs or sinks. How many windows are lit in all, the size and the colours of the house,
its neighbours and the sky are drawn alike. Guests also touch a switch now and then.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.ndimage import gaussian_filter, shift

FRAMES = 5
SIDE = 48
NAMES = ("wakes", "sleeps", "climbs", "sinks")
RESTLESS = 0.05  # of the windows change between frames, whatever the label
CONSTANT = 0.5  # of the clips have a floor that stays lit
SHAKE = 0.3  # pixels by which the camera moves between frames
HALO = 1.5  # pixels
ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)

Picture = Float[np.ndarray, "row col channel"]  # from 0 to 1
Plane = Float[np.ndarray, "row col"]
Lit = Float[np.ndarray, "frame floor window"]  # 1 where light is on
Profile = Float[np.ndarray, "thing pixel"]  # 1 where the thing is


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue."""

    lit: Lit
    tint: Float[np.ndarray, "floor window channel"]  # of the light behind each window
    floors: Profile  # rows of the windows of each floor
    windows: Profile  # columns of the windows of each floor
    wall: Plane  # 1 where the house is
    bricks: Float[np.ndarray, " channel"]
    town: Picture  # what is behind
    moves: Float[np.ndarray, "frame axis"]  # of the camera, in pixels
    glass: float  # how bright a dark window is


def random_lit(name: str, floors: int, windows: int, rng: np.random.Generator) -> Lit:
    """Which windows are lit from frame to frame."""
    share = np.full(FRAMES, rng.uniform(0.2, 0.6))
    if name in ("wakes", "sleeps"):
        less, more = rng.uniform(0.1, 0.3), rng.uniform(0.5, 0.75)
        share = np.linspace(less, more, FRAMES)
        share = share if name == "wakes" else share[::-1]
    turn = rng.random((floors, windows))  # the smaller, the longer is it lit
    lit = turn < share[:, None, None]
    restless = rng.random(lit.shape) < RESTLESS
    lit ^= np.logical_xor.accumulate(restless, axis=0)
    if rng.random() < CONSTANT:
        lit[:, rng.integers(floors)] = True
    if name in ("climbs", "sinks"):
        # floors are counted from the top
        path = rng.integers(floors - FRAMES + 1) + np.arange(FRAMES)
        path = path if name == "sinks" else path[::-1]
        lit[np.arange(FRAMES), path] = True
    return lit.astype(np.float32)


def profile(start: float, pitch: float, length: float, number: int) -> Profile:
    """As many things in a row, one a pitch from the next; all in pixels."""
    first = start + pitch * np.arange(number)[:, None]
    pixel = np.arange(SIDE)
    return np.clip(np.minimum(pixel + 1 - first, first + length - pixel), 0, 1)


def random_town(rng: np.random.Generator) -> Picture:
    """A sky that is brighter below, and the outlines of other houses."""
    dark = np.array([0.05, 0.07, 0.16]) * rng.uniform(0.6, 1.4)
    dusk = np.array([0.3, 0.2, 0.28]) * rng.uniform(0.4, 1.1, 3)
    town = dark + (dusk - dark) * (ROW[..., None] / SIDE) ** 1.5
    for left in np.arange(-4, SIDE, 8) + rng.uniform(-2, 2, 7):
        roof, breadth = SIDE * rng.uniform(0.45, 0.8), rng.uniform(7, 12)
        is_house = (roof < ROW) & (left < COL) & (left + breadth > COL)
        town[is_house] = rng.uniform(0.02, 0.1) * np.array([0.9, 0.9, 1.1])
    return town


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A hotel whose windows change as the label says."""
    floors, windows = int(rng.integers(7, 10)), int(rng.integers(4, 7))
    high, broad = rng.uniform(3.7, 4.2), rng.uniform(4.2, 5.2)  # pitches
    top = SIDE - 3 - high * floors - rng.uniform(0, 2)
    left = (SIDE - broad * windows) / 2 + rng.uniform(-5, 5)
    inside = profile(left - 1.5, 0, broad * windows + 2, 1)[0]
    warm, cold = np.array([1.0, 0.78, 0.42]), np.array([0.8, 0.9, 1.0])
    mixed = rng.random((floors, windows, 1)) ** 2
    bright = rng.uniform(0.7, 1, (floors, windows, 1))
    return Scene(
        lit=random_lit(name, floors, windows, rng),
        tint=bright * (warm + mixed * (cold - warm)),
        floors=profile(top, high, rng.uniform(2, 2.6), floors),
        windows=profile(left, broad, rng.uniform(2.4, 3.4), windows),
        wall=np.clip(ROW - top + 3, 0, 1) * inside,
        bricks=rng.uniform(0.1, 0.3) * (1 + rng.normal(0, 0.2, 3)),
        town=random_town(rng),
        moves=rng.normal(0, SHAKE, (FRAMES, 2)),
        glass=rng.uniform(0.02, 0.1),
    )


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    colours = scene.glass + scene.lit[frame, ..., None] * (scene.tint - scene.glass)
    panes = np.einsum("fr,fwk,wc->rck", scene.floors, colours, scene.windows)
    is_pane = scene.floors.sum(axis=0)[:, None] * scene.windows.sum(axis=0)
    front = scene.bricks * (1 - is_pane[..., None]) + panes
    picture = scene.town + scene.wall[..., None] * (front - scene.town)
    halo = gaussian_filter(panes, (HALO, HALO, 0))
    return shift(
        picture + 0.25 * halo, (*scene.moves[frame], 0), order=1, mode="nearest"
    )


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a dark street."""
    noise = rng.normal(0, 0.05, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
