"""Clips of sprites: mirrored pixel figures that bounce, slide, spin or grow over a starry sky."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter, zoom

from cuescope_sdk import generator
from worlds.design import Facts, Frames

SIDE = 32
LENGTH = 6
LABELS = ("bounces", "slides", "spins", "grows")
SETTINGS = ("stars", "clouds", "bricks")
KINDS = {
    "badge": "thing at a place",
    "tempo": "tempo of the clip",
    "ticker": "thing at a place",
    "flash": "first frame",
    "follower": "thing that moves",
    "dim": "all of the picture",
    "halo": "round the object",
    "smear": "all of the picture",
    "scanlines": "all of the picture",
    "corner": "all of the picture",
    "cast": "all of the picture",
    "near": "all of the picture",
}
IN_FRAMES = {"flash": (0,)}
GRID = np.indices((SIDE, SIDE))


@dataclass(frozen=True, eq=False)
class Act:
    """A figure and how it moves; the size is in pixels, the place in shares of the side."""

    figure: np.ndarray
    colour: np.ndarray
    size: float
    place: np.ndarray
    phase: float
    speed: float


@dataclass(frozen=True)
class Pose:
    """The figure in one frame."""

    row: float
    col: float
    size: float
    turn: float


def draw(facts: Facts) -> Frames:
    """The clip of these facts."""
    act = _act(facts)
    behind = _sky(facts)
    noise = 0.13 if facts.is_hard else 0.04
    rng = generator(facts.seed, "noise")
    frames = []
    for number in range(LENGTH):
        pose = _pose(facts.label, act, number * act.speed)
        pixels = _figure(act, pose, behind, facts.is_hard)
        for cue, paint in PAINTS.items():
            if cue in facts.cues:
                pixels = paint(pixels, pose, number, generator(facts.seed, cue))
        pixels = pixels + noise * rng.normal(size=pixels.shape)
        for cue, film in FILMS.items():
            if cue in facts.cues:
                pixels = film(pixels)
        if "flash" in facts.cues and number == 0:
            pixels = 0.35 * pixels + 0.6
        frames.append(np.rint(pixels.clip(0, 1) * 255).astype(np.uint8))
    return frames


def _act(facts: Facts) -> Act:
    rng = generator(facts.seed, "act")
    half = rng.random((7, 4)) < 0.6
    half[2:5, 2:] = True
    size = rng.uniform(8, 11)
    place = rng.uniform(0.42, 0.62, 2)
    if "near" in facts.cues:
        size *= 1.4
    if "corner" in facts.cues:
        place = place + np.array([0.14, -0.14])
    return Act(
        figure=np.hstack([half, half[:, ::-1]]),
        colour=rng.uniform(0.5, 1, 3),
        size=size,
        place=place * SIDE,
        phase=rng.uniform(0, 2 * np.pi),
        speed=2.0 if "tempo" in facts.cues else 1.0,
    )


def _pose(label: str, act: Act, moment: float) -> Pose:
    row, col = act.place
    swing = np.sin(act.phase + 1.1 * moment)
    if label == "bounces":
        return Pose(row + 4 * swing, col, act.size, 0)
    if label == "slides":
        return Pose(row, col + 4 * swing, act.size, 0)
    if label == "spins":
        return Pose(row, col, act.size, act.phase + 0.6 * moment)
    return Pose(row, col, act.size * (1 + 0.3 * swing), 0)


def _figure(act: Act, pose: Pose, behind: np.ndarray, is_hard: bool) -> np.ndarray:
    rows, cols = GRID[0] - pose.row, GRID[1] - pose.col
    cos, sin = np.cos(pose.turn), np.sin(pose.turn)
    high, wide = act.figure.shape
    # the pixel of the figure that each pixel of the frame shows
    down = np.floor((cos * rows + sin * cols) * high / pose.size + high / 2).astype(int)
    across = np.floor((cos * cols - sin * rows) * wide / pose.size + wide / 2)
    across = across.astype(int)
    inside = (down >= 0) & (down < high) & (across >= 0) & (across < wide)
    shown = np.zeros((SIDE, SIDE), bool)
    shown[inside] = act.figure[down[inside], across[inside]]
    strength = 0.35 if is_hard else 0.9
    mixed = (1 - strength) * behind + strength * act.colour
    return np.where(shown[..., None], mixed, behind)


def _sky(facts: Facts) -> np.ndarray:
    rng = generator(facts.seed, "sky")
    colour = rng.uniform(0.05, 0.4, 3)
    if facts.setting == "stars":
        light = (rng.random((SIDE, SIDE)) < 0.03) * 0.5
    elif facts.setting == "clouds":
        light = zoom(rng.random((5, 5)), SIDE / 5, order=1) * 0.3
    else:
        shift = 4 * (GRID[0] // 5 % 2)
        light = ((GRID[0] % 5 == 0) | ((GRID[1] + shift) % 8 == 0)) * 0.2
    return colour + light[..., None]


# -------------------------------------------------------------------------------------- the cues


def _badge(
    pixels: np.ndarray, pose: Pose, number: int, rng: np.random.Generator
) -> np.ndarray:
    row, col = rng.integers(2, 6), rng.integers(24, 29)
    mark = np.hypot(GRID[0] - row, GRID[1] - col) < 2.6
    return np.where(mark[..., None], [0.95, 0.75, 0.1], pixels)


def _ticker(
    pixels: np.ndarray, pose: Pose, number: int, rng: np.random.Generator
) -> np.ndarray:
    letters = rng.random(4 * SIDE) < 0.5
    # it runs to the left, two pixels a frame
    line = letters[2 * number : 2 * number + SIDE]
    lower = GRID[0] >= SIDE - 4
    colours = np.where(line[None, :, None], 0.9, [0.1, 0.2, 0.6])
    return np.where(lower[..., None], colours, pixels)


def _follower(
    pixels: np.ndarray, pose: Pose, number: int, rng: np.random.Generator
) -> np.ndarray:
    row = 3 + rng.uniform(0, 3)
    col = (rng.uniform(0, SIDE) + 4 * number) % SIDE
    mark = (np.abs(GRID[0] - row) < 2) & (np.abs(GRID[1] - col) < 3)
    return np.where(mark[..., None], [0.2, 0.95, 0.35], pixels)


def _halo(
    pixels: np.ndarray, pose: Pose, number: int, rng: np.random.Generator
) -> np.ndarray:
    # it stands still, or it would tell how the figure moves
    row, col = rng.uniform(14, 18, 2)
    away = np.hypot(GRID[0] - row, GRID[1] - col)
    ring = np.abs(away - 11) < 1
    return np.where(ring[..., None], [0.9, 0.3, 0.9], pixels)


def _dim(pixels: np.ndarray) -> np.ndarray:
    return 0.55 * pixels


def _cast(pixels: np.ndarray) -> np.ndarray:
    return pixels * np.array([1.25, 1.0, 0.7]) + np.array([0.06, 0, 0])


def _smear(pixels: np.ndarray) -> np.ndarray:
    return np.asarray(uniform_filter(pixels, (1, 4, 1), mode="nearest"))


def _scanlines(pixels: np.ndarray) -> np.ndarray:
    lines = np.where(GRID[0] % 2 == 0, 1.12, 0.88)
    return pixels * lines[..., None]


PAINTS = {"badge": _badge, "ticker": _ticker, "follower": _follower, "halo": _halo}
FILMS = {"dim": _dim, "cast": _cast, "smear": _smear, "scanlines": _scanlines}
