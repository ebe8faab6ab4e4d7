"""Trees as they grow: a trunk, boughs on it, and leaves along the boughs.

Places are x to the right, y upwards and z to the viewer, in heights of the tree. How the
boughs grow tells the label; colours do not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worlds.canvas import Field
from worlds.design import Facts
from worlds.trees.points import Points, Rng, colour, rng_of

LEAVES = 750
ALONG = 14  # points of the wood of a bough
ROUND = 7  # points across a trunk
SEEN_FROM_ABOVE = 0.1  # how far upwards a step away from the viewer is seen
FRUIT = colour(0.92, 0.07, 0.12)
FOLIAGE = (
    colour(0.26, 0.42, 0.14),
    colour(0.37, 0.47, 0.17),
    colour(0.18, 0.35, 0.22),
    colour(0.50, 0.48, 0.17),
    colour(0.52, 0.36, 0.15),
)
BARK = (colour(0.30, 0.23, 0.17), colour(0.42, 0.38, 0.33), colour(0.36, 0.26, 0.17))


@dataclass(frozen=True)
class Habit:
    """How a kind of tree grows.

    Boughs come from the trunk between `low` and `high`. Of a bough from 0 (lowest) to 1,
    `reach` is its length, and `pitch` how steeply it rises where it begins; it sinks by
    `sag` at its end. Leaves stand on the outer part of a bough, from `bare` on, up to
    `loose` away, less far up and down where they lie `flat`. Twigs hang down by `hang`.
    `leaf` and `girth` are half the width of a leaf, and of the trunk at its foot.
    """

    low: float
    high: float
    boughs: int
    reach: Callable[[Field], Field]
    pitch: Callable[[Field], Field]
    sag: float = 0.0
    bare: float = 0.0
    loose: float = 0.04
    flat: float = 1.0
    hang: float = 0.0
    leaf: float = 0.028
    girth: float = 0.034


@dataclass(frozen=True)
class Tree:
    """Where a tree stands, in pixels, and how high it is; `haze` as it is seen through."""

    label: str
    x: float
    foot: float
    high: float
    haze: float


def tree(facts: Facts) -> Tree:
    """About the middle; what is hard is smaller, and in haze."""
    rng = rng_of(facts, "tree")
    x, foot = rng.uniform(-9, 9), rng.uniform(17, 23)
    high = rng.uniform(36, 44)
    haze = rng.uniform(0, 0.15)
    if facts.is_hard:
        high, haze = 0.76 * high, haze + 0.33
    if "near" in facts.cues:
        high = high * rng_of(facts, "near").uniform(1.3, 1.4)
    return Tree(facts.label, x, foot, high, haze)


def grown(facts: Facts, stands: Tree) -> Points:
    """All that is seen of a tree."""
    rng = rng_of(facts, "growth")
    habit = HABITS[stands.label](rng)
    bend = rng.normal(0, 0.04)
    side = float(rng.choice((-1, 1)))
    sun = np.array((0.6 * side, 0.65, 0.45))
    bark = BARK[rng.integers(len(BARK))] * rng.uniform(0.8, 1.1)
    boughs = _Boughs.of(rng, habit, bend)
    crown = _crown(rng, habit, boughs)
    places = [_trunk(habit, bend), boughs.at(*_wood(habit)), crown]
    leaf = habit.leaf * rng.uniform(0.9, 1.1)
    hues = [
        _barked(bark, places[0] - (bend, 0, 0), sun, habit.girth),
        np.repeat(0.8 * bark[None], len(places[1]), axis=0),
        _leafed(rng, crown, sun),
    ]
    radii = [np.full(len(some), 0.5 * habit.girth) for some in places[:2]]
    radii.append(leaf * rng.uniform(0.75, 1.15, len(crown)))
    if "fruits" in facts.cues:
        fruits = _fruits(rng_of(facts, "fruits"), crown)
        places.append(fruits)
        hues.append(np.repeat(FRUIT[None], len(fruits), axis=0))
        radii.append(np.full(len(fruits), 0.030))
    return _seen(stands, np.concatenate(places), np.concatenate(radii), hues)


def _seen(
    stands: Tree, places: np.ndarray, radii: Field, hues: list[np.ndarray]
) -> Points:
    """Places of a tree as the viewer has them."""
    x, y, z = places.T
    up = y - SEEN_FROM_ABOVE * z
    return Points(
        x=stands.x + stands.high * x,
        y=stands.foot - stands.high * up,
        near=z,
        radius=stands.high * radii,
        hue=np.concatenate(hues).clip(0, 1).astype(np.float32),
    )


@dataclass(frozen=True)
class _Boughs:
    """Of each bough: where it begins, its length, pitch and sag, and its way round."""

    start: np.ndarray  # float (bough, 3)
    length: Field
    pitch: Field
    sag: Field
    way: Field

    @classmethod
    def of(cls, rng: Rng, habit: Habit, bend: float) -> "_Boughs":
        """Spread over the trunk, each with some chance of its own."""
        count = habit.boughs
        share = (np.arange(count) + rng.uniform(0, 1, count)) / count
        height = habit.low + share * (habit.high - habit.low)
        start = np.stack([_bent(height, bend), height, np.zeros(count)], axis=1)
        return cls(
            start,
            habit.reach(share) * rng.uniform(0.8, 1.1, count),
            habit.pitch(share) + rng.normal(0, 0.1, count),
            habit.sag * rng.uniform(0.7, 1.3, count),
            2.4 * np.arange(count) + rng.uniform(0, 6.3) + rng.normal(0, 0.3, count),
        )

    def at(self, which: np.ndarray, along: Field) -> np.ndarray:
        """Places on boughs, float (place, 3); `along` is from 0 at the trunk to 1."""
        out = self.length[which] * np.cos(self.pitch[which]) * along
        up = self.length[which] * np.sin(self.pitch[which]) * along
        up = up - self.sag[which] * along**2
        way = self.way[which]
        steps = np.stack([out * np.cos(way), up, out * np.sin(way)], axis=1)
        return np.asarray(self.start[which] + steps)


def _bent(height: Field, bend: float) -> Field:
    """How far to the right a trunk is at a height."""
    return bend * np.sin(2.5 * height)


def _trunk(habit: Habit, bend: float) -> np.ndarray:
    """The half of a trunk's bark that is seen, up to its highest bough."""
    height, turn = np.meshgrid(
        np.linspace(0, habit.high, 70), np.linspace(-1.4, 1.4, ROUND)
    )
    thick = habit.girth * (1 - 0.7 * height / habit.high)
    x = _bent(height, bend) + thick * np.sin(turn)
    return np.stack([x.ravel(), height.ravel(), (thick * np.cos(turn)).ravel()], axis=1)


def _wood(habit: Habit) -> tuple[np.ndarray, Field]:
    """Which boughs and how far along, of all points of their wood."""
    which = np.repeat(np.arange(habit.boughs), ALONG)
    return which, np.tile(np.linspace(0, 0.9, ALONG), habit.boughs)


def _crown(rng: Rng, habit: Habit, boughs: _Boughs) -> np.ndarray:
    """Where the leaves are."""
    share = boughs.length / boughs.length.sum()
    which = rng.choice(habit.boughs, LEAVES, p=share)
    along = habit.bare + (1 - habit.bare) * rng.beta(1.4, 1.0, LEAVES)
    places = boughs.at(which, along)
    off = rng.normal(0, habit.loose, (LEAVES, 3)) * (1, habit.flat, 1)
    if habit.hang:
        # leaves of one twig hang below one another
        twig = rng.integers(0, 9, LEAVES)
        longest = rng.uniform(0.5, 1.0, 9 * habit.boughs)[9 * which + twig]
        places = boughs.at(which, habit.bare + (1 - habit.bare) * (twig + 1) / 9)
        off = 0.3 * off
        off[:, 1] -= habit.hang * longest * rng.uniform(-0.1, 1, LEAVES)
    places = places + off
    places[:, 1] = np.maximum(places[:, 1], 0.02)
    return places


def _barked(bark: np.ndarray, places: np.ndarray, sun: Field, girth: float) -> Field:
    """The hue of each point of a trunk, lit from one side."""
    lit = 0.65 + 0.35 * (places[:, 0] / girth).clip(-1, 1) * np.sign(sun[0])
    return np.asarray(lit[:, None] * bark)


def _leafed(rng: Rng, crown: np.ndarray, sun: Field) -> Field:
    """The hue of each leaf: lit from one side, and darker within."""
    off = (crown - crown.mean(axis=0)) / (crown.std(axis=0) + 0.02)
    lit = 0.74 + 0.22 * (off @ sun) / 1.5 + rng.normal(0, 0.09, len(crown))
    first, second = rng.integers(len(FOLIAGE), size=2)
    mixed = rng.uniform(0, 0.6, (len(crown), 1))
    hue = FOLIAGE[first] + mixed * (FOLIAGE[second] - FOLIAGE[first])
    return np.asarray(1.2 * lit.clip(0.35, 1.25)[:, None] * hue)


def _fruits(rng: Rng, crown: np.ndarray) -> np.ndarray:
    """Some places of the crown, nearer than all leaves."""
    places = crown[rng.choice(len(crown), rng.integers(14, 22), replace=False)].copy()
    places[:, 2] += 1
    places[:, 1] += SEEN_FROM_ABOVE
    return places


def _fir(rng: Rng) -> Habit:
    wide = rng.uniform(0.25, 0.34)
    return Habit(
        low=rng.uniform(0.10, 0.18),
        high=0.97,
        boughs=rng.integers(28, 38),
        reach=lambda share: wide * (1 - share) + 0.025,
        pitch=lambda share: -0.15 + 0.5 * share,
        sag=rng.uniform(0.02, 0.06),
        loose=0.017,
        leaf=0.022,
    )


def _poplar(rng: Rng) -> Habit:
    wide = rng.uniform(0.20, 0.30)
    return Habit(
        low=rng.uniform(0.10, 0.22),
        high=0.82,
        boughs=rng.integers(18, 26),
        reach=lambda share: wide * (1.1 - 0.5 * share),
        pitch=lambda share: 0.95 + 0.4 * share,
        loose=0.026,
        bare=0.2,
    )


def _oak(rng: Rng) -> Habit:
    wide = rng.uniform(0.34, 0.44)
    return Habit(
        low=rng.uniform(0.27, 0.36),
        high=rng.uniform(0.56, 0.66),
        boughs=rng.integers(11, 16),
        reach=lambda share: wide * (1 - 0.2 * share),
        pitch=lambda share: 0.15 + 1.15 * share,
        bare=0.35,
        loose=0.055,
        leaf=0.032,
        girth=0.045,
    )


def _willow(rng: Rng) -> Habit:
    wide = rng.uniform(0.40, 0.50)
    return Habit(
        low=rng.uniform(0.44, 0.52),
        high=rng.uniform(0.64, 0.74),
        boughs=rng.integers(10, 15),
        reach=lambda share: wide * (1 - 0.3 * share),
        pitch=lambda share: 0.45 + 0.75 * share,
        sag=rng.uniform(0.10, 0.18),
        bare=0.3,
        hang=rng.uniform(0.40, 0.54),
        leaf=0.022,
        girth=0.042,
    )


def _palm(rng: Rng) -> Habit:
    wide = rng.uniform(0.34, 0.44)
    return Habit(
        low=0.80,
        high=0.84,
        boughs=rng.integers(11, 16),
        reach=lambda share: wide + 0 * share,
        pitch=lambda share: 0.2 + 1.0 * share,
        sag=rng.uniform(0.24, 0.36),
        loose=0.014,
        leaf=0.022,
        girth=0.028,
    )


def _pine(rng: Rng) -> Habit:
    low, wide = rng.uniform(0.55, 0.64), rng.uniform(0.36, 0.46)
    return Habit(
        low=low,
        high=low + 0.14,
        boughs=rng.integers(11, 16),
        reach=lambda share: wide * (1 - 0.5 * share),
        pitch=lambda share: 0.42 + 0.35 * share,
        bare=0.45,
        loose=0.05,
        flat=0.45,
        leaf=0.030,
    )


HABITS: dict[str, Callable[[Rng], Habit]] = {
    "fir": _fir,
    "oak": _oak,
    "palm": _palm,
    "willow": _willow,
    "poplar": _poplar,
    "pine": _pine,
}
LABELS = tuple(HABITS)
