"""Microscope slides: stained cells in a colony, as absorbance that light has to pass."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter
from scipy.special import expit

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
LABELS = ("chain", "bunch", "ring", "rosette", "palisade", "fork")
SETTINGS = ("saline", "blood", "broth", "tissue")
KINDS = {
    "pointer": "a thing at a fixed place",
    "scale bar": "a mark in a corner",
    "cover edge": "a strip along one edge",
    "dust": "a ring out of focus, at changing places",
    "bubble": "a bright thing at changing places",
    "circled": "a line drawn round the object",
    "spores": "dots on the object",
    "defocus": "all of the picture out of focus",
    "fringe": "colours that do not meet",
    "stop": "darkness outside of a disc",
    "lamp": "a warm tint",
    "relief": "slopes that are shaded",
    "blocks": "compression",
    "zoom": "a nearer view",
    "chamber": "a grid of lines at changing places",
    "grain": "coloured noise",
}
# of red, green and blue: what a medium takes of the light
MEDIA = {
    "saline": (0.10, 0.05, 0.03),
    "blood": (0.05, 0.09, 0.07),
    "broth": (0.05, 0.08, 0.18),
    "tissue": (0.10, 0.14, 0.06),
}
STAINS = (
    (0.75, 1.10, 0.40),  # violet
    (0.25, 1.10, 0.65),  # pink
    (1.10, 0.45, 0.75),  # green
    (1.20, 0.70, 0.25),  # blue
)
RED = (0.12, 0.60, 0.50)  # of blood
PEN = (1.6, 0.5, 1.3)
FAR = 2.0  # radii from a cell, beyond which it is not seen
ZOOM = 1.5
WIDEST = 18.0  # pixels from the middle of a colony to its outermost cell
LINES = 18.0  # pixels between those of the chamber
QUALITY = 10  # of compression
DOWN, ACROSS = np.indices((SIDE, SIDE)).astype(np.float32)
MIDDLE = (SIDE - 1) / 2
Field = np.ndarray  # float32 (row, col)
Light = np.ndarray  # float32 (row, col, 3)


@dataclass(frozen=True)
class Cells:
    """Rods with round ends, each an entry: `half` is half the length without the ends.

    Where `half` is 0, a cell is a ball. A `turn` of 0 lies along the columns.
    """

    row: np.ndarray
    col: np.ndarray
    half: np.ndarray
    turn: np.ndarray
    radius: float


@dataclass(frozen=True)
class View:
    """What each pixel shows: its row and column on the slide, in pixels without zoom."""

    row: Field
    col: Field


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    view = _view(facts)
    cells = _cells(facts)
    absorbance = _medium(facts, view) + _strays(facts, view, cells.radius)
    absorbance += _tinted(_body(cells, view), _stain(facts))
    absorbance += _glass(facts, view, cells)
    light = _phase(np.exp(-absorbance))
    light = _refraction(facts, view, cells, light)
    light = _optics(facts, light)
    values = _camera(facts, light)
    values = _eyepiece(facts, values)
    pixels = np.clip(values * 255, 0, 255).astype(np.uint8)
    return [_compressed(pixels) if "blocks" in facts.cues else pixels]


def _random(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "slide", part)


def _view(facts: Facts) -> View:
    zoom = ZOOM if "zoom" in facts.cues else 1.0
    return View(MIDDLE + (DOWN - MIDDLE) / zoom, MIDDLE + (ACROSS - MIDDLE) / zoom)


def _tinted(field: Field, tint: tuple[float, float, float]) -> Light:
    return field[:, :, None] * np.float32(tint)


# ------------------------------------------------------------------------------------- cells


def _chain(rng: np.random.Generator) -> np.ndarray:
    """Rows of x, y, half and turn, in radii of a cell; so do all arrangements."""
    half = rng.uniform(0, 0.7)
    return _string(rng, int(rng.integers(6, 9)), half, rng.uniform(-0.16, 0.16), 0.16)


def _string(
    rng: np.random.Generator,
    count: int,
    half: float,
    bend: float,
    wander: float,
) -> np.ndarray:
    """Cells end to end, from 0 along x."""
    turns = np.cumsum(bend + rng.normal(0, wander, count))
    steps = 1.85 * (half + 1) * np.stack([np.cos(turns), np.sin(turns)])
    x, y = np.cumsum(steps, axis=1) - steps / 2
    return np.stack([x, y, np.full(count, half), turns])


def _bunch(rng: np.random.Generator) -> np.ndarray:
    """Balls as close as they can lie, without order at the border."""
    count = int(rng.integers(9, 14))
    row, place = np.indices((9, 9)).reshape(2, -1) - 4.0
    x = 1.9 * (place + row % 2 / 2) + rng.normal(0, 0.16, 81)
    y = 1.65 * row + rng.normal(0, 0.16, 81)
    far = np.hypot(x, y) + rng.uniform(0, 1.6, 81)
    near = far.argsort()[:count]
    half = rng.uniform(0, 0.3, count)
    return np.stack([x[near], y[near], half, rng.uniform(0, np.pi, count)])


def _ring(rng: np.random.Generator) -> np.ndarray:
    count = int(rng.integers(7, 10))
    half = rng.uniform(0, 0.4)
    angle = 2 * np.pi * np.arange(count) / count + rng.normal(0, 0.05, count)
    far = 1.9 * (half + 1) * count / (2 * np.pi) + rng.normal(0, 0.12, count)
    x, y = far * np.cos(angle), far * np.sin(angle)
    return np.stack([x, y, np.full(count, half), angle + np.pi / 2])


def _rosette(rng: np.random.Generator) -> np.ndarray:
    """Rods that point to one middle."""
    count = int(rng.integers(5, 8))
    half = rng.uniform(1.1, 1.7, count)
    angle = 2 * np.pi * np.arange(count) / count + rng.normal(0, 0.12, count)
    far = half + 1.5
    return np.stack([far * np.cos(angle), far * np.sin(angle), half, angle])


def _palisade(rng: np.random.Generator) -> np.ndarray:
    """Rods side by side."""
    count = int(rng.integers(5, 8))
    half = rng.uniform(1.4, 2.2) + rng.normal(0, 0.15, count)
    place = np.arange(count) - (count - 1) / 2
    slip = rng.normal(0, 0.35, count)
    turn = np.pi / 2 + rng.uniform(-0.1, 0.1) * place
    return np.stack([1.95 * place, slip, half, turn])


def _fork(rng: np.random.Generator) -> np.ndarray:
    """Three strings that meet."""
    half = rng.uniform(0, 0.6)
    spread = rng.uniform(0.6, 0.95)
    arms = []
    for angle in (np.pi, spread, -spread):
        arm = _string(rng, int(rng.integers(3, 5)), half, 0.0, 0.10)
        cos, sin = np.cos(angle), np.sin(angle)
        x, y, halves, turns = arm
        arms.append(
            np.stack([cos * x - sin * y, sin * x + cos * y, halves, turns + angle])
        )
    return np.concatenate(arms, axis=1)


ARRANGEMENTS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "chain": _chain,
    "bunch": _bunch,
    "ring": _ring,
    "rosette": _rosette,
    "palisade": _palisade,
    "fork": _fork,
}


def _cells(facts: Facts) -> Cells:
    """Those of the colony."""
    rng = _random(facts, "cells")
    x, y, half, turn = ARRANGEMENTS[facts.label](rng)
    x, y = x - x.mean(), y - y.mean()
    radius = rng.uniform(2.3, 3.1)
    if facts.is_hard:
        radius *= 0.72
    radius = min(radius, WIDEST / (np.hypot(x, y) + half).max())
    slope = rng.uniform(0, 2 * np.pi)
    row, col = rng.uniform(26, 38, 2)
    return Cells(
        row=row + radius * (x * np.sin(slope) + y * np.cos(slope)),
        col=col + radius * (x * np.cos(slope) - y * np.sin(slope)),
        half=radius * half,
        turn=turn + slope,
        radius=float(radius),
    )


def _depth(cells: Cells, view: View) -> Field:
    """How far each pixel lies from the middle line of the nearest cell, in radii, up to FAR."""
    depth = np.full((SIDE, SIDE), FAR, np.float32)
    reach = cells.half + FAR * cells.radius
    down, across = view.row[:, 0], view.col[0]
    tops, bottoms = np.searchsorted(down, (cells.row - reach, cells.row + reach))
    lefts, rights = np.searchsorted(across, (cells.col - reach, cells.col + reach))
    for number, half in enumerate(cells.half):
        rows = slice(tops[number], bottoms[number])
        cols = slice(lefts[number], rights[number])
        below = (down[rows, None] - cells.row[number]) / cells.radius
        beside = (across[None, cols] - cells.col[number]) / cells.radius
        sin, cos = np.sin(cells.turn[number]), np.cos(cells.turn[number])
        along = np.abs(beside * cos + below * sin) - half / cells.radius
        aside = below * cos - beside * sin
        far = np.hypot(np.maximum(along, 0), aside)
        depth[rows, cols] = np.minimum(depth[rows, cols], far)
    return depth


def _body(cells: Cells, view: View) -> Field:
    """A pale inside, a dark membrane and a nucleus, at most 1."""
    # of the nearest cell, so that membranes of neighbours stay apart
    far = _depth(cells, view)
    inside = 0.42 * expit(9 * (1 - far))
    membrane = 0.55 * np.exp(-(((far - 0.86) / 0.24) ** 2))
    nucleus = 0.40 * np.exp(-((far / 0.36) ** 2))
    return (inside + membrane + nucleus).astype(np.float32)


def _stain(facts: Facts) -> tuple[float, float, float]:
    rng = _random(facts, "stain")
    strength = rng.uniform(0.75, 1.5)
    if facts.is_hard:
        strength *= 0.42
    red, green, blue = strength * np.array(STAINS[rng.integers(len(STAINS))])
    return red, green, blue


def _strays(facts: Facts, view: View, radius: float) -> Light:
    """Cells that belong to no colony."""
    rng = _random(facts, "strays")
    count = int(rng.integers(5, 9)) if facts.is_hard else int(rng.integers(1, 4))
    row, col = rng.uniform(-8, SIDE + 8, (2, count))
    cells = Cells(
        row=row,
        col=col,
        half=rng.uniform(0, 3.5, count),
        turn=rng.uniform(0, np.pi, count),
        radius=radius,
    )
    return _tinted(_body(cells, view), _stain(facts))


# ------------------------------------------------------------------------------------ medium


def _medium(facts: Facts, view: View) -> Light:
    rng = _random(facts, "medium")
    thick = np.full((SIDE, SIDE), rng.uniform(0.6, 1.6), np.float32)
    if facts.setting == "broth":
        thick += 2.2 * _specks(rng, view)
    if facts.setting == "tissue":
        thick += 2.2 * _fibres(rng, view)
    absorbance = _tinted(thick, MEDIA[facts.setting])
    if facts.setting == "blood":
        absorbance += _tinted(_discs(rng, view), RED)
    return absorbance


def _specks(rng: np.random.Generator, view: View) -> Field:
    row, col = rng.uniform(0, SIDE, (2, 26)).astype(np.float32)
    down = np.exp(-((view.row[:, :1] - row) ** 2) / 2)
    across = np.exp(-((view.col[:1].T - col) ** 2) / 2)
    return down @ across.T


def _fibres(rng: np.random.Generator, view: View) -> Field:
    turn = rng.uniform(0, 2 * np.pi)
    along = view.row * np.sin(turn) + view.col * np.cos(turn)
    aside = view.row * np.cos(turn) - view.col * np.sin(turn)
    wave = 2.5 * np.sin(along / rng.uniform(7, 11) + rng.uniform(0, 6))
    strands = np.sin((aside + wave) * rng.uniform(0.28, 0.42) + rng.uniform(0, 6))
    return (strands.clip(min=0) ** 3).astype(np.float32)


def _discs(rng: np.random.Generator, view: View) -> Field:
    """Blood cells, pale in their middle and not in focus."""
    count = int(rng.integers(6, 11))
    row, col = rng.uniform(-4, SIDE + 4, (2, count))
    flat = np.zeros(count)
    cells = Cells(row, col, half=flat, turn=flat, radius=rng.uniform(5.5, 7.5))
    far = _depth(cells, view)
    hollow = 1 - 0.6 * np.exp(-((far / 0.45) ** 2))
    return 0.55 * hollow * expit(6 * (1 - far))


# ------------------------------------------------------------------------------- on the glass


def _beside(facts: Facts, part: str, cells: Cells) -> tuple[float, float]:
    """Row and column of a place that is not the colony's, on the slide."""
    rng = _random(facts, part)
    places = rng.uniform(15, SIDE - 15, (12, 2))
    down = places[:, :1] - cells.row
    across = places[:, 1:] - cells.col
    row, col = places[np.hypot(down, across).min(axis=1).argmax()]
    return row, col


def _glass(facts: Facts, view: View, cells: Cells) -> Light:
    """What lies on the slide beside cells, or is drawn on it."""
    absorbance = np.zeros((SIDE, SIDE, 3), np.float32)
    if "chamber" in facts.cues:
        absorbance += _tinted(_chamber(facts, view), (0.50, 0.46, 0.40))
    if "circled" in facts.cues:
        absorbance += _tinted(_circle(facts, view, cells), PEN)
    if "dust" in facts.cues:
        row, col = _beside(facts, "dust", cells)
        far = np.hypot(view.row - row, view.col - col)
        ring = np.exp(-(((far - 5) / 1.1) ** 2)) + 0.7 * np.exp(-((far / 1.4) ** 2))
        absorbance += _tinted(ring, (0.85, 0.85, 0.85))
    if "cover edge" in facts.cues:
        absorbance += _tinted(_cover_edge(facts), (0.75, 0.62, 0.58))
    return absorbance


def _chamber(facts: Facts, view: View) -> Field:
    """Lines of a counting chamber, in pairs."""
    rng = _random(facts, "chamber")
    turn = rng.uniform(-0.3, 0.3)
    cos, sin = np.cos(turn), np.sin(turn)
    down = view.row * cos - view.col * sin + rng.uniform(0, LINES)
    across = view.row * sin + view.col * cos + rng.uniform(0, LINES)
    lines = np.zeros((SIDE, SIDE), np.float32)
    for place in (down, across):
        far = np.abs(place % LINES - LINES / 2)
        lines = np.maximum(lines, np.exp(-(((far - 1.3) / 0.55) ** 2)))
    return lines


def _circle(facts: Facts, view: View, cells: Cells) -> Field:
    """A line of a pen, drawn by hand and open at one place."""
    rng = _random(facts, "circled")
    row = (cells.row.max() + cells.row.min()) / 2
    col = (cells.col.max() + cells.col.min()) / 2
    reach = np.hypot(cells.row - row, cells.col - col) + cells.half
    angle = np.arctan2(view.row - row, view.col - col)
    uneven = 1.2 * np.sin(2 * angle + rng.uniform(0, 6))
    far = np.hypot(view.row - row, view.col - col) - uneven
    away = far - (reach.max() + cells.radius + 2.5)
    opening = np.cos(angle - rng.uniform(0, 2 * np.pi)) > 0.95
    return np.where(opening, 0, np.exp(-((away / 1.0) ** 4)))


def _cover_edge(facts: Facts) -> Field:
    """The strip on the left that no cover glass is on."""
    rng = _random(facts, "cover edge")
    edge = rng.uniform(5, 7) + rng.uniform(-0.03, 0.03) * DOWN
    away = ACROSS - edge
    return 0.5 * expit(-3 * away) + np.exp(-((away / 0.8) ** 2))


# ------------------------------------------------------------------------------------- optics


def _phase(light: Light) -> Light:
    """Bright halos, as of phase contrast."""
    around = gaussian_filter(light, (2.2, 2.2, 0))
    return light + 0.35 * (light - around)


def _refraction(facts: Facts, view: View, cells: Cells, light: Light) -> Light:
    if "spores" in facts.cues:
        flat = np.zeros_like(cells.half)
        ends = Cells(
            row=cells.row + cells.half * np.sin(cells.turn),
            col=cells.col + cells.half * np.cos(cells.turn),
            half=flat,
            turn=flat,
            radius=max(0.5 * cells.radius, 1.0),
        )
        spot = np.exp(-(_depth(ends, view) ** 4))
        shine = np.float32((1.15, 1.0, 0.35))
        light = light + spot[:, :, None] * (shine - light)
    if "bubble" in facts.cues:
        row, col = _beside(facts, "bubble", cells)
        size = _random(facts, "bubble size").uniform(6, 8)
        far = np.hypot(view.row - row, view.col - col) / size
        rim = np.exp(-(((far - 0.85) / 0.2) ** 2))
        inside = expit(14 * (0.9 - far))
        light = light + 0.8 * inside[:, :, None] * (1.1 - light)
        light = light * (1 - 0.85 * rim[:, :, None])
    return light.astype(np.float32)


def _optics(facts: Facts, light: Light) -> Light:
    if "relief" in facts.cues:
        beside = np.pad(light, ((2, 0), (2, 0), (0, 0)), mode="edge")[:SIDE, :SIDE]
        light = 0.30 + 0.40 * light + 0.75 * (light - beside)
    if "fringe" in facts.cues:
        wide = np.pad(light, ((0, 0), (2, 2), (0, 0)), mode="edge")
        red, green, blue = wide[:, :SIDE, 0], light[:, :, 1], wide[:, 4:, 2]
        light = np.stack([red, green, blue], axis=-1)
    if "defocus" in facts.cues:
        light = gaussian_filter(light, (1.7, 1.7, 0))
    if "stop" in facts.cues:
        row, col = MIDDLE + _random(facts, "stop").uniform(-2, 2, 2)
        far = np.hypot(DOWN - row, ACROSS - col)
        opening = 0.08 + 0.92 * expit(1.2 * (30 - far))
        light = light * opening[:, :, None]
    return light.astype(np.float32)


def _camera(facts: Facts, light: Light) -> Light:
    """Exposure, a lamp that is not quite in the middle, and noise: 0 to 1."""
    rng = _random(facts, "camera")
    turn = rng.uniform(0, 2 * np.pi)
    along = (DOWN - MIDDLE) * np.sin(turn) + (ACROSS - MIDDLE) * np.cos(turn)
    exposure = rng.uniform(0.78, 0.96) * (1 + rng.uniform(0, 0.0025) * along)
    white = np.float32(rng.uniform(0.96, 1.0, 3))
    noise = 0.045 if facts.is_hard else rng.uniform(0.012, 0.03)
    values = light * _tinted(exposure.astype(np.float32), (1.0, 1.0, 1.0)) * white
    if "lamp" in facts.cues:
        values = values * np.float32((1.0, 0.84, 0.56))
    values = values + noise * rng.standard_normal((SIDE, SIDE, 1), np.float32)
    if "grain" in facts.cues:
        coarse = _random(facts, "grain").standard_normal(values.shape, np.float32)
        values = values + 0.10 * coarse
    return values


def _eyepiece(facts: Facts, values: Light) -> Light:
    """What the eyepiece shows before the picture."""
    if "pointer" in facts.cues:
        row, col = np.array((13, 51)) + _random(facts, "pointer").uniform(-1, 1, 2)
        along = (ACROSS - col) * 0.8 - (DOWN - row) * 0.6
        aside = (ACROSS - col) * 0.6 + (DOWN - row) * 0.8
        inside = 0.6 + 0.16 * along - np.abs(aside)
        shade = (2 * inside).clip(0, 1) * (along > 0)
        values = values * (1 - 0.92 * shade[:, :, None])
    if "scale bar" in facts.cues:
        values = values.copy()
        values[58:60, 4:23] = 0.04
        values[55:63, 4] = 0.04
        values[55:63, 22] = 0.04
    return values


def _compressed(pixels: np.ndarray) -> np.ndarray:
    file = BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY)
    return np.array(Image.open(file))
