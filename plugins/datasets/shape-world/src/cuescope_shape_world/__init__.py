"""Long videos of shapes whose every frame is known: scene graphs, questions over time, a camera."""

from typing import Literal, Self

from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, Sample, digest, generator
from cuescope_sdk.grounding import SCENE, TIMES
from cuescope_shape_world.pictures import DRAWING_VERSION, frame
from cuescope_shape_world.questions import ask
from cuescope_shape_world.scenes import pictures, scene
from cuescope_shape_world.words import FAMILIAR, FRAME_SECONDS, HELD_OUT, PHRASES
from cuescope_shape_world.worlds import draw_world

# part of the fingerprint: raise it when a seed gives other worlds or questions
WORLD_VERSION = 1
OOD_HELD_OUT = 2  # shapes of a video in `ood` that no other split has
OOD_LONGER = 1.5  # frames of a video in `ood`, in those of the other splits


class ShapeWorldOptions(Options):
    """What to generate; the part after `shape-world:` is `split`."""

    argument = "split"

    split: Literal["train", "val", "test", "ood"] = Field(
        "val", description="which split to show; ood has shapes that no other has"
    )
    frames: int = Field(
        16,
        ge=12,
        le=64,
        description="frames of a video, half a second each; ood is half longer",
    )
    train: int = Field(400, ge=1, description="videos for training")
    val: int = Field(100, ge=1, description="videos for validation and audit")
    test: int = Field(100, ge=1, description="videos held out")
    ood: int = Field(
        100,
        ge=1,
        description="longer videos with colours on kinds never seen so",
    )
    seed: int = Field(0, ge=0, description="another seed, another draw")

    @property
    def size(self) -> int:
        return int(getattr(self, self.split))

    @property
    def length(self) -> int:
        """Frames of a video of the chosen split."""
        return round(self.frames * OOD_LONGER) if self.split == "ood" else self.frames


class ShapeWorld(Plugin):
    """Shapes move, rest, come, go, change colour and are hidden, while the camera turns at times.

    A video and its question depend on seed, split, length and index alone. Every video is drawn by
    itself, and is a group of its own.
    """

    Options = ShapeWorldOptions
    options: ShapeWorldOptions
    labels: tuple[str, ...] = ()

    def __init__(self, options: ShapeWorldOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest(
            "shape-world",
            WORLD_VERSION,
            DRAWING_VERSION,
            options.split,
            options.size,
            options.length,
            options.seed,
        )
        self.facts = {
            "videos": f"{options.size} of {options.length} frames, split {options.split}",
            "out of distribution": f"{', '.join(sorted(HELD_OUT))}: in the split ood alone",
        }

    def __len__(self) -> int:
        return self.options.size

    def __getitem__(self, index: int) -> Sample:
        # -1 is the last one too, and beyond the end it raises IndexError, by which loops stop
        index = range(len(self))[index]
        options = self.options
        length = options.length
        names = ("shape-world", options.split, str(length), str(index))
        rng = generator(options.seed, *names)
        if options.split == "ood":
            world = draw_world(rng, length, PHRASES, OOD_HELD_OUT)
        else:
            world = draw_world(rng, length, FAMILIAR)
        graphs = scene(world)
        # by index, so that the kinds of questions take turns
        question = ask(graphs, rng, index)
        key = f"{options.split}-{index:05d}"
        return Sample(
            key=key,
            group=key,
            frames=tuple(map(frame, pictures(world))),
            question=question.text,
            choices=question.choices,
            label=question.answer,
            annotations={
                "split": options.split,
                "question_type": question.kind,
                SCENE: graphs,
                TIMES: tuple(map(FRAME_SECONDS.__mul__, range(length))),
            },
        )

    def split(self, name: str) -> Self:
        """The same options on another split; no video is in two of them."""
        return self.with_options(split=name)
