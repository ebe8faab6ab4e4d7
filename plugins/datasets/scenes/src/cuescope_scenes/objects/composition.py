"""What each image shows: objects, things beside them as planted, and where they stand."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Int

from cuescope_scenes.objects.pictures import Picture, Thing
from cuescope_scenes.objects.words import CLASSES, THINGS, WORDINGS
from cuescope_scenes.textures import SIZE
from cuescope_scenes.words import BACKGROUNDS
from cuescope_sdk import derive, generator

Presence = Bool[np.ndarray, "sample class"]
FEWEST = 2  # objects of an image
MOST = 6
# of each class, before images with fewer or more objects are drawn again
OBJECT_RATE = 0.3
THING_RATE = 0.4  # of each thing that is no cue, and of cues where nothing is planted

CELLS = 4  # along a side of the image; an object stands in a cell of its own
CELL = SIZE // CELLS  # px
SIDES = (18, 23)  # px, inclusive
FAINT_SIDES = (9, 12)  # px, inclusive
FAINT_OPACITY = (0.08, 0.25)


def draw_objects(count: int, rng: np.random.Generator) -> Presence:
    """Each class alike and by itself, FEWEST to MOST of them in an image."""
    objects = np.zeros((count, len(CLASSES)), bool)
    redraw = np.ones(count, bool)
    # Redrawn whole: to leave single objects out, or to add some, would favour some classes.
    while redraw.any():
        draws = rng.random((redraw.sum(), len(CLASSES)))
        objects[redraw] = draws < OBJECT_RATE
        sizes = objects.sum(axis=1)
        redraw = (sizes < FEWEST) | (sizes > MOST)
    return objects


def draw_things(
    objects: Presence,
    planted: Mapping[str, str],
    strength: float,
    elsewhere: float,
    rng: np.random.Generator,
) -> Bool[np.ndarray, "sample thing"]:
    """A planted cue is beside its class with probability `strength`, else with `elsewhere`."""
    rate = np.full((len(objects), len(THINGS)), THING_RATE)
    for name, cue in planted.items():
        beside = objects[:, CLASSES.index(name)]
        rate[:, THINGS.index(cue)] = np.where(beside, strength, elsewhere)
    return rng.random(rate.shape) < rate


def draw_questions(
    objects: Presence, rng: np.random.Generator
) -> Int[np.ndarray, "question 3"]:
    """Sample, class and wording: in each image all that is there, and as many that are not."""
    # Ranks of random numbers: the first n absent classes of each image, n being those present.
    number = np.where(objects, np.inf, rng.random(objects.shape))
    # twice: the first gives the order, the second the rank of each
    ranks = number.argsort(axis=1).argsort(axis=1)
    present = objects.sum(axis=1, keepdims=True)
    # as many: who says yes to all is right in half
    has_question = objects | (ranks < present)
    image, number = np.nonzero(has_question)
    wording = rng.integers(len(WORDINGS), size=len(image))
    return np.stack([image, number, wording], axis=1)


@lru_cache(maxsize=64)
def compose(
    objects: tuple[str, ...],
    things: tuple[str, ...],
    hard: frozenset[str],
    faint: float,
    noise: float,
    seed: int,
) -> Picture:
    """One image. Objects of the classes `hard` are small and faint with probability `faint`."""
    rng = generator(seed, "object-scenes", "places")
    cells = rng.permutation(CELLS * CELLS)
    background = str(rng.choice(BACKGROUNDS))
    shown = []
    names = (*objects, *things)
    # strict=False: there are more cells than things to put into them
    for name, cell in zip(names, cells.tolist(), strict=False):
        is_faint = bool(rng.random() < faint) and name in hard
        sides = FAINT_SIDES if is_faint else SIDES
        side = int(rng.integers(*sides, endpoint=True))
        down, right = rng.integers(CELL - side, size=2, endpoint=True).tolist()
        opacity = float(rng.uniform(*FAINT_OPACITY)) if is_faint else 1.0
        row, col = divmod(cell, CELLS)
        top = row * CELL + down
        left = col * CELL + right
        mirrored = bool(rng.random() < 0.5)
        shown.append(Thing(name, top, left, side, mirrored, opacity))
    seed_of_pixels = derive(seed, "object-scenes", "pixels")
    return Picture(background, tuple(shown), noise, seed_of_pixels)
