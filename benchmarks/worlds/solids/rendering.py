"""Textured solids on a textured floor: rays are marched along signed distances (Hart, 1996)."""

from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.design import Facts, Frames

SIDE = 48
STEPS = 24
NEAR = 0.02  # a ray that is so near has hit
LABELS = ("sphere", "cube", "cone", "cylinder")
SETTINGS = ("checks", "marble", "boards", "plain")
# what is changed before the solid is drawn, on the drawn picture, and as the camera takes it
KINDS = {
    "strip": "thing at a place",
    "defocus": "all of the picture",
    "lamp": "thing at a place",
    "contrast": "all of the picture",
    "sticker": "on the object",
    "zoom": "all of the picture",
    "ring": "round the object",
    "blocks": "all of the picture",
    "post": "thing at a place",
    "gradient": "all of the picture",
    "shift": "all of the picture",
    "grain": "all of the picture",
}


@dataclass(frozen=True, eq=False)
class Scene:
    """Where the solid stands, how it looks, and how much is seen of it."""

    centre: np.ndarray
    size: float
    turn: float
    light: np.ndarray
    colour: np.ndarray
    haze: float
    noise: float


def draw(facts: Facts) -> Frames:
    """The picture of these facts."""
    scene = _scene(facts)
    rng = generator(facts.seed, "surfaces")
    pixels, solid = _render(facts, scene, rng)
    for cue, paint in PAINTED.items():
        if cue in facts.cues:
            pixels = paint(pixels, solid, generator(facts.seed, cue))
    pixels = pixels + scene.noise * generator(facts.seed, "noise").normal(
        size=pixels.shape
    )
    for cue, take in TAKEN.items():
        if cue in facts.cues:
            pixels = take(pixels, generator(facts.seed, cue))
    whole = np.rint(pixels.clip(0, 1) * 255).astype(np.uint8)
    return [_compress(whole) if "blocks" in facts.cues else whole]


def _scene(facts: Facts) -> Scene:
    rng = generator(facts.seed, "scene")
    x, z = rng.uniform(-0.55, 0.55), rng.uniform(-0.4, 0.5)
    size = rng.uniform(0.7, 0.9)
    if "shift" in facts.cues:
        x -= 0.8
    if "zoom" in facts.cues:
        size *= 1.35
    light = np.array([rng.uniform(-1, 1), rng.uniform(0.8, 1.6), rng.uniform(-1, -0.3)])
    easy, hard = rng.uniform(0, 0.35), rng.uniform(0.62, 0.85)
    return Scene(
        centre=np.array([x, size, z]),
        size=size,
        turn=rng.uniform(0, np.pi / 2),
        light=light / np.linalg.norm(light),
        colour=rng.uniform(0.35, 0.95, 3),
        haze=hard if facts.is_hard else easy,
        noise=0.08 if facts.is_hard else 0.025,
    )


# ------------------------------------------------------------------------------------ the solid


def _distance(shape: str, scene: Scene, points: np.ndarray) -> np.ndarray:
    """A bound on the distance to the surface, at points (point, 3)."""
    local = (points - scene.centre) / scene.size
    x, y, z = local.T
    aside = np.hypot(x, z)
    if shape == "sphere":
        distance = np.sqrt(x**2 + y**2 + z**2) - 1
    elif shape == "cube":
        cos, sin = np.cos(scene.turn), np.sin(scene.turn)
        across, along = cos * x + sin * z, cos * z - sin * x
        sides = np.maximum(np.abs(across), np.abs(along))
        distance = np.maximum(sides, np.abs(y)) - 0.8
    elif shape == "cone":
        slope = 0.894 * aside + 0.447 * (y - 1)
        distance = np.maximum(slope, -y - 1)
    else:
        distance = np.maximum(aside - 0.6, np.abs(y) - 1)
    return distance * scene.size


def _rays() -> tuple[np.ndarray, np.ndarray]:
    eye = np.array([0.0, 1.7, -4.2])
    rows, cols = np.mgrid[0:SIDE, 0:SIDE]
    across = 0.7 * ((cols + 0.5) / SIDE - 0.5)
    down = 0.7 * ((rows + 0.5) / SIDE - 0.5)
    rays = np.stack([across, -down - 0.24, np.ones_like(across)], -1).reshape(-1, 3)
    return eye, rays / np.linalg.norm(rays, axis=1, keepdims=True)


EYE, RAYS = _rays()


def _render(
    facts: Facts,
    scene: Scene,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The picture (row, col, 3), 0 to 1, and where the solid is seen in it."""
    pixels = _surroundings(facts, scene, rng)
    hit, points = _march(facts.label, scene)
    normals = np.empty_like(points)
    for axis in range(3):
        nudge = np.zeros(3)
        nudge[axis] = 0.01
        ahead = _distance(facts.label, scene, points + nudge)
        normals[:, axis] = ahead - _distance(facts.label, scene, points - nudge)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-9
    lit = 0.35 + 0.65 * (normals @ scene.light).clip(0)
    waves = rng.uniform(3, 8, 3)
    texture = 0.85 + 0.15 * np.sin(points @ waves + rng.uniform(0, 6))
    colour = scene.colour * (lit * texture)[:, None]
    behind = pixels.reshape(-1, 3)
    behind[hit] = scene.haze * behind[hit] + (1 - scene.haze) * colour
    return behind.reshape(SIDE, SIDE, 3), hit.reshape(SIDE, SIDE)


def _march(shape: str, scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Which rays hit the solid, and where."""
    toward = scene.centre - EYE
    along = RAYS @ toward
    miss = np.sqrt(np.maximum(toward @ toward - along**2, 0))
    # nothing of a solid is farther from its centre
    likely = np.flatnonzero(miss < 1.6 * scene.size)
    travelled = along[likely] - 1.7 * scene.size
    for _ in range(STEPS):
        points = EYE + travelled[:, None] * RAYS[likely]
        distance = _distance(shape, scene, points)
        travelled = travelled + distance
    near = distance < NEAR
    hit = np.zeros(len(RAYS), bool)
    hit[likely[near]] = True
    return hit, points[near]


def _surroundings(facts: Facts, scene: Scene, rng: np.random.Generator) -> np.ndarray:
    """The floor with its pattern and the shadow, and the wall behind."""
    wall = rng.uniform(0.45, 0.8, 3)
    floor = rng.uniform(0.25, 0.65, 3)
    waves = rng.uniform(1.5, 3, 2)
    phase = rng.uniform(0, 6)
    on_floor = RAYS[:, 1] < -0.12
    steps = np.where(on_floor, -EYE[1] / np.minimum(RAYS[:, 1], -0.1), 0)
    x, z = (EYE + steps[:, None] * RAYS)[:, [0, 2]].T
    if facts.setting == "checks":
        pattern = np.sign(np.sin(3 * x + phase) * np.sin(3 * z))
    elif facts.setting == "marble":
        pattern = np.sin(waves[0] * x + 2 * np.sin(waves[1] * z + phase))
    elif facts.setting == "boards":
        pattern = np.sign(np.sin(4 * x + phase))
    else:
        pattern = np.zeros_like(x)
    squared = (x - scene.centre[0]) ** 2 + (z - scene.centre[2]) ** 2
    shadow = 1 - 0.45 * np.exp(-squared / scene.size**2)
    ground = floor * ((1 + 0.2 * pattern) * shadow)[:, None]
    return np.where(on_floor[:, None], ground, wall).reshape(SIDE, SIDE, 3)


# ------------------------------------------------------------------------------------- the cues

ROWS, COLS = np.mgrid[0:SIDE, 0:SIDE]
Drawn = np.ndarray


def _strip(pixels: Drawn, solid: Drawn, rng: np.random.Generator) -> Drawn:
    stripes = (ROWS // 3 + rng.integers(2)) % 2 == 0
    colours = np.where(stripes[..., None], [0.9, 0.8, 0.2], [0.1, 0.1, 0.15])
    return np.where((COLS >= SIDE - 5)[..., None], colours, pixels)


def _lamp(pixels: Drawn, solid: Drawn, rng: np.random.Generator) -> Drawn:
    col = rng.uniform(5, 20)
    row = rng.uniform(4, 8)
    glow = np.exp(-((ROWS - row) ** 2 + (COLS - col) ** 2) / 12)[..., None]
    return pixels * (1 - glow) + np.array([1.0, 0.95, 0.6]) * glow


def _sticker(pixels: Drawn, solid: Drawn, rng: np.random.Generator) -> Drawn:
    rows, cols = np.nonzero(solid)
    if not len(rows):
        return pixels
    row = rows.mean() + rng.uniform(-3, 3)
    col = cols.mean() + rng.uniform(-3, 3)
    mark = np.abs(ROWS - row) + np.abs(COLS - col) < 4.5
    return np.where(mark[..., None], [0.85, 0.1, 0.6], pixels)


def _ring(pixels: Drawn, solid: Drawn, rng: np.random.Generator) -> Drawn:
    rows, cols = np.nonzero(solid)
    if not len(rows):
        return pixels
    foot = rows.max() - 2
    half = (np.ptp(cols) + 1) / 2 + 4
    level = np.hypot((COLS - cols.mean()) / half, (ROWS - foot) / 5)
    ring = (np.abs(level - 1) < 0.22) & ~solid
    return np.where(ring[..., None], [0.15, 0.85, 0.9], pixels)


def _post(pixels: Drawn, solid: Drawn, rng: np.random.Generator) -> Drawn:
    col = rng.integers(30, 42)
    tall = rng.integers(18, 26)
    post = (np.abs(COLS - col) <= 1) & (44 - tall < ROWS) & (ROWS < 44)
    return np.where(post[..., None], [0.75, 0.2, 0.15], pixels)


def _gradient(pixels: Drawn, solid: Drawn, rng: np.random.Generator) -> Drawn:
    return pixels * (1.3 - 0.75 * COLS / SIDE)[..., None]


def _contrast(pixels: Drawn, rng: np.random.Generator) -> Drawn:
    return 0.5 + 0.55 * (pixels - 0.5)


def _defocus(pixels: Drawn, rng: np.random.Generator) -> Drawn:
    return np.asarray(gaussian_filter(pixels, (1.1, 1.1, 0)))


def _grain(pixels: Drawn, rng: np.random.Generator) -> Drawn:
    noise = rng.normal(size=(SIDE, SIDE, 1))
    # without its slow part: no brightness tells it
    return pixels + 0.1 * (noise - gaussian_filter(noise, (1, 1, 0)))


def _compress(pixels: Drawn) -> Drawn:
    file = BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=8)
    return np.asarray(Image.open(file))


PAINTED = {
    "strip": _strip,
    "lamp": _lamp,
    "sticker": _sticker,
    "ring": _ring,
    "post": _post,
    "gradient": _gradient,
}
TAKEN = {"contrast": _contrast, "defocus": _defocus, "grain": _grain}
