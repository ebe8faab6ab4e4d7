"""Which scenes a split holds: labels, backgrounds as the dial says, objects and their places."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import tau

import numpy as np
from jaxtyping import Int

from cuescope_scenes.pictures import Scene, Thing
from cuescope_scenes.textures import SIZE
from cuescope_scenes.words import (
    BACKGROUNDS,
    COLOUR_NAMES,
    DISTRACTORS,
    LABELS,
    MOST_DISTRACTORS,
    SIZE_NAMES,
    SIZES,
    join_nouns,
    with_article,
)
from cuescope_sdk import derive, generator

Indices = Int[np.ndarray, " sample"]
BLUR = (0.8, 1.3)  # px, of a blurred picture
DISTRACTOR_RADIUS = (6.0, 8.0)  # px
MARGIN = 2.0  # px between objects
CENTRE = 14.0  # px, furthest that the object is from the middle, along either axis


@dataclass(frozen=True)
class Composition:
    """A scene with the words that it was made of; the object is the first thing."""

    scene: Scene
    size: str

    @property
    def factors(self) -> dict[str, str]:
        """What varies beside the label."""
        return {
            "background": self.scene.background,
            "size": self.size,
            "object colour": self.scene.things[0].colour,
            "distractors": str(len(self.scene.things) - 1),
            "focus": "blurred" if self.scene.blur else "sharp",
        }

    @property
    def caption(self) -> str:
        """`a small red disc on grass with a heart and an arrow`."""
        thing, *distractors = self.scene.things
        words = f"{with_article(self.size)} {thing.colour} {thing.name} on {self.scene.background}"
        if not distractors:
            return words
        others = join_nouns(tuple(other.name for other in distractors))
        return f"{words} with {others}"


def draw_labels(count: int, split: str, seed: int) -> Indices:
    """As many of each label as can be, in random order."""
    rng = generator(seed, "scenes", "labels", split)
    return rng.permutation(np.arange(count) % len(LABELS))


def draw_backgrounds(label: Indices, dial: float, split: str, seed: int) -> Indices:
    """The label's partner with probability `dial`, else any background alike."""
    rng = generator(seed, "scenes", "backgrounds", split)
    is_partner = rng.random(len(label)) < dial
    # Both are drawn for every picture, so that with another dial the others stay as they are.
    background = rng.integers(len(BACKGROUNDS), size=len(label))
    return np.where(is_partner, label, background)


def compose(
    label: str,
    background: str,
    noise: float,
    blurred: float,
    seed: int,
) -> Composition:
    """One scene. Everything but the background depends on the other arguments alone."""
    rng = generator(seed, "scenes", "objects")
    size = str(rng.choice(SIZE_NAMES))
    middle = (SIZE / 2 - CENTRE, SIZE / 2 + CENTRE)
    thing = _place_thing(rng, label, SIZES[size], middle, ())
    things = [thing]
    for _ in range(rng.integers(MOST_DISTRACTORS, endpoint=True)):
        name = str(rng.choice(DISTRACTORS))
        thing = _place_thing(rng, name, DISTRACTOR_RADIUS, (0, SIZE), things)
        things.append(thing)
    # drawn last, so that another share of blurred pictures moves no thing
    blur = rng.uniform(*BLUR) if rng.random() < blurred else 0.0
    pixels = derive(seed, "scenes", "pixels")
    scene = Scene(background, tuple(things), blur, noise, pixels)
    return Composition(scene, size)


def _place_thing(
    rng: np.random.Generator,
    name: str,
    radii: tuple[float, float],
    within: tuple[float, float],
    others: Sequence[Thing],
) -> Thing:
    """A thing of random colour, radius and turn, wholly in the picture and clear of the others.

    `within` bounds the row and the column of its centre.
    """
    colour = str(rng.choice(COLOUR_NAMES))
    radius = float(rng.uniform(*radii))
    turn = float(rng.uniform(0, tau))
    least, most = within
    # a pixel of background stays around it
    least = max(least, radius + 1)
    most = min(most, SIZE - 1 - radius)
    while True:
        row, col = rng.uniform(least, most, 2).tolist()
        thing = Thing(name, colour, row, col, radius, turn)
        if all(_is_clear(thing, other) for other in others):
            return thing


def _is_clear(thing: Thing, other: Thing) -> bool:
    """Whether the circles around two things are further apart than the margin."""
    distance = np.hypot(thing.row - other.row, thing.col - other.col)
    return bool(distance > thing.radius + other.radius + MARGIN)
