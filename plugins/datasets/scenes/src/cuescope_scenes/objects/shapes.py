"""How each object looks: flat parts, painted one over the other on a square of 24 x 24 units."""

from functools import cache
from typing import Literal, NamedTuple

from PIL import Image, ImageDraw

UNITS = 24  # along a side of the square
FINE = 4  # subpixels along a pixel's side

INK, WHITE, CREAM = (24, 22, 26), (250, 250, 250), (244, 226, 178)
WOOD, TAN, GREY, MAROON = (116, 56, 16), (206, 152, 88), (52, 52, 56), (118, 14, 52)
RED, ORANGE, GOLD, YELLOW = (222, 26, 38), (255, 126, 14), (214, 158, 0), (255, 240, 96)
GREEN, FOREST, TEAL, CYAN = (132, 214, 36), (22, 110, 38), (10, 150, 140), (48, 226, 240)
PANE, BLUE, NAVY = (150, 200, 246), (34, 84, 230), (22, 30, 112)
PURPLE, MAGENTA = (146, 54, 226), (236, 44, 172)


class Part(NamedTuple):
    """A patch of one colour; `at` is (x0, y0, x1, y1), of a polygon x and y of each corner."""

    shape: Literal["box", "ellipse", "ring", "polygon"]
    colour: tuple[int, int, int]
    at: tuple[int, ...]


SHAPES: dict[str, tuple[Part, ...]] = {
    "clock": (
        Part("ellipse", INK, (1, 1, 23, 23)), Part("ellipse", WHITE, (4, 4, 20, 20)),
        Part("box", INK, (11, 6, 13, 13)), Part("box", INK, (11, 11, 17, 13)),
    ),
    "cup": (
        Part("ring", MAGENTA, (12, 6, 23, 17)),
        Part("polygon", MAGENTA, (1, 3, 17, 3, 15, 22, 3, 22)),
    ),
    "key": (
        Part("ring", GOLD, (0, 3, 15, 18)), Part("box", GOLD, (13, 8, 24, 13)),
        Part("box", GOLD, (15, 13, 18, 19)), Part("box", GOLD, (20, 13, 24, 18)),
    ),
    "lamp": (
        Part("polygon", YELLOW, (7, 1, 17, 1, 23, 13, 1, 13)), Part("box", WOOD, (11, 13, 13, 21)),
        Part("box", WOOD, (6, 21, 18, 23)),
    ),
    "apple": (
        Part("ellipse", GREEN, (1, 6, 15, 23)), Part("ellipse", GREEN, (9, 6, 23, 23)),
        Part("box", WOOD, (11, 2, 13, 9)), Part("ellipse", FOREST, (13, 1, 21, 6)),
    ),
    "bird": (
        Part("ellipse", TEAL, (3, 9, 19, 21)), Part("ellipse", TEAL, (13, 3, 22, 13)),
        Part("polygon", TEAL, (6, 12, 0, 7, 0, 16)), Part("ellipse", WHITE, (17, 5, 20, 8)),
        Part("polygon", ORANGE, (20, 6, 24, 9, 20, 10)), Part("box", ORANGE, (10, 20, 12, 24)),
    ),
    "fish": (
        Part("ellipse", BLUE, (0, 5, 18, 19)), Part("polygon", BLUE, (14, 12, 24, 4, 24, 20)),
        Part("ellipse", INK, (3, 9, 6, 12)),
    ),
    "mushroom": (
        Part("box", CREAM, (8, 11, 16, 23)), Part("ellipse", RED, (1, 1, 23, 15)),
        Part("ellipse", WHITE, (5, 6, 9, 10)), Part("ellipse", WHITE, (12, 3, 15, 6)),
        Part("ellipse", WHITE, (16, 8, 19, 11)),
    ),
    "balloon": (
        Part("ellipse", PURPLE, (3, 0, 21, 17)), Part("box", TAN, (9, 20, 15, 24)),
        Part("polygon", PURPLE, (6, 14, 18, 14, 14, 20, 10, 20)),
    ),
    "boat": (
        Part("polygon", NAVY, (0, 16, 24, 16, 19, 23, 5, 23)), Part("box", INK, (10, 1, 12, 16)),
        Part("polygon", WHITE, (13, 2, 22, 14, 13, 14)),
    ),
    "car": (
        Part("polygon", ORANGE, (0, 12, 4, 11, 7, 5, 17, 5, 20, 11, 24, 12, 24, 18, 0, 18)),
        Part("polygon", PANE, (9, 7, 16, 7, 18, 11, 7, 11)), Part("ellipse", INK, (3, 14, 9, 21)),
        Part("ellipse", INK, (15, 14, 21, 21)),
    ),
    "kite": (
        Part("polygon", CYAN, (12, 0, 21, 8, 12, 19, 3, 8)), Part("box", INK, (11, 1, 12, 18)),
        Part("polygon", CYAN, (12, 18, 16, 24, 8, 24)),
    ),
    "cloud": (
        Part("ellipse", WHITE, (0, 9, 12, 20)), Part("ellipse", WHITE, (5, 4, 18, 19)),
        Part("ellipse", WHITE, (12, 9, 24, 20)),
    ),
    "fence": (
        *(Part("box", CREAM, (left, 3, left + 4, 23)) for left in (1, 7, 13, 19)),
        Part("box", CREAM, (0, 7, 24, 10)), Part("box", CREAM, (0, 16, 24, 19)),
    ),
    "road": (
        Part("polygon", GREY, (8, 0, 16, 0, 24, 24, 0, 24)), Part("box", YELLOW, (11, 2, 13, 6)),
        Part("box", YELLOW, (11, 10, 13, 15)), Part("box", YELLOW, (10, 19, 14, 24)),
    ),
    "rug": (
        Part("box", MAROON, (0, 4, 24, 20)), Part("box", GOLD, (3, 7, 21, 8)),
        Part("box", GOLD, (3, 16, 21, 17)),
    ),
    "shelf": (
        *(Part("box", TAN, (0, top, 24, top + 3)) for top in (1, 10, 20)),
        Part("box", TAN, (0, 1, 3, 23)), Part("box", TAN, (21, 1, 24, 23)),
    ),
    "table": (
        Part("box", WOOD, (0, 6, 24, 11)), Part("box", WOOD, (2, 11, 6, 23)),
        Part("box", WOOD, (18, 11, 22, 23)),
    ),
    "tree": (
        Part("box", WOOD, (10, 14, 14, 24)), Part("ellipse", FOREST, (2, 0, 22, 17)),
    ),
    "window": (
        Part("box", NAVY, (1, 1, 23, 23)), Part("box", PANE, (3, 3, 11, 11)),
        Part("box", PANE, (13, 3, 21, 11)), Part("box", PANE, (3, 13, 11, 21)),
        Part("box", PANE, (13, 13, 21, 21)),
    ),
}  # fmt: skip


@cache
def sprite(name: str, side: int, mirrored: bool) -> Image.Image:
    """The object alone, RGBA, `side` px square; alpha is the share of a pixel that it covers."""
    canvas = Image.new("RGBA", (side * FINE, side * FINE))
    draw = ImageDraw.Draw(canvas)
    unit = side * FINE / UNITS
    for part in SHAPES[name]:
        _paint(draw, part, [number * unit for number in part.at], 4 * unit)
    small = canvas.reduce(FINE)
    return small.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if mirrored else small


def _paint(draw: ImageDraw.ImageDraw, part: Part, at: list[float], line: float) -> None:
    match part.shape:
        case "box":
            draw.rectangle(_within(at), part.colour)
        case "ellipse":
            draw.ellipse(_within(at), part.colour)
        case "ring":
            draw.ellipse(_within(at), outline=part.colour, width=round(line))
        case "polygon":
            draw.polygon(at, part.colour)


def _within(at: list[float]) -> list[float]:
    """Pillow's corners are inclusive."""
    x0, y0, x1, y1 = at
    return [x0, y0, x1 - 1, y1 - 1]
