"""What there is in this world: colours, kinds, and which of them are never seen together at first.

A phrase is "colour kind", such as "red circle".
"""

from itertools import filterfalse, product

COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "pink": (255, 0, 255),
    "cyan": (0, 255, 255),
}
KINDS = ("square", "circle", "triangle", "diamond", "star", "heart")
OPPOSITE = {"left": "right", "right": "left", "up": "down", "down": "up"}
FRAME_SECONDS = 0.5  # from a frame to the next

PHRASES = tuple(map(" ".join, product(COLOURS, KINDS)))
# A kind for each colour, in the split `ood` alone.
HELD_OUT = frozenset(map(" ".join, zip(COLOURS, KINDS, strict=True)))
FAMILIAR = tuple(filterfalse(HELD_OUT.__contains__, PHRASES))

# What is no shape.
WALL = "wall"  # the occluder
HILL = "hill"  # the skyline at the top
