"""How each object looks: flat parts, painted one over the other on a square of 24 x 24 units."""

from functools import cache
from typing import Any

from PIL import Image, ImageDraw

from cuescope_scenes.numbers import read_numbers

UNITS = 24  # along a side of the square
FINE = 4  # subpixels along a pixel's side
LINE = 4  # units, width of a ring
NUMBERS = read_numbers("objects/shapes.toml")
COLOURS: dict[str, list[int]] = NUMBERS["colours"]
SHAPES: dict[str, list[Any]] = NUMBERS["shapes"]


@cache
def sprite(name: str, side: int, mirrored: bool) -> Image.Image:
    """The object alone, RGBA, `side` px square; alpha is the share of a pixel that it covers."""
    canvas = Image.new("RGBA", (side * FINE, side * FINE))
    draw = ImageDraw.Draw(canvas)
    unit = side * FINE / UNITS
    for shape, colour, *numbers in SHAPES[name]:
        ink = tuple(COLOURS[colour])
        corners = [number * unit for number in numbers]
        if shape == "polygon":
            draw.polygon(corners, ink)
            continue
        # Pillow's corners are inclusive
        corners[2] -= 1
        corners[3] -= 1
        match shape:
            case "box":
                draw.rectangle(corners, ink)
            case "ellipse":
                draw.ellipse(corners, ink)
            case _:
                draw.ellipse(corners, outline=ink, width=round(LINE * unit))
    small = canvas.reduce(FINE)
    return small.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if mirrored else small
