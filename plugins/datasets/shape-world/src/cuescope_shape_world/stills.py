"""The data set `shape-pictures`: single frames of such videos, for models of image and text.

With short sentences: some that are true of what can be seen, and near misses of them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations, product
from typing import ClassVar, Literal, Self

from numpy.random import Generator
from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, Sample, digest, generator
from cuescope_sdk.grounding import RELATIONS
from cuescope_shape_world.pictures import DRAWING_VERSION, SIDE, Box, Picture, frame
from cuescope_shape_world.questions import PLACES
from cuescope_shape_world.scenes import pictures
from cuescope_shape_world.words import COLOURS, KINDS, PHRASES
from cuescope_shape_world.worlds import draw_world

PICTURES_VERSION = 1  # part of the fingerprint: raise it when a seed gives others
FRAMES = 16  # of a video
EVERY = 4  # which of them are shown
# Of no shape here, but what readers of pictures may ask for.
STRANGE = ("orange", "purple", "brown", "black", "white", "grey", "magenta")
# More of these sentences drown the plain ones.
PLACED = 4  # about places
DENIED = 4  # denials of each sort

# of a name, its colour and its kind
PRESENCE = "There is {article} {0}."
ABSENCE = "There is no {0}."
COLOUR = "The {2} is {1}."
DENIAL = "The {2} is not {1}."

Sentence = tuple[str, bool]
"""Its text, and whether it is true of the picture."""


class ShapePicturesOptions(Options):
    """What to generate; the part after `shape-pictures:` is `split`."""

    argument: ClassVar[str | None] = "split"

    split: Literal["train", "val", "test"] = Field(
        "val", description="which split to show"
    )
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

    Options = ShapePicturesOptions
    options: ShapePicturesOptions
    labels: tuple[str, ...] = ()

    def __init__(self, options: ShapePicturesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest(
            "shape-pictures",
            PICTURES_VERSION,
            DRAWING_VERSION,
            options.split,
            options.size,
            options.seed,
        )
        self.facts = {"pictures": f"{options.size}, split {options.split}"}

    def __len__(self) -> int:
        return self.options.size

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        video, position = divmod(index, FRAMES // EVERY)
        seed = self.options.seed
        split = self.options.split
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


# the pictures of a video follow each other
@lru_cache(maxsize=8)
def _video(
    seed: int,
    split: str,
    index: int,
) -> tuple[Picture, ...]:
    rng = generator(seed, "shape-pictures", split, str(index))
    world = draw_world(rng, FRAMES, PHRASES)
    return pictures(world)


# ------------------------------------------------------------------------------------ captions


def describe(picture: Picture, rng: Generator) -> dict[str, tuple[str, ...]]:
    """Captions and foils: all about presence and colour of what can be seen, some places, denials.

    A sentence with "no" or "not" says the opposite in nearly the same words; were there as many of
    these, no word would mean anything for long.
    """
    boxes: dict[str, Box] = {}
    for phrase, x, y in picture.shapes:
        boxes[phrase] = (x, y, x + SIDE, y + SIDE)
    shapes = list(boxes)
    kinds = sorted({phrase.split()[1] for phrase in shapes})
    present = sorted(shapes + kinds)
    every = (*PHRASES, *KINDS)
    absent = [name for name in every if name not in present]
    coloured = [f"{colour} {kind}" for kind, colour in product(kinds, COLOURS)]
    lacking = [phrase for phrase in coloured if phrase not in shapes]
    # What is drawn at random is drawn in this order.
    strange = [f"{rng.choice(STRANGE)} {kind}" for kind in kinds]
    sentences = _sentences(PRESENCE, every, present)
    sentences += _sentences(COLOUR, coloured, shapes)
    sentences += _sentences(PRESENCE, strange, ())
    sentences += _sentences(COLOUR, strange, ())
    sentences += _draw_some(list(_places(boxes)), PLACED, rng)
    denials = (
        _sentences(ABSENCE, present, ()),
        _sentences(ABSENCE, absent, absent),
        _sentences(DENIAL, shapes, ()),
        _sentences(DENIAL, lacking, lacking),
    )
    for of_one_sort in denials:
        sentences += _draw_some(of_one_sort, DENIED, rng)
    captions = []
    foils = []
    for text, is_true in sentences:
        if is_true:
            captions.append(text)
        else:
            foils.append(text)
    return {"captions": tuple(captions), "foils": tuple(foils)}


def _sentences(
    template: str,
    names: Sequence[str],
    right: Collection[str],
) -> list[Sentence]:
    """One about each name; it is true of those in `right`."""
    sentences = []
    for name in names:
        article = "an" if name[0] in "aeiou" else "a"
        text = template.format(name, *name.split(), article=article)
        sentences.append((text, name in right))
    return sentences


def _places(boxes: Mapping[str, Box]) -> Iterator[Sentence]:
    """Of every two shapes, both ways round."""
    for name, other in permutations(boxes, 2):
        for relation in map(RELATIONS.__getitem__, PLACES):
            if relation.holds(boxes[name], boxes[other]):
                yield f"The {name} is {relation.name} the {other}.", True
                yield f"The {name} is {relation.inverse} the {other}.", False


def _draw_some(
    sentences: Sequence[Sentence],
    most: int,
    rng: Generator,
) -> list[Sentence]:
    """At most so many, drawn at random."""
    order = rng.permutation(len(sentences))
    return [sentences[number] for number in order[:most]]
