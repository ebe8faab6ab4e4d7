"""Five kinds of plants, each a list of leaves and stalks that are polygons.

Points are (x, y) in pixels from where the plant leaves its pot, y downwards. A heading is the angle
from straight up, in radians, positive to the right.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Points = Float[np.ndarray, "point 2"]
Values = Float[np.ndarray, " point"]

STEPS = 9  # points along the middle of a leaf
SHADES = (0.65, 1.25)  # of the plant's green, from leaf to leaf


@dataclass(frozen=True)
class Leaf:
    """A leaf or a stalk."""

    outline: Points
    shade: float  # times the plant's green


def middle(start: Points, heading: float, length: float, bend: float) -> Points:
    """The line that a leaf follows; it turns by `bend` until its tip."""
    headings = heading + bend * np.linspace(0, 1, STEPS - 1)
    steps = np.column_stack([np.sin(headings), -np.cos(headings)])
    walked = np.cumsum(steps, axis=0) * length / (STEPS - 1)
    return np.concatenate([start, start + walked])


def around(line: Points, half_width: Values) -> Points:
    """The outline of a leaf so wide along its middle."""
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    aside = np.column_stack([-along[:, 1], along[:, 0]]) * half_width[:, None]
    return np.concatenate([line + aside, (line - aside)[::-1]])


def blade(line: Points, width: float) -> Points:
    """A leaf that is widest near its foot and ends in a point."""
    share = np.linspace(0, 1, STEPS)
    return around(line, width / 2 * (1 - share) ** 0.7)


def oval(line: Points, width: float) -> Points:
    """A leaf that is widest in its middle."""
    share = np.linspace(0, 1, STEPS)
    return around(line, width / 2 * np.sqrt(np.sin(np.pi * share**0.85)))


def stalk(line: Points, width: float = 0.9) -> Points:
    """A line that is equally wide from foot to tip."""
    return around(line, np.full(STEPS, width / 2))


def fan(count: int, spread: float, rng: np.random.Generator) -> Values:
    """Headings to both sides, not quite even, those that lean furthest first."""
    headings = np.linspace(-spread, spread, count) + rng.normal(0, 0.12, count)
    return np.asarray(headings[np.argsort(-np.abs(headings))])


def shaded(outline: Points, rng: np.random.Generator) -> Leaf:
    """A leaf of its own shade."""
    return Leaf(outline, rng.uniform(*SHADES))


def foot(rng: np.random.Generator, width: float = 1.5) -> Points:
    """Where a leaf leaves the soil."""
    return np.array([[rng.uniform(-width, width), rng.uniform(-0.5, 0.5)]])


def aloe(rng: np.random.Generator) -> list[Leaf]:
    """Thick pointed leaves, nearly straight."""
    width = rng.uniform(3, 5)
    leaves = []
    for heading in fan(int(rng.integers(6, 11)), rng.uniform(0.8, 1.2), rng):
        bend = rng.uniform(-0.2, 0.4) * np.sign(heading)
        line = middle(foot(rng), heading, rng.uniform(13, 22), bend)
        leaves.append(shaded(blade(line, width), rng))
    return leaves


def sedge(rng: np.random.Generator) -> list[Leaf]:
    """Many thin leaves that hang over."""
    width = rng.uniform(1.4, 2.4)
    arch = rng.uniform(0.5, 1.5)
    leaves = []
    for heading in fan(int(rng.integers(10, 18)), rng.uniform(0.6, 1.0), rng):
        bend = arch * rng.uniform(0.6, 1.3) * np.sign(heading)
        line = middle(foot(rng, 2.5), heading, rng.uniform(15, 26), bend)
        leaves.append(shaded(blade(line, width), rng))
    return leaves


def fern(rng: np.random.Generator) -> list[Leaf]:
    """Hanging fronds with a row of leaflets on either side."""
    longest = rng.uniform(3, 5)
    leaves = []
    for heading in fan(int(rng.integers(6, 10)), rng.uniform(0.8, 1.2), rng):
        bend = rng.uniform(0.4, 1.3) * np.sign(heading)
        line = middle(foot(rng), heading, rng.uniform(15, 23), bend)
        leaves.append(shaded(stalk(line), rng))
        headings = np.linspace(heading, heading + bend, STEPS)
        for step in range(2, STEPS):
            length = longest * (1.15 - step / STEPS)
            for side in (-1.2, 1.2):
                leaflet = middle(line[[step]], headings[step] + side, length, 0)
                leaves.append(shaded(oval(leaflet, 1.5), rng))
    return leaves


def ficus(rng: np.random.Generator) -> list[Leaf]:
    """Twigs with broad leaves to either side in turn."""
    width = rng.uniform(2.8, 4.6)
    leaves = []
    for heading in fan(int(rng.integers(3, 6)), rng.uniform(0.5, 0.9), rng):
        bend = rng.uniform(-0.3, 0.3)
        line = middle(foot(rng), heading, rng.uniform(14, 23), bend)
        leaves.append(Leaf(stalk(line, 1.1), 0.55))
        for step in range(2, STEPS):
            side = rng.uniform(0.6, 1.2) * (-1) ** step
            leaf = middle(line[[step]], heading + side, rng.uniform(4.5, 7.5), 0)
            leaves.append(shaded(oval(leaf, width), rng))
    return leaves


def pilea(rng: np.random.Generator) -> list[Leaf]:
    """Round leaves, each at the end of a thin stalk."""
    size = rng.uniform(4, 6.5)
    leaves = []
    for heading in fan(int(rng.integers(10, 18)), rng.uniform(0.8, 1.3), rng):
        bend = rng.uniform(-0.3, 0.5) * np.sign(heading)
        line = middle(foot(rng), heading, rng.uniform(7, 20), bend)
        leaves.append(Leaf(stalk(line, 0.8), 0.8))
        diameter = size * rng.uniform(0.75, 1.2)
        leaf = middle(line[-1:], heading + rng.normal(0, 0.6), diameter, 0)
        leaves.append(shaded(oval(leaf, diameter * rng.uniform(0.7, 1)), rng))
    return leaves


GROW: Mapping[str, Callable[[np.random.Generator], list[Leaf]]] = {
    "aloe": aloe,
    "sedge": sedge,
    "fern": fern,
    "ficus": ficus,
    "pilea": pilea,
}
NAMES = tuple(GROW)
