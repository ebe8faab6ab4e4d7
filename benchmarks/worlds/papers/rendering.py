"""Photographs of pages that lie on a desk: text, one chart, wear, light and a camera's noise."""

import numpy as np
from PIL import Image, ImageChops, ImageDraw

from cuescope_sdk import generator
from worlds.design import Facts, Frames
from worlds.papers import marks
from worlds.papers.charts import CHARTS, Pen
from worlds.papers.marks import PAGE, SIDE, Spot

LABELS = tuple(CHARTS)
SETTINGS = ("wood", "cloth", "stone")
KINDS = {
    "coffee": "thing at a place",
    "yellowed": "all of the picture",
    "clip": "thing at a place",
    "shade": "all of the picture",
    "highlighter": "over the object",
    "halftone": "all of the picture",
    "margin": "thing at a place",
    "keystone": "all of the picture",
    "stamp": "over the object",
    "sharpened": "all of the picture",
    "brackets": "round the object",
    "posterized": "all of the picture",
    "ink": "on the object",
    "moire": "all of the picture",
    "fold": "thing at a place",
}
CORNERS = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * PAGE
MARGIN = 4.5  # of the desk, about the page
SHADOW = (20, 18, 16)  # of the page on the desk
HALF = [value // 2 for value in range(256)]
YELLOWED = np.array([0.96, 0.84, 0.56])
GREEN = (15, 145, 70)


def draw(facts: Facts) -> Frames:
    """The photograph of these facts."""
    page = _page(facts)
    page.putalpha(marks.outline("fold" in facts.cues))
    # two pixels of the page are about one of the photograph, so bilinear means few steps
    seen = page.transform(
        (SIDE, SIDE),
        Image.Transform.PERSPECTIVE,
        _warp(facts),
        Image.Resampling.BILINEAR,
    )
    shape = seen.getchannel("A")
    desk = _desk(facts)
    desk.paste(SHADOW, mask=ImageChops.offset(shape, 1, 2).point(HALF))
    desk.paste(seen, mask=shape)
    pixels = _photograph(facts, np.asarray(desk, np.float32) / 255)
    return [np.rint(pixels.clip(0, 1) * 255).astype(np.uint8)]


def _photograph(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    rng = generator(facts.seed, "light")
    pixels = pixels * rng.uniform(0.88, 1.05) * rng.uniform(0.96, 1.04, 3)
    if "shade" in facts.cues:
        pixels = marks.shade(pixels, generator(facts.seed, "shade"))
    noise = 0.12 if facts.is_hard else 0.03
    pixels = pixels + noise * rng.standard_normal(pixels.shape, np.float32)
    for cue, film in marks.ON_PHOTOGRAPH.items():
        if cue in facts.cues:
            pixels = film(pixels, generator(facts.seed, cue))
    return pixels


# ------------------------------------------------------------------------------------ the page


def _page(facts: Facts) -> Image.Image:
    rng = generator(facts.seed, "page")
    tone = rng.uniform(230, 255) + rng.uniform(-4, 4, 3)
    if "yellowed" in facts.cues:
        tone = tone * YELLOWED
    paper = Image.fromarray(_noise(rng, 16, 6) + 245.0).convert("L")
    size = (PAGE, PAGE)
    large = paper.resize(size, Image.Resampling.BILINEAR)
    tint = Image.new("RGB", size, _colour(tone))
    page = ImageChops.multiply(Image.merge("RGB", [large] * 3), tint)
    spot = Spot(
        col=PAGE / 2 + rng.uniform(-8, 8),
        row=PAGE / 2 + rng.uniform(-7, 9),
        half=rng.uniform(29, 36),
    )
    _write(page, spot, rng)
    _chart(page, spot, facts)
    for cue, paint in marks.ON_PAGE.items():
        if cue in facts.cues:
            paint(page, spot, generator(facts.seed, cue))
    return page


def _colour(values: np.ndarray) -> tuple[int, int, int]:
    red, green, blue = values.clip(0, 255).astype(int).tolist()
    return red, green, blue


def _noise(rng: np.random.Generator, cells: int, spread: float) -> np.ndarray:
    return spread * rng.standard_normal((cells, cells), np.float32)


def _write(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """Lines of grey, which stand for text, over and under the chart."""
    pen = ImageDraw.Draw(page)
    grey = tuple([int(rng.uniform(95, 150))] * 3)
    upper = np.arange(9, spot.row - spot.half - 9, 7)
    lower = np.arange(spot.row + spot.half + 9, PAGE - 7, 7)
    for row in [*upper, *lower]:
        for left in range(22, PAGE - 24, 22):
            right = left + rng.uniform(9, 19)
            if rng.random() < 0.85:
                pen.line([(left, row), (right, row)], grey, 2)


def _chart(page: Image.Image, spot: Spot, facts: Facts) -> None:
    rng = generator(facts.seed, "chart")
    ink = rng.uniform(15, 70) + rng.uniform(-12, 12, 3)
    if "ink" in facts.cues:
        ink = np.array(GREEN)
    paper = np.asarray(page.getpixel((PAGE // 2, 3)))
    strength = rng.uniform(0.12, 0.24) if facts.is_hard else rng.uniform(0.5, 1)
    pen = Pen(
        draw=ImageDraw.Draw(page),
        left=spot.col - spot.half,
        top=spot.row - spot.half,
        side=2 * spot.half,
        width=2 if facts.is_hard else 3,
        ink=_colour(paper + strength * (ink - paper)),
        pale=_colour(paper + 0.45 * strength * (ink - paper)),
    )
    CHARTS[facts.label](pen, rng)


# ------------------------------------------------------------------------- the desk and the view


def _desk(facts: Facts) -> Image.Image:
    rng = generator(facts.seed, "desk")
    if facts.setting == "wood":
        waves = np.sin(np.arange(SIDE) / rng.uniform(1.5, 2.5))
        light = 105 + 16 * waves + _noise(rng, SIDE, 4)
        tint = np.array([1.15, 0.85, 0.6])
    elif facts.setting == "cloth":
        checks = (marks.ROWS // 3 + marks.COLS // 3) % 2
        light = 95 + 22 * checks + _noise(rng, SIDE, 5)
        tint = np.array([0.65, 0.8, 1.15])
    else:
        light = 110 + _noise(rng, SIDE, 20)
        tint = np.array([0.95, 1.0, 0.95])
    tint = tint * rng.uniform(0.85, 1.1)
    return Image.fromarray(np.clip(light[..., None] * tint, 0, 255).astype(np.uint8))


def _warp(facts: Facts) -> list[float]:
    """The eight numbers with which Pillow finds the page's point for one of the picture."""
    rng = generator(facts.seed, "view")
    low, high = MARGIN, SIDE - MARGIN
    corners = np.array([[low, low], [high, low], [high, high], [low, high]], float)
    corners += rng.uniform(-2, 2, (4, 2))
    if "keystone" in facts.cues:
        corners[:2] += [[8.5, 3.5], [-8.5, 3.5]]
        corners[2:] += [[3, 1.5], [-3, 1.5]]
    rows = []
    for (col, row), (across, down) in zip(corners, CORNERS, strict=True):
        rows.append([col, row, 1, 0, 0, 0, -across * col, -across * row])
        rows.append([0, 0, 0, col, row, 1, -down * col, -down * row])
    numbers: list[float] = np.linalg.solve(np.array(rows), CORNERS.ravel()).tolist()
    return numbers
