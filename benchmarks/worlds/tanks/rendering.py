"""Animals behind the glass of an aquarium: distances to shapes, made to smooth coverages."""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
LABELS = ("fish", "jelly", "turtle", "ray", "starfish", "eel")
SETTINGS = ("reef", "lagoon", "forest", "deep")
KINDS = {
    "castle": "a thing at a fixed place",
    "bubbles": "things anywhere",
    "tag": "a mark on the object",
    "rim": "a frame along all four sides",
    "plaque": "a caption strip",
    "glare": "a reflection, somewhere round the middle",
    "defocus": "blur",
    "neon": "a cast of colour",
    "murk": "weak contrast",
    "lamp": "a gradient of light",
    "ripples": "a web of light over all of the picture",
    "stream": "compression",
}
# of the water above, of the water below, of the floor
WATERS = {
    "reef": ((86, 168, 200), (40, 104, 150), (206, 188, 150)),
    "lagoon": ((126, 200, 190), (60, 146, 148), (226, 212, 176)),
    "forest": ((92, 140, 104), (38, 84, 70), (120, 112, 80)),
    "deep": ((48, 78, 138), (18, 30, 70), (84, 88, 104)),
}
SKINS = (
    (236, 132, 52),
    (228, 92, 96),
    (240, 206, 84),
    (212, 196, 226),
    (150, 74, 128),
    (96, 66, 52),
)
DOWN, ACROSS = np.indices((SIDE, SIDE)).astype(np.float32)
Grid = np.ndarray  # float32 (row, col)
Shape = Callable[[Grid, Grid, np.random.Generator], Grid]


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    pixels = _water(facts)
    _castle(facts, pixels)
    _animal(facts, pixels)
    _weed(facts, pixels)
    _bubbles(facts, pixels)
    pixels = _light(facts, pixels)
    pixels = _glass(facts, pixels)
    return [_camera(facts, pixels)]


def _random(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "tank", part)


# ------------------------------------------------------------------------------------- distances


def _ellipse(x: Grid, y: Grid, half_width: float, half_height: float) -> Grid:
    """Negative inside; near the edge about the distance to it."""
    far = np.hypot(x / half_width, y / half_height)
    return (far - 1) * min(half_width, half_height)


def _box(x: Grid, y: Grid, half_width: float, half_height: float) -> Grid:
    return np.maximum(np.abs(x) - half_width, np.abs(y) - half_height)


def _fish(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    slim = rng.uniform(0.32, 0.44)
    body = _ellipse(x - 0.15, y, 0.68, slim)
    behind = -x - 0.4
    tail = np.maximum(np.abs(y) - 0.85 * behind - 0.06, behind - 0.5)
    return np.minimum(body, 0.8 * np.maximum(tail, -behind))


def _jelly(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    wave = rng.uniform(5, 8)
    phase = rng.uniform(0, 2 * np.pi)
    dome = np.maximum(_ellipse(x, y + 0.1, 0.62, 0.62), y + 0.1)
    sway = 0.09 * np.sin(wave * y + phase)
    strand = np.abs((x - sway + 0.6) % 0.3 - 0.15) - 0.055
    strands = np.maximum(np.maximum(strand, np.abs(x - sway) - 0.5), y - 0.85)
    return np.minimum(dome, np.maximum(strands, -y - 0.2))


def _turtle(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    stroke = rng.uniform(0.3, 0.6)
    shell = _ellipse(x, y, 0.56, 0.44)
    head = _ellipse(x - 0.72, y, 0.2, 0.16)
    aside = np.abs(y) - 0.52
    fore = _ellipse(x - 0.38 + stroke * aside, aside, 0.14, 0.32)
    hind = _ellipse(x + 0.46 + 0.5 * aside, aside + 0.12, 0.1, 0.2)
    return np.minimum(np.minimum(shell, head), np.minimum(fore, hind))


def _ray(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    bend = rng.uniform(-0.12, 0.12)
    swept = x + 0.35 * np.abs(y)
    wings = np.abs(swept - 0.1) / 0.5 + np.abs(y) / 0.9 - 1
    tail = np.maximum(np.abs(y - bend * (x + 0.3)) - 0.05, np.abs(x + 0.62) - 0.45)
    return np.minimum(0.42 * wings, tail)


def _starfish(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    depth = rng.uniform(0.2, 0.28)
    turn = np.arctan2(y, x)
    return 0.8 * (np.hypot(x, y) - 0.52 - depth * np.cos(5 * turn))


def _eel(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    wave = rng.uniform(3.6, 5.0)
    phase = rng.uniform(0, 2 * np.pi)
    thick = 0.15 + 0.06 * x
    body = np.abs(y - 0.26 * np.sin(wave * x + phase)) - thick
    return np.maximum(0.75 * body, np.abs(x) - 0.95)


SHAPES: dict[str, Shape] = {
    "fish": _fish,
    "jelly": _jelly,
    "turtle": _turtle,
    "ray": _ray,
    "starfish": _starfish,
    "eel": _eel,
}


# ----------------------------------------------------------------------------------- compositing


def _coverage(distance: Grid) -> Grid:
    """Of each pixel, the share that lies inside, for distances in pixels."""
    return np.clip(0.5 - distance, 0, 1)


def _paint(pixels: np.ndarray, coverage: Grid, colour: np.ndarray | tuple) -> None:
    """Lay a colour over the pixels, in place."""
    pixels += coverage[..., None] * (np.asarray(colour, np.float32) - pixels)


def _water(facts: Facts) -> np.ndarray:
    rng = _random(facts, "water")
    above, below, floor = np.array(WATERS[facts.setting], np.float32)
    depth = (DOWN / (SIDE - 1))[..., None]
    pixels = above + (below - above) * depth
    coarse = rng.normal(size=(5, 5)).astype(np.float32)
    clouds = Image.fromarray(coarse).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    pixels += 9 * np.asarray(clouds)[..., None]
    pitch = rng.uniform(0.08, 0.16)
    phase = rng.uniform(0, 2 * np.pi)
    ground = rng.uniform(49, 54) + 2 * np.sin(pitch * ACROSS + phase)
    pebbles = 12 * rng.standard_normal((SIDE, SIDE), dtype=np.float32)
    sand = floor * rng.uniform(0.8, 1.05) + pebbles[..., None]
    pixels += _coverage(ground - DOWN)[..., None] * (sand - pixels)
    for _ in range(int(rng.integers(1, 4))):
        _rock(rng, pixels, floor)
    return pixels * rng.uniform(0.88, 1.12)


def _rock(rng: np.random.Generator, pixels: np.ndarray, floor: np.ndarray) -> None:
    across = rng.uniform(0, SIDE)
    wide = rng.uniform(4, 10)
    high = rng.uniform(3, 7)
    stone = _ellipse(ACROSS - across, DOWN - 55, wide, high)
    _paint(pixels, _coverage(stone), floor * rng.uniform(0.4, 0.8))


def _castle(facts: Facts, pixels: np.ndarray) -> None:
    """An ornament of stone, at the right of the floor."""
    if "castle" not in facts.cues:
        return
    rng = _random(facts, "castle")
    x = ACROSS - 53.5 - rng.uniform(-1.2, 1.2)
    y = DOWN - 43.5 - rng.uniform(-1.2, 1.2)
    stone = np.array([172, 164, 158]) * rng.uniform(0.85, 1.12)
    wall = _box(x, y - 3, 6.5, 8.5)
    keep = _box(x - 2.5, y + 6, 3.5, 9)
    notches = np.maximum(np.abs((x + 1) % 4 - 2) - 1, np.abs(y + 6) - 2)
    merlons = np.maximum(notches, np.abs(x) - 7)
    _paint(pixels, _coverage(np.minimum(wall, merlons)), stone)
    _paint(pixels, _coverage(keep), stone * 0.84)
    _paint(pixels, _coverage(_ellipse(x + 2.5, y - 9, 2.4, 5)), stone * 0.25)
    _paint(pixels, _coverage(_box(x - 2.5, y + 9, 1, 2)), stone * 0.25)


def _animal(facts: Facts, pixels: np.ndarray) -> None:
    rng = _random(facts, "animal")
    size = rng.uniform(15, 20)
    middle = np.array([31.0, 29.0]) + rng.uniform(-7, 7, 2)
    turn = rng.normal(0, 0.35)
    side = rng.choice([-1, 1])
    skin = np.array(SKINS[int(rng.integers(len(SKINS)))]) + rng.normal(0, 14, 3)
    pale = rng.uniform(0.42, 0.72)
    small = rng.uniform(0.46, 0.63)
    stripes = rng.uniform(4, 9)
    if facts.is_hard:
        size *= small
        water = np.array(WATERS[facts.setting][:2], float).mean(axis=0)
        skin = skin + pale * (water - skin)
    right = (ACROSS - middle[0]) / size
    down = (DOWN - middle[1]) / size
    x = side * (np.cos(turn) * right + np.sin(turn) * down)
    y = np.cos(turn) * down - np.sin(turn) * right
    inside = _coverage(SHAPES[facts.label](x, y, rng) * size)
    shade = 1 - 0.22 * np.clip(y, -1, 1) + 0.1 * np.sin(stripes * x)
    pixels += inside[..., None] * (shade[..., None] * skin - pixels)
    if "tag" in facts.cues:
        _tag(facts, pixels, middle)


def _tag(facts: Facts, pixels: np.ndarray, middle: np.ndarray) -> None:
    """A keeper's disc, with a hole, somewhere on the body."""
    rng = _random(facts, "tag")
    place = middle + rng.uniform(-1.5, 1.5, 2)
    radius = rng.uniform(3.0, 3.8)
    far = np.hypot(ACROSS - place[0], DOWN - place[1])
    _paint(pixels, _coverage(far - radius), (20, 24, 30))
    _paint(pixels, _coverage(far - radius + 0.9), (246, 250, 120))
    _paint(pixels, _coverage(far - 0.9), (200, 30, 40))


def _weed(facts: Facts, pixels: np.ndarray) -> None:
    """Strands from the floor; before hard animals more of them."""
    rng = _random(facts, "weed")
    count = int(rng.integers(3, 6)) if facts.is_hard else int(rng.integers(0, 3))
    for _ in range(count):
        root = rng.uniform(4, 60)
        sway = rng.uniform(1, 3)
        pitch = rng.uniform(0.12, 0.25)
        phase = rng.uniform(0, 2 * np.pi)
        top = rng.uniform(8, 36)
        centre = root + sway * np.sin(pitch * DOWN + phase)
        strand = np.maximum(np.abs(ACROSS - centre) - 1.3, top - DOWN)
        green = np.array([46, 104, 50]) * rng.uniform(0.7, 1.3)
        _paint(pixels, _coverage(strand), green)


def _bubbles(facts: Facts, pixels: np.ndarray) -> None:
    """A column that rises from somewhere on the floor."""
    if "bubbles" not in facts.cues:
        return
    rng = _random(facts, "bubbles")
    start = rng.uniform(8, 56)
    for height in np.arange(rng.uniform(3, 8), 56, rng.uniform(6.5, 8.5)):
        radius = rng.uniform(1.5, 2.6)
        x = ACROSS - start - rng.normal(0, 1.8)
        y = DOWN - height
        skin = np.abs(np.hypot(x, y) - radius) - 0.35
        _paint(pixels, 0.75 * _coverage(skin), (236, 248, 255))
        spark = np.hypot(x + radius / 3, y + radius / 3) - 0.6
        _paint(pixels, _coverage(spark), (255, 255, 255))


# --------------------------------------------------------------------------- light, glass, camera


def _light(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    """What the water does: a web of light, one lamp, and murk."""
    rng = _random(facts, "light")
    if "ripples" in facts.cues:
        pixels = pixels + rng.uniform(34, 52) * _web(rng)[..., None]
    if "lamp" in facts.cues:
        turn = rng.uniform(0.5, 1.1)
        along = np.cos(turn) * (ACROSS - 31.5) + np.sin(turn) * (DOWN - 31.5)
        fall = rng.uniform(0.45, 0.6) * along / 40
        pixels = pixels * (1.05 - fall)[..., None]
    if "murk" in facts.cues:
        veil = np.array([112, 122, 92]) + rng.normal(0, 5, 3)
        pixels = pixels + rng.uniform(0.36, 0.5) * (veil - pixels)
    return pixels


def _web(rng: np.random.Generator) -> Grid:
    """Bright lines where bent waves cross zero, 0 to 1."""
    web = np.zeros((SIDE, SIDE), np.float32)
    for _ in range(2):
        turn = rng.uniform(0, np.pi)
        phase = rng.uniform(0, 2 * np.pi, 2)
        along = np.cos(turn) * ACROSS + np.sin(turn) * DOWN
        beside = np.cos(turn) * DOWN - np.sin(turn) * ACROSS
        wave = np.sin(0.3 * along + 1.3 * np.sin(0.21 * beside + phase[0]) + phase[1])
        web = np.maximum(web, np.exp(-((wave / 0.22) ** 2)))
    return web


def _glass(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    """What stands between the water and the camera."""
    rng = _random(facts, "glass")
    around = rng.uniform(0, 2 * np.pi)
    beside = rng.uniform(22, 28)
    lean = rng.uniform(0.15, 0.45)
    bright = rng.uniform(0.3, 0.45)
    wide = rng.uniform(2.8, 3.8)
    words = rng.uniform(0.3, 1, 24)
    if "glare" in facts.cues:
        y = DOWN - 30 - beside * np.sin(around)
        x = ACROSS - 31.5 - beside * np.cos(around) + lean * y
        panes = _box(np.abs(x) - 4.5, np.abs(y) - 5.5, 3.6, 4.6)
        window = np.clip(0.6 - 0.6 * panes, 0, 1)
        _paint(pixels, bright * window, (244, 248, 255))
    if "defocus" in facts.cues:
        soft = rng.uniform(1.15, 1.6)
        pixels = gaussian_filter(pixels, (soft, soft, 0), truncate=2.5)
    if "neon" in facts.cues:
        tint = np.array([0.26, -0.22, 0.30]) * rng.uniform(0.7, 1.1)
        pixels = pixels * (1 + tint) + 30 * np.maximum(tint, 0)
    if "rim" in facts.cues:
        edge = np.abs(np.stack([ACROSS, DOWN]) - 31.5).max(axis=0)
        _paint(pixels, _coverage(31.5 - wide - edge), (34, 38, 46))
        _paint(
            pixels, 0.6 * _coverage(np.abs(edge - 31.5 + wide) - 0.4), (170, 178, 188)
        )
    if "plaque" in facts.cues:
        _plaque(pixels, words)
    return pixels


def _plaque(pixels: np.ndarray, words: np.ndarray) -> None:
    """A strip below, with two lines of what looks like words."""
    _paint(pixels, _coverage(53.5 - DOWN), (238, 230, 206))
    row = np.repeat(words, 3)[:SIDE]
    for height, part in ((57, row), (61, row[::-1])):
        ink = (part > 0.5) & (ACROSS > 3) & (ACROSS < 60)
        _paint(pixels, 0.8 * ink * _coverage(np.abs(DOWN - height) - 0.8), (44, 38, 34))


def _camera(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    rng = _random(facts, "camera")
    pixels = pixels + 3 * rng.standard_normal(pixels.shape, dtype=np.float32)
    taken = np.rint(pixels.clip(0, 255)).astype(np.uint8)
    if "stream" not in facts.cues:
        return taken
    sent = io.BytesIO()
    Image.fromarray(taken).save(sent, "JPEG", quality=int(rng.integers(38, 54)))
    return np.asarray(Image.open(sent))
