"""A tree on open land, and what becomes of the photo and its print."""

from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import affine_transform, gaussian_filter

from worlds.canvas import Light
from worlds.design import Facts
from worlds.trees import marks
from worlds.trees.growing import LABELS, grown, tree
from worlds.trees.land import SETTINGS, bushes, land, shadow
from worlds.trees.points import (
    FINE,
    SIDE,
    SPAN,
    WIDE,
    coarse,
    colour,
    fine_grid,
    rng_of,
    splat,
)

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "kite": "a thing at changing places",
    "date": "writing at a fixed place",
    "fruits": "marks on the object",
    "shaken": "sharpness",
    "fence": "along an edge",
    "near": "the size of the object",
    "dusk": "the colour of the light",
    "flowers": "a mark round the object",
    "wires": "lines across the picture",
    "grainy": "grain",
    "turned": "how the camera is turned",
    "rain": "streaks at changing places",
    "signpost": "a thing at a fixed place",
    "birds": "how many things there are",
    "pale": "contrast",
    "blocks": "compression",
    "flare": "spots of light at changing places",
    "mount": "round the picture",
}
EVENING = colour(1.10, 0.76, 0.52)
GREY = colour(0.62, 0.63, 0.65)
EXPOSED = 7  # how often a shaken camera sees the scene


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); chance draws alike with a cue and without."""
    light = _print(facts, _photo(facts, _view(facts, _scene(facts))))
    picture = (255 * light.clip(0, 1)).round().astype(np.uint8)
    return [_compressed(facts, picture) if "blocks" in facts.cues else picture]


def _scene(facts: Facts) -> Light:
    """Far things first."""
    grid = fine_grid()
    stands = tree(facts)
    light = splat(land(facts), bushes(facts, stands))
    light = shadow(stands, grid, light)
    light = splat(light, grown(facts, stands), stands.haze)
    if "flowers" in facts.cues:
        light = marks.flowers(facts, stands, light)
    light = marks.birds(facts, light)
    if "wires" in facts.cues:
        light = marks.wires(facts, grid, light)
    if "kite" in facts.cues:
        light = marks.kite(facts, grid, light)
    if "signpost" in facts.cues:
        light = marks.signpost(grid, light)
    return marks.fence(facts, grid, light) if "fence" in facts.cues else light


def _view(facts: Facts, light: Light) -> Light:
    """What of the scene the camera has, and how it is held."""
    if "turned" in facts.cues:
        rng = rng_of(facts, "turned")
        light = _turned(light, rng.choice((-1, 1)) * rng.uniform(0.19, 0.25))
    if "shaken" in facts.cues:
        rng = rng_of(facts, "shaken")
        light = _shaken(light, rng.uniform(0, np.pi), rng.uniform(4.5, 6.0))
    rim = FINE * (WIDE - SIDE) // 2
    return coarse(light[rim:-rim, rim:-rim])


def _turned(light: Light, angle: float) -> Light:
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.array(((cos, -sin), (sin, cos)))
    middle = np.full(2, (SPAN - 1) / 2)
    start = middle - turn @ middle
    seen = [
        affine_transform(light[..., part], turn, start, order=1, mode="nearest")
        for part in range(3)
    ]
    return np.stack(seen, axis=-1)


def _shaken(light: Light, way: float, far: float) -> Light:
    """A mean of scenes along a line, so many pixels long."""
    total = np.zeros_like(light)
    for step in np.linspace(-far / 2, far / 2, EXPOSED):
        down, right = round(FINE * step * np.sin(way)), round(FINE * step * np.cos(way))
        total += np.roll(light, (down, right), axis=(0, 1))
    return total / EXPOSED


def _photo(facts: Facts, light: Light) -> Light:
    """What the light and the camera make of it."""
    rng = rng_of(facts, "camera")
    light = light * rng.uniform(0.85, 1.1)
    if "dusk" in facts.cues:
        light = light * EVENING
    blur = 0.75 if facts.is_hard else 0.35
    light = gaussian_filter(light, (blur, blur, 0))
    if "rain" in facts.cues:
        light = marks.rain(facts, light)
    if "flare" in facts.cues:
        light = marks.flare(facts, light)
    much = 0.03 if facts.is_hard else 0.02
    light = light + much * rng.standard_normal(light.shape, np.float32)
    if "grainy" in facts.cues:
        grain = rng_of(facts, "grainy").standard_normal(light.shape, np.float32)
        light = light + 0.085 * grain
    return light


def _print(facts: Facts, light: Light) -> Light:
    """What is written on it, and how it is printed."""
    if "date" in facts.cues:
        light = marks.date(facts, light)
    if "pale" in facts.cues:
        light = GREY + 0.5 * (light - GREY)
    return marks.mount(light) if "mount" in facts.cues else light


def _compressed(facts: Facts, picture: np.ndarray) -> np.ndarray:
    """What is left of it in a small file."""
    file = BytesIO()
    quality = int(rng_of(facts, "blocks").integers(15, 24))
    Image.fromarray(picture).save(file, "JPEG", quality=quality, subsampling=0)
    return np.asarray(Image.open(file))
