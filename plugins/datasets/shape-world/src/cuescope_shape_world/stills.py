"""Single frames of such videos with all that can be said of them, for models of image and text."""

from functools import lru_cache
from typing import ClassVar, Literal, Self

from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, Sample, digest, generator
from cuescope_shape_world.captions import say
from cuescope_shape_world.drawing import DRAWING_VERSION, Picture, frame
from cuescope_shape_world.scenes import pictures
from cuescope_shape_world.words import PHRASES
from cuescope_shape_world.worlds import draw_world

PICTURES_VERSION = 1  # part of the fingerprint: raise it when a seed gives others
FRAMES, EVERY = 16, 4  # of a video; which of them are shown


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
        """Pictures of the chosen split."""
        return int(getattr(self, self.split))


class ShapePictures(Plugin):
    """Four frames of each of many videos that `shape-world` never shows; every shape occurs.

    The annotation "captions" has short sentences that are true of what can be seen, "foils" some
    that are not.
    """

    Options: ClassVar[type[Options]] = ShapePicturesOptions
    labels: tuple[str, ...] = ()

    def __init__(self, options: ShapePicturesOptions, context: Context) -> None:
        super().__init__(options, context)
        self.options: ShapePicturesOptions = options
        self.fingerprint = digest(
            "shape-pictures", PICTURES_VERSION, DRAWING_VERSION,
            options.split, options.size, options.seed,
        )  # fmt: skip
        self.facts = {"pictures": f"{options.size}, split {options.split}"}

    def __len__(self) -> int:
        return self.options.size

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        video, place = divmod(index, FRAMES // EVERY)
        seed, split = self.options.seed, self.options.split
        picture = _video(seed, split, video)[EVERY * place]
        said = say(picture, generator(seed, "shape-pictures", split, "said", str(index)))
        return Sample(
            key=f"{split}-{index:05d}",
            frames=(frame(picture),),
            annotations={
                "split": split, "captions": said.captions, "foils": said.foils,
            },
        )  # fmt: skip

    def split(self, name: str) -> Self:
        """The same options on another split; no video is in two of them."""
        return self.with_options(split=name)


@lru_cache(maxsize=8)
def _video(seed: int, split: str, index: int) -> tuple[Picture, ...]:
    """The pictures of a video."""
    rng = generator(seed, "shape-pictures", split, str(index))
    return pictures(draw_world(rng, FRAMES, PHRASES))


__all__ = ["ShapePictures", "ShapePicturesOptions"]
