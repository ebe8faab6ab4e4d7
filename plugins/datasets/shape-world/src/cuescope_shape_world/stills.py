"""The data set `shape-pictures`: single frames of such videos, for models of image and text.

With short sentences: some that are true of what can be seen, and near misses of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, Sample, digest, generator
from cuescope_sdk.grounding import INVERSE, Box, relation_holds
from cuescope_shape_world.pictures import DRAWING_VERSION, SIDE, Picture, frame
from cuescope_shape_world.questions import PLACES
from cuescope_shape_world.scenes import pictures
from cuescope_shape_world.words import COLOURS, KINDS, PHRASES
from cuescope_shape_world.worlds import draw_world

PICTURES_VERSION = 1  # part of the fingerprint: raise it when a seed gives others
FRAMES, EVERY = 16, 4  # of a video; which of them are shown
# Of no shape here, but what readers of pictures may ask for.
STRANGE = ("orange", "purple", "brown", "black", "white", "grey", "magenta")
PLACED, DENIED = 4, 4  # sentences about places, and denials of each sort; more drown the plain ones


class ShapePicturesOptions(Options):
    """What to generate; the part after `shape-pictures:` is `split`."""

    argument: ClassVar[str | None] = "split"

    split: Literal["train", "val", "test"] = Field("val", description="which split to show")
    train: int = Field(5000, ge=1, description="pictures for training")
    val: int = Field(400, ge=1, description="pictures for validation")
    test: int = Field(400, ge=1, description="pictures held out")
    seed: int = Field(0, ge=0, description="another seed, another draw")

    @property
    def size(self) -> int:
        return int(getattr(self, self.split))


class ShapePictures(Plugin):
    """Four frames of each of many videos that `shape-world` never shows; every shape occurs.

    The annotation "captions" has short sentences that are true of what can be seen, "foils" some
    that are not. The group is the video.
    """

    Options: ClassVar[type[Options]] = ShapePicturesOptions
    labels: tuple[str, ...] = ()

    def __init__(self, options: ShapePicturesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.options: ShapePicturesOptions = options
        parameters = (options.split, options.size, options.seed)
        self.fingerprint = digest("shape-pictures", PICTURES_VERSION, DRAWING_VERSION, *parameters)
        self.facts = {"pictures": f"{options.size}, split {options.split}"}

    def __len__(self) -> int:
        return self.options.size

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        video, position = divmod(index, FRAMES // EVERY)
        seed, split = self.options.seed, self.options.split
        picture = _video(seed, split, video)[EVERY * position]
        # The name of this generator decides what is drawn: it stays.
        rng = generator(seed, "shape-pictures", split, "said", str(index))
        return Sample(
            key=f"{split}-{index:05d}",
            frames=(frame(picture),),
            group=f"{split}-video-{video:05d}",
            annotations={"split": split, **describe(picture, rng)},
        )

    def split(self, name: str) -> Self:
        """The same options on another split; no video is in two of them."""
        return self.with_options(split=name)


@lru_cache(maxsize=8)
def _video(seed: int, split: str, index: int) -> tuple[Picture, ...]:
    rng = generator(seed, "shape-pictures", split, str(index))
    return pictures(draw_world(rng, FRAMES, PHRASES))


# ------------------------------------------------------------------------------------ captions


def describe(picture: Picture, rng: np.random.Generator) -> dict[str, tuple[str, ...]]:
    """Captions and foils: all about presence and colour of what can be seen, some places, denials.

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
    every = (*PHRASES, *KINDS)
    own, absent = map(str.split, boxes), [name for name in every if name not in present]
    lacking = [(kind, colour) for kind, colour in colours if f"{colour} {kind}" not in boxes]
    # With whether each is true. What is drawn at random is drawn in this order.
    sentences = [
        *((_presence(name), name in present) for name in every),
        *((f"The {kind} is {colour}.", f"{colour} {kind}" in boxes) for kind, colour in colours),
        *((_presence(f"{colour} {kind}"), False) for kind, colour in strange),
        *((f"The {kind} is {colour}.", False) for kind, colour in strange),
        *_draw_some(list(_places(boxes)), PLACED, rng),
        *_draw_some([(f"There is no {name}.", False) for name in sorted(present)], DENIED, rng),
        *_draw_some([(f"There is no {name}.", True) for name in absent], DENIED, rng),
        *_draw_some([(_denial(kind, colour), False) for colour, kind in own], DENIED, rng),
        *_draw_some([(_denial(kind, colour), True) for kind, colour in lacking], DENIED, rng),
    ]
    return {
        "captions": tuple(sentence for sentence, is_true in sentences if is_true),
        "foils": tuple(sentence for sentence, is_true in sentences if not is_true),
    }


def _presence(name: str) -> str:
    return f"There is {'an' if name[0] in 'aeiou' else 'a'} {name}."


def _denial(kind: str, colour: str) -> str:
    return f"The {kind} is not {colour}."


def _places(boxes: Mapping[str, Box]) -> Iterator[tuple[str, bool]]:
    """Of every two shapes, both ways round."""
    for name, other in permutations(boxes, 2):
        for relation in PLACES:
            if relation_holds(relation, boxes[name], boxes[other]):
                yield f"The {name} is {relation} the {other}.", True
                yield f"The {name} is {INVERSE[relation]} the {other}.", False


def _draw_some(
    sentences: Sequence[tuple[str, bool]], most: int, rng: np.random.Generator
) -> list[tuple[str, bool]]:
    """At most so many, drawn at random."""
    return [sentences[index] for index in rng.permutation(len(sentences))[:most]]
