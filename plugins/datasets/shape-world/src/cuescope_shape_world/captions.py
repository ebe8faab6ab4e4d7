"""What short sentences say of one picture: some that are true, and near misses of them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from cuescope_sdk.grounding import INVERSE, Box, relation_holds
from cuescope_shape_world.drawing import SIDE, Picture
from cuescope_shape_world.statements import PLACES
from cuescope_shape_world.words import COLOURS, KINDS, PHRASES

# Of no shape here, but what readers of pictures may ask for.
STRANGE = ("orange", "purple", "brown", "black", "white", "grey", "magenta")
PLACED, DENIED = 4, 4  # sentences about places, and denials of each sort; more drown the plain ones


class Said(NamedTuple):
    """What is true of a picture, and what is not."""

    captions: tuple[str, ...]
    foils: tuple[str, ...]


def say(picture: Picture, rng: np.random.Generator) -> Said:
    """All about presence and colour of the shapes that can be seen, some places, and some denials.

    A sentence with "no" or "not" says the opposite in nearly the same words; were there as many of
    these, no word would mean anything for long.
    """
    boxes: Mapping[str, Box] = {
        phrase: (x, y, x + SIDE, y + SIDE) for phrase, x, y in picture.shapes
    }
    kinds = sorted({phrase.split()[1] for phrase in boxes})
    present = {*boxes, *kinds}
    colours = [(kind, colour) for kind in kinds for colour in COLOURS]
    strange = [(kind, str(rng.choice(STRANGE))) for kind in kinds]
    told = [
        *((there(name), name in present) for name in (*PHRASES, *KINDS)),
        *((coloured(kind, colour), f"{colour} {kind}" in boxes) for kind, colour in colours),
        *((there(f"{colour} {kind}"), False) for kind, colour in strange),
        *((coloured(kind, colour), False) for kind, colour in strange),
        *_some(list(_places(boxes)), PLACED, rng),
        *_some([(absent(name), False) for name in sorted(present)], DENIED, rng),
        *_some([(absent(n), True) for n in (*PHRASES, *KINDS) if n not in present], DENIED, rng),
        *_some([(uncoloured(*p.split()[::-1]), False) for p in boxes], DENIED, rng),
        *_some(
            [(uncoloured(k, c), True) for k, c in colours if f"{c} {k}" not in boxes], DENIED, rng
        ),
    ]
    return Said(
        tuple(sentence for sentence, true in told if true),
        tuple(sentence for sentence, true in told if not true),
    )


def there(name: str) -> str:
    """ "There is a red circle."."""
    return f"There is {'an' if name[0] in 'aeiou' else 'a'} {name}."


def absent(name: str) -> str:
    """ "There is no red circle."."""
    return f"There is no {name}."


def coloured(kind: str, colour: str) -> str:
    """ "The circle is red."."""
    return f"The {kind} is {colour}."


def uncoloured(kind: str, colour: str) -> str:
    """ "The circle is not red."."""
    return f"The {kind} is not {colour}."


def related(one: str, place: str, other: str) -> str:
    """ "The red circle is left of the blue star."."""
    return f"The {one} is {place} the {other}."


def _places(boxes: Mapping[str, Box]) -> Iterator[tuple[str, bool]]:
    """Of every two shapes, both ways round."""
    for one, other in permutations(boxes, 2):
        for place in PLACES:
            if relation_holds(place, boxes[one], boxes[other]):
                yield related(one, place, other), True
                yield related(one, INVERSE[place], other), False


def _some(
    told: Sequence[tuple[str, bool]], most: int, rng: np.random.Generator
) -> list[tuple[str, bool]]:
    """At most so many, drawn at random."""
    return [told[place] for place in rng.permutation(len(told))[:most]]
