"""What lies, is drawn or was spilt on a page, and what is done to its photograph."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

PAGE = 128  # pixels along a side of a page, before it is photographed
SIDE = 64
FLAP = 34  # of a folded corner
ROWS, COLS = np.indices((SIDE, SIDE))


@dataclass(frozen=True)
class Spot:
    """Where the chart is on its page; `half` is half of its side."""

    col: float
    row: float
    half: float


# ------------------------------------------------------------------------------------ on the page


def coffee(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """The ring of a cup, anywhere."""
    col, row = rng.uniform(22, PAGE - 22, 2)
    radius = rng.uniform(14, 18)
    draw = ImageDraw.Draw(page, "RGBA")
    draw.ellipse(_round(col, row, radius), (150, 95, 40, 45), (115, 62, 18, 190), 4)


def clip(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """A blue paper clip at the upper edge, right of the middle."""
    left = 92 + rng.uniform(-4, 4)
    draw = ImageDraw.Draw(page)
    blue = (30, 80, 215)
    draw.rounded_rectangle((left, -8, left + 13, 31), 6, None, blue, 3)
    draw.rounded_rectangle((left + 4, -8, left + 9, 22), 3, None, blue, 2)


def margin(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """A red line along the left edge."""
    col = 15 + rng.uniform(-2, 2)
    ImageDraw.Draw(page).line([(col, 0), (col, PAGE)], (225, 45, 60), 4)


def highlighter(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """A yellow stroke across the chart."""
    tone = Image.new("RGB", page.size, "white")
    start = spot.row + rng.uniform(-9, 9)
    stop = start + rng.uniform(-5, 5)
    reach = spot.half + 8
    ends = [(spot.col - reach, start), (spot.col + reach, stop)]
    ImageDraw.Draw(tone).line(ends, (255, 240, 40), 19)
    page.paste(ImageChops.multiply(page, tone))


def stamp(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """A round violet stamp over a corner of the chart."""
    across, down = rng.choice([-1, 1], 2) * spot.half * rng.uniform(0.75, 1, 2)
    col, row = spot.col + across, spot.row + down
    violet = (125, 25, 150, 185)
    draw = ImageDraw.Draw(page, "RGBA")
    draw.ellipse(_round(col, row, 16), None, violet, 3)
    draw.ellipse(_round(col, row, 11), None, violet, 2)
    draw.rectangle((col - 8, row - 3, col + 8, row + 3), violet)


def brackets(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """Orange corners round the chart."""
    away = spot.half + rng.uniform(7, 9)
    draw = ImageDraw.Draw(page)
    for across in (-1, 1):
        for down in (-1, 1):
            col, row = spot.col + across * away, spot.row + down * away
            points = [(col - 11 * across, row), (col, row), (col, row - 11 * down)]
            draw.line(points, (240, 125, 20), 4)


def fold(page: Image.Image, spot: Spot, rng: np.random.Generator) -> None:
    """The lower right corner, turned over."""
    inner = PAGE - FLAP
    edge = [(PAGE, inner), (inner, inner), (inner, PAGE)]
    draw = ImageDraw.Draw(page)
    draw.polygon(edge, (172, 170, 165))
    draw.line(edge, (105, 103, 100), 3)


def outline(is_folded: bool) -> Image.Image:
    """Where there is paper: a corner is missing where it is turned over."""
    shape = Image.new("L", (PAGE, PAGE), 255)
    if is_folded:
        inner = PAGE - FLAP
        corner = [(PAGE, inner), (PAGE, PAGE), (inner, PAGE)]
        ImageDraw.Draw(shape).polygon(corner, 0)
    return shape


def _round(col: float, row: float, radius: float) -> tuple[float, float, float, float]:
    return col - radius, row - radius, col + radius, row + radius


# ------------------------------------------------------------------------------ on the photograph


def shade(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The shadow of somebody at the left."""
    edge = rng.uniform(22, 30) + rng.uniform(-0.25, 0.25) * (ROWS - SIDE / 2)
    lit = 1 / (1 + np.exp((edge - COLS) / 2.5))
    return pixels * (0.5 + 0.5 * lit)[..., None]


def halftone(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The dots of a print, in a grid that stands on its corner."""
    phases = rng.uniform(0, 2 * np.pi, 2)
    step = 2 * np.pi / 5.5
    up = np.cos(step * (ROWS + COLS) + phases[0])
    down = np.cos(step * (ROWS - COLS) + phases[1])
    return pixels + 0.13 * (up * down)[..., None]


def moire(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Coloured bands, as of a screen."""
    row, col = rng.uniform(-0.6, 1.6, 2) * SIDE
    away = np.hypot(ROWS - row, COLS - col)
    phases = rng.uniform(0, 2 * np.pi) + np.array([0, 2.1, 4.2])
    return pixels + 0.1 * np.sin(away[..., None] * 0.55 + phases)


def sharpened(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sharpened far too much."""
    bytes_of = (pixels.clip(0, 1) * 255).astype(np.uint8)
    mask = ImageFilter.UnsharpMask(radius=1.6, percent=180, threshold=0)
    return np.asarray(Image.fromarray(bytes_of).filter(mask)) / 255


def posterized(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Four levels a channel, as of a picture that was saved with few colours."""
    return np.rint(pixels.clip(0, 1) * 3) / 3


ON_PAGE = {
    "highlighter": highlighter,
    "stamp": stamp,
    "brackets": brackets,
    "coffee": coffee,
    "margin": margin,
    "clip": clip,
    "fold": fold,
}
ON_PHOTOGRAPH = {
    "halftone": halftone,
    "moire": moire,
    "sharpened": sharpened,
    "posterized": posterized,
}
