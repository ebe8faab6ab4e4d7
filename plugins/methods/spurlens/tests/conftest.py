"""A kitchen whose truth is planted: cups give themselves away by tables, and nothing else does."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Detection,
    Frame,
    HideTokens,
    Options,
    PlantedCue,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    digest,
    generator,
)
from cuescope_spurlens import SpurLens
from cuescope_testing import Setup

CLASSES = ("cup", "lamp", "clock")
THINGS = ("table", "tree", "rug", "window")
NAMES = (*CLASSES, *THINGS)
SIDE = 8
Box = tuple[float, float, float, float]


def box_of(name: str) -> Box:
    """Each name has a row of the image for itself."""
    row = NAMES.index(name)
    return 0, row, SIDE, row + 1


class KitchenOptions(Options):
    """What is drawn."""

    samples: int = Field(240, description="images")
    seed: int = Field(0, description="another seed, another draw")
    rate: float = Field(0.5, description="share of images with each name")


class Kitchen(Plugin):
    """A bright row of pixels for each name that is there."""

    Options: ClassVar[type[Options]] = KitchenOptions
    labels = CLASSES
    planted_cues: tuple[PlantedCue, ...] = (
        PlantedCue(key="table beside cup", name="table", labels=("cup",)),
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        rng = generator(options.seed, "kitchen")
        self.present = rng.random((options.samples, len(NAMES))) < options.rate
        self.grain = rng.integers(
            0, 99, (options.samples, SIDE, SIDE, 3), dtype=np.uint8
        )
        self.fingerprint = digest("kitchen", options.model_dump())

    def __len__(self) -> int:
        return len(self.present)

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        here = tuple(
            n for n, there in zip(NAMES, self.present[index], strict=True) if there
        )
        pixels = self.grain[index].copy()
        for name in here:
            pixels[NAMES.index(name)] += 150
        return Sample(
            key=f"kitchen-{index:03d}",
            frames=(Frame.from_array(pixels),),
            annotations={
                "objects": tuple(name for name in here if name in CLASSES),
                "masks": {name: outline_of(name) for name in here},
                "cues": {"table beside cup": ("table" in here,)},
            },
        )


@cache
def outline_of(name: str) -> Frame:
    """The row of a name, in white."""
    outline = np.zeros((SIDE, SIDE, 3), np.uint8)
    outline[NAMES.index(name)] = 255
    return Frame.from_array(outline)


def names_in(pixels: np.ndarray) -> set[str]:
    """What the rows say is there."""
    means = pixels.mean(axis=(1, 2)).tolist()
    return {name for name, mean in zip(NAMES, means, strict=False) if mean > 120}


@cache
def luck(key: str) -> float:
    """0 to 1, for a question about an image; drawn once in all audits."""
    return float(generator(0, "eyes", key).random())


class EyesOptions(Options):
    """How it errs."""

    cue: str = Field("table", description="what makes it see a cup; empty: nothing")
    errs: float = Field(
        0.3, description="share of its answers that are wrong for no reason"
    )
    speaks: str = Field("{}", description="how it says yes and no")


class Eyes(Plugin):
    """Sees what is there and errs at random; with the cue it always sees a cup."""

    Options: ClassVar[type[Options]] = EyesOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "text"}),  # type: ignore[arg-type]
        edits=frozenset({"hide-tokens"}),
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("eyes", options.model_dump())

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        sample = trial.sample
        pixels = np.asarray(sample.frames[0].load())
        if isinstance(trial.edit, HideTokens):
            pixels = np.where(trial.edit.mask[0][..., None], 0, pixels)
        here, words = names_in(pixels), (sample.question or "").lower()
        classes = [
            w for w in words.replace("?", "").replace(".", "").split() if w in CLASSES
        ]
        asked = classes[-1] if classes else None  # what is asked comes last
        key = digest(sample.frames[0].key, asked, digest(trial.edit))
        wrong = luck(key) < self.options.errs
        yes = (asked in here) != wrong or (asked == "cup" and self.options.cue in here)
        word = "yes" if yes else "no"
        return Response(
            logits=np.array([yes, not yes], np.float32)
            if "logits" in trial.outputs
            else None,
            text=self.options.speaks.format(word) if "text" in trial.outputs else None,
        )


class Finder(Plugin):
    """A detector that reads the rows; it knows nothing of what is not in a kitchen."""

    shown: ClassVar[list[tuple[int, int]]] = []
    fingerprint = "finder"

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        Finder.shown.append((len(frames), len(names)))
        return [tuple(self.find(frame, names)) for frame in frames]

    def find(self, frame: Frame, names: Sequence[str]) -> Iterator[Detection]:
        here = names_in(np.asarray(frame.load()))
        for name in names:
            if name in here:
                yield Detection(name=name, score=0.9, box=box_of(name))


class Namer(Plugin):
    """Names everything in a kitchen, and a dragon."""

    names: ClassVar[Sequence[str]] = (
        "a table",
        "Trees",
        "rug",
        "window",
        *CLASSES,
        "dragon",
    )

    def propose(self, label: str) -> list[str]:
        return list(self.names)


@pytest.fixture
def setup(tmp_path: Path) -> Callable[..., Setup]:
    """`setup(cue="tree", ...)`: an audit of the kitchen; other keywords are the method's."""

    def make(
        *,
        data: type[Any] = Kitchen,
        model: type[Any] = Eyes,
        tools: Mapping[str, type[Any]] = {},
        data_options: Mapping[str, Any] = {},
        model_options: Mapping[str, Any] = {},
        **options: Any,
    ) -> Setup:
        return Setup(
            SpurLens,
            model,
            data,
            # all images, for kitchens are small: the contract tests the two parts
            {"discover": 1, **options},
            model_options,
            data_options,
            tools={"proposer": Namer, "detector": Finder, **tools},
            folder=tmp_path,
        )

    return make


@pytest.fixture
def audited(setup: Callable[..., Setup]) -> Callable[..., Report]:
    """The report of such an audit."""
    return lambda **options: setup(**options).report()
