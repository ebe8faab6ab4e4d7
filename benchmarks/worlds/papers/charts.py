"""The five kinds of charts that a page may show, drawn with a pen of one ink."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import ImageDraw

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Pen:
    """Where a chart is drawn on a page and with what; lengths are in pixels of the page."""

    draw: ImageDraw.ImageDraw
    left: float
    top: float
    side: float
    width: int
    ink: Colour
    pale: Colour

    def at(self, across: float, down: float) -> tuple[float, float]:
        """The point of the page at shares of the chart's side."""
        return self.left + across * self.side, self.top + down * self.side

    def stroke(self, *points: tuple[float, float]) -> None:
        """A line through points, given in shares."""
        places = [self.at(*point) for point in points]
        self.draw.line(places, self.ink, self.width, joint="curve")

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        fill: Colour,
    ) -> None:
        """A filled box, given in shares."""
        corners = [self.at(left, top), self.at(right, bottom)]
        self.draw.rectangle(corners, fill)

    def dot(self, across: float, down: float, radius: float) -> None:
        """A filled dot, given in shares."""
        corners = [
            self.at(across - radius, down - radius),
            self.at(across + radius, down + radius),
        ]
        self.draw.ellipse(corners, self.ink)


def _axes(pen: Pen) -> None:
    pen.stroke((0, 0), (0, 1), (1, 1))


def _bars(pen: Pen, rng: np.random.Generator) -> None:
    _axes(pen)
    count = int(rng.integers(3, 6))
    step = 0.94 / count
    for number, height in enumerate(rng.uniform(0.3, 0.95, count)):
        left = 0.08 + number * step
        fill = pen.ink if number % 2 else pen.pale
        pen.box(left, 1 - height, left + 0.7 * step, 0.98, fill)


def _line(pen: Pen, rng: np.random.Generator) -> None:
    _axes(pen)
    downs = rng.uniform(0.1, 0.85, 6)
    pen.stroke(*zip(np.linspace(0.08, 0.98, 6), downs, strict=True))


def _pie(pen: Pen, rng: np.random.Generator) -> None:
    corners = [pen.at(0, 0), pen.at(1, 1)]
    start = rng.uniform(0, 360)
    sizes = rng.uniform(0.6, 1.6, int(rng.integers(3, 6)))
    turns = start + 360 * np.cumsum(sizes) / sizes.sum()
    for number, turn in enumerate(turns):
        fill = pen.ink if number == 0 else pen.pale if number == 1 else None
        pen.draw.pieslice(corners, start, turn, fill, pen.ink, pen.width)
        start = turn


def _table(pen: Pen, rng: np.random.Generator) -> None:
    rows = int(rng.integers(3, 6))
    cols = int(rng.integers(2, 5))
    pen.box(0, 0, 1, 1 / rows, pen.pale)
    for down in np.linspace(0, 1, rows + 1):
        pen.stroke((0, down), (1, down))
    for across in np.linspace(0, 1, cols + 1):
        pen.stroke((across, 0), (across, 1))


def _dots(pen: Pen, rng: np.random.Generator) -> None:
    _axes(pen)
    for across, down in rng.uniform(0.12, 0.95, (int(rng.integers(11, 17)), 2)):
        pen.dot(across, down - 0.05, 0.055)


CHARTS: dict[str, Callable[[Pen, np.random.Generator], None]] = {
    "bars": _bars,
    "line": _line,
    "pie": _pie,
    "table": _table,
    "dots": _dots,
}
