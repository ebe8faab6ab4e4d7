"""The chessman whose outline tells the label, and draughts that tell nothing."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worlds.canvas import Field
from worlds.chessmen.lathe import SIDE, STEP, Crest, Rng, Turned, colour, rng_of
from worlds.chessmen.room import horizon_of
from worlds.design import Facts

FEW, MANY = (0, 3), (9, 13)  # draughts, from and below
MAGENTA = colour(0.92, 0.10, 0.52)
HUES = (
    colour(0.93, 0.89, 0.78),
    colour(0.20, 0.17, 0.16),
    colour(0.62, 0.12, 0.08),
    colour(0.10, 0.16, 0.34),
)
DRAUGHTS = (colour(0.82, 0.74, 0.58), colour(0.28, 0.20, 0.17))


@dataclass(frozen=True)
class Head:
    """Above the neck: corners (height, radius), balls, and what is not round."""

    corners: list[tuple[float, float]]
    balls: tuple[tuple[float, float, float], ...] = ()  # middle, radius, half height
    notched: float = 0.0
    crest: Crest | None = None


def piece(facts: Facts) -> Turned:
    """About the middle; what is hard is smaller, and in haze."""
    rng = rng_of(facts, "piece")
    x, foot = rng.uniform(-10, 10), rng.uniform(24, 28)
    zoom = rng.uniform(1.45, 1.7)
    haze = rng.uniform(0, 0.15)
    lean = rng.normal(0, 0.03)
    if facts.is_hard:
        zoom, haze = 0.84 * zoom, haze + 0.38
    if "close" in facts.cues:
        zoom = zoom * rng_of(facts, "close").uniform(1.28, 1.34)
    if "leaning" in facts.cues:
        by = rng_of(facts, "leaning")
        lean = lean + by.choice((-1, 1)) * by.uniform(0.26, 0.34)
    neck = rng.uniform(9, 13)
    head = HEADS[facts.label](rng)
    radii = _outline(rng, neck, head)
    hues = np.repeat(HUES[rng.integers(len(HUES))][None], len(radii), axis=0)
    if "ribbon" in facts.cues:
        _tie(rng_of(facts, "ribbon"), radii, hues, neck)
    return Turned(
        radii=radii,
        hues=hues,
        x=x,
        foot=foot,
        zoom=zoom,
        lean=lean,
        haze=haze,
        gloss=rng.uniform(0.1, 0.45),
        notched=round(head.notched / STEP),
        crest=head.crest,
    )


def draughts(facts: Facts) -> list[Turned]:
    """Flat and round: a few as a rule, and many where that is the cue."""
    is_many = "draughts" in facts.cues
    rng = rng_of(facts, "many draughts" if is_many else "few draughts")
    found = []
    for _ in range(rng.integers(*(MANY if is_many else FEW))):
        foot = rng.uniform(horizon_of(facts) + 7, 30)
        near = (foot - horizon_of(facts)) / SIDE
        hue = DRAUGHTS[rng.integers(len(DRAUGHTS))]
        radii = np.array((4.0, 4.3, 4.3, 4.3, 3.9))
        hues = np.repeat(hue[None], len(radii), axis=0)
        one = Turned(radii, hues, gloss=0.15)
        found.append(one.at(rng.uniform(-30, 30), foot, 0.7 + 0.8 * near))
    return found


def _outline(rng: Rng, neck: float, head: Head) -> np.ndarray:
    """Radii of all discs: a foot, a stem, a collar, and the head."""
    wide = rng.uniform(6.2, 7.4)
    waist = rng.uniform(2.3, 3.2)
    collar = rng.uniform(3.4, 4.4)
    corners = [
        (0, wide),
        (1.5, wide),
        (2.2, wide - 1.3),
        (3.2, wide - 1.0),
        (5.0, waist + 1.4),
        (neck - 1.0, waist),
        (neck - 0.5, collar),
        (neck + 0.5, collar),
        *((neck + 1 + height, radius) for height, radius in head.corners),
    ]
    heights, radii = np.array(corners, float).T
    last = heights[-1]
    for middle, _, half in head.balls:
        last = max(last, neck + 1 + middle + half)
    discs = np.arange(0, last, STEP)
    found = np.interp(discs, heights, radii, right=0.3)
    for middle, radius, half in head.balls:
        off = (discs - neck - 1 - middle) / half
        found = np.maximum(found, radius * np.sqrt((1 - off**2).clip(0)))
    return found * rng.uniform(0.92, 1.08)


def _tie(rng: Rng, radii: np.ndarray, hues: np.ndarray, neck: float) -> None:
    """A ribbon round the stem, anywhere between foot and neck."""
    first = round(rng.uniform(5, neck - 4) / STEP)
    band = slice(first, first + 6)
    radii[band] += 0.7
    hues[band] = MAGENTA


def _pawn(rng: Rng) -> Head:
    ball = rng.uniform(4.2, 5.0)
    return Head([(0, 2.2), (1, 2.2)], ((ball + 0.5, ball, ball),))


def _rook(rng: Rng) -> Head:
    wide, high = rng.uniform(5.2, 6.0), rng.uniform(6.5, 8.5)
    return Head([(0, 3), (1.2, wide), (high, wide)], notched=2.0)


def _bishop(rng: Rng) -> Head:
    wide, half = rng.uniform(3.9, 4.6), rng.uniform(5.6, 6.6)
    tip = rng.uniform(1.2, 1.5)
    balls = ((half, wide, half), (2 * half + 0.5, tip, tip))
    return Head([(0, 2.0), (1, 2.0)], balls)


def _queen(rng: Rng) -> Head:
    wide, high = rng.uniform(5.8, 6.8), rng.uniform(6.5, 8.0)
    tip = rng.uniform(1.5, 1.9)
    corners = [(0, 2.2), (0.5 * high, 2.6), (high, wide), (high + 0.5, wide - 1.2)]
    return Head([*corners, (high + 1.5, 1.0)], ((high + 1.5 + tip, tip, tip),))


def _king(rng: Rng) -> Head:
    wide, high = rng.uniform(4.0, 4.8), rng.uniform(5.5, 7.0)
    corners = [(0, 2.8), (high, wide), (high + 1.2, wide - 1.4), (high + 2, 1.2)]
    return Head(corners, crest=_cross(rng.uniform(6.0, 7.2)))


def _cross(high: float) -> Crest:
    def cover(right: Field, up: Field) -> Field:
        post = (abs(right) < 1.1) & (up > -0.5) & (up < high)
        beam = (abs(right) < 3.2) & (abs(up - 0.58 * high) < 1.1)
        return np.asarray(post | beam, np.float32)

    return cover


HEADS: dict[str, Callable[[Rng], Head]] = {
    "pawn": _pawn,
    "queen": _queen,
    "rook": _rook,
    "bishop": _bishop,
    "king": _king,
}
LABELS = tuple(HEADS)
