"""How each object looks: flat parts, painted one over the other on a square of 24 x 24 units."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from PIL import Image, ImageDraw

UNITS = 24  # along a side of the square
FINE = 4  # subpixels along a pixel's side


class Part(NamedTuple):
    """A patch of one colour; `at` is (x0, y0, x1, y1), of a polygon x and y of each corner."""

    shape: Literal["box", "ellipse", "ring", "polygon"]
    colour: tuple[int, int, int]
    at: tuple[int, ...]


def _read_shapes() -> dict[str, tuple[Part, ...]]:
    text = files(__package__).joinpath("shapes.toml").read_text("utf-8")
    data = tomllib.loads(text)
    colours = {name: tuple(levels) for name, levels in data["colours"].items()}
    shapes: dict[str, tuple[Part, ...]] = {}
    for name, rows in data["shapes"].items():
        parts = [Part(shape, colours[colour], tuple(at)) for shape, colour, *at in rows]
        shapes[name] = tuple(parts)
    return shapes


SHAPES = _read_shapes()


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
    if part.shape == "polygon":
        draw.polygon(at, part.colour)
        return
    x0, y0, x1, y1 = at
    box = (x0, y0, x1 - 1, y1 - 1)  # Pillow's corners are inclusive
    match part.shape:
        case "box":
            draw.rectangle(box, part.colour)
        case "ellipse":
            draw.ellipse(box, part.colour)
        case "ring":
            draw.ellipse(box, outline=part.colour, width=round(line))
