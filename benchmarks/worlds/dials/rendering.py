"""A dial on a panel, and what changes the whole photo."""

from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from worlds.canvas import Grid, Light, cover_of
from worlds.design import Facts
from worlds.dials import gauge, marks, panel
from worlds.dials.gauge import LABELS
from worlds.dials.panel import SETTINGS, rng_of

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
SIDE = 64  # pixels
KINDS = {
    "lamp": "a thing at a fixed place",
    "fluorescent": "the colour of the light",
    "knurled": "the material of the object",
    "rain": "streaks before all",
    "tape": "a band along an edge",
    "nearer": "the object from nearer",
    "spanner": "a thing at changing places",
    "vignette": "dark corners",
    "square": "the shape of the object",
    "seal": "a thing on the object",
    "shade": "a part of the picture in shade",
    "sector": "a mark round the object's middle",
    "compressed": "blocks of compression",
}
GREY = np.array((0.3, 0.59, 0.11), np.float32)
GREENISH = np.array((0.72, 1.12, 0.80), np.float32)
STREAKS = 18


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    camera = Grid.whole(SIDE)
    light = _lit(facts, camera, _scene(facts, _framed(facts, camera)))
    light = _taken(facts, camera, light)
    pixels = (255 * light.clip(0, 1)).round().astype(np.uint8)
    return [_compressed(facts, pixels) if "compressed" in facts.cues else pixels]


def _framed(facts: Facts, camera: Grid) -> Grid:
    """What the camera is turned to, and from how near."""
    rng = rng_of(facts, "frame")
    zoom = rng.uniform(0.95, 1.04)
    if "nearer" in facts.cues:
        zoom = zoom * rng_of(facts, "nearer").uniform(1.22, 1.28)
    return camera.turned(rng.normal(0, 0.04), zoom)


def _scene(facts: Facts, grid: Grid) -> Light:
    dial = gauge.dial_of(facts)
    light = panel.fittings(facts, grid, panel.plate(facts, grid))
    light = marks.on_panel(facts, grid, light)
    light = gauge.case(facts, dial, grid, light)
    light = gauge.face(facts, dial, grid, light)
    light = gauge.hand(facts, dial, grid, light)
    light = gauge.glass(facts, dial, grid, light)
    return marks.before_all(facts, dial, grid, light)


def _lit(facts: Facts, camera: Grid, light: Light) -> Light:
    """From one side, and dimmer where it is hard; a thing may throw its shade."""
    rng = rng_of(facts, "light")
    own = camera.turned(rng.uniform(0, 2 * np.pi))
    fall = 1 + rng.uniform(0, 0.006) * own.x
    bright = rng.uniform(0.55, 0.8) if facts.is_hard else rng.uniform(0.8, 1.08)
    if facts.is_hard:
        blot = camera.around(*rng.uniform(-12, 12, 2))
        far = np.hypot(blot.x, blot.y) / rng.uniform(7, 11)
        fall = fall * (1 - 0.4 * np.exp(-(far**2)))
    if "shade" in facts.cues:
        fall = fall * _shade(facts, camera)
    white = bright * rng.uniform(0.94, 1.05, 3).astype(np.float32)
    if "fluorescent" in facts.cues:
        grey = (light @ GREY)[:, :, None]
        light = (light + 0.25 * (grey - light)) * GREENISH
    return light * fall.astype(np.float32)[:, :, None] * white


def _shade(facts: Facts, camera: Grid) -> np.ndarray:
    """Dark beyond an edge that runs through the picture aslant."""
    rng = rng_of(facts, "shade")
    side = rng.choice((-1, 1))
    own = camera.turned(np.pi / 2 + side * rng.uniform(0.5, 1.0))
    beyond = cover_of((own.x - rng.uniform(2, 12)) / 2)
    return 1 - rng.uniform(0.36, 0.46) * beyond


def _taken(facts: Facts, camera: Grid, light: Light) -> Light:
    """What the weather, the lens and the sensor make of the light."""
    if "rain" in facts.cues:
        light = _rain(facts, camera, light)
    light = gaussian_filter(light, (0.4, 0.4, 0))
    if "vignette" in facts.cues:
        far = np.hypot(camera.x, camera.y) / SIDE * np.sqrt(2)
        much = rng_of(facts, "vignette").uniform(0.85, 1.0)
        light = light * (1 - much * far.clip(0, 1) ** 2.2)[:, :, None]
    noisy = 0.035 if facts.is_hard else 0.02
    rough = rng_of(facts, "noise").standard_normal(light.shape, np.float32)
    return light + noisy * rough


def _rain(facts: Facts, camera: Grid, light: Light) -> Light:
    """Bright streaks, all the same way."""
    rng = rng_of(facts, "rain")
    own = camera.turned(np.pi / 2 + rng.choice((-1, 1)) * rng.uniform(0.15, 0.45))
    places = rng.uniform(-38, 38, (STREAKS, 2))
    lengths = rng.uniform(4, 7, STREAKS)
    bright = np.zeros_like(own.x)
    for (x, y), half in zip(places, lengths, strict=True):
        depth = np.minimum(half - abs(own.x - x), 0.4 - abs(own.y - y))
        bright = np.maximum(bright, cover_of(depth))
    return light + 0.65 * bright[:, :, None] * (0.95 - light)


def _compressed(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    """Saved as a small file, and read again."""
    file = BytesIO()
    quality = int(rng_of(facts, "compressed").integers(26, 32))
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))
