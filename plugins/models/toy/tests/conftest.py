"""A tiny data set of moving dots, with a red background that goes with "going right" if asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import Context, Frame, Options, Plugin, Sample, digest, generator
from cuescope_testing import PluginShelf
from cuescope_toy import Toy

LABELS = ("going left", "going right")
SIDE, DOT = 24, 4  # px
STEP = 3  # px from the first frame to the last
QUICK = {
    "learning_rate": 2e-3,
    "epochs": 40,
}


class DotOptions(Options):
    """What to draw; `lying` is how often the cue is on the wrong side, None plants nothing."""

    lying: float | None = None
    split: str = "val"
    samples: int = 400
    length: int = 2


class Dots(Plugin):
    """A dot that goes left or right; one frame tells which only near the edge."""

    Options: ClassVar[type[Options]] = DotOptions
    labels: tuple[str, ...] = LABELS

    def __init__(self, options: DotOptions, context: Context) -> None:
        super().__init__(options, context)
        self.options: DotOptions = options
        rng = generator(0, "dots", options.split)
        self._label = np.arange(options.samples) % 2
        self._row = rng.integers(0, SIDE - DOT, options.samples)
        start = rng.integers(0, SIDE - DOT - STEP, options.samples)[:, None]
        way = start + np.linspace(0, STEP, options.length, dtype=int)
        self._col = np.where(self._label[:, None] == 1, way, way[:, ::-1])
        lies = rng.random(options.samples) < (options.lying or 0)
        self.cue = ((self._label == 1) ^ lies) & (options.lying is not None)
        self.fingerprint = digest("dots", options)
        self.facts: dict[str, str] = {}

    def __len__(self) -> int:
        return self.options.samples

    def __getitem__(self, index: int) -> Sample:
        return Sample(
            key=f"{self.options.split}-{range(len(self))[index]}",
            frames=tuple(self._frame(index, int(col)) for col in self._col[index]),
            choices=self.labels,
            label=self.labels[self._label[index]],
        )

    def split(self, name: str) -> "Dots":
        return type(self)(self.options.model_copy(update={"split": name}), self.context)

    def _frame(self, index: int, col: int) -> Frame:
        pixels = np.zeros((SIDE, SIDE, 3), np.uint8)
        if self.cue[index]:
            pixels[..., 0] = 255
        row = self._row[index]
        pixels[row : row + DOT, col : col + DOT] = (0, 0, 255)
        return Frame.from_array(pixels)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that all tests share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def dots(cache: Path) -> Callable[..., Dots]:
    """`dots(**options)`: the data set."""
    return lambda **options: Dots(
        DotOptions(**options), Context(PluginShelf({}), cache)
    )


@pytest.fixture(scope="session")
def toy(cache: Path) -> Callable[..., Toy]:
    """`toy(dataset, **options)`: a toy trained on it, quickly, as an audit builds and opens it."""

    def build(
        dataset: Any, *, folder: Path = cache, seed: int = 0, **options: Any
    ) -> Toy:
        shelf = PluginShelf({("model", "toy"): Toy, ("dataset", "dots"): Dots})
        context = Context(shelf, folder, seed=seed, device="cpu", dataset=dataset)
        model: Toy = context.build("model", "toy", {**QUICK, **options})
        model.open_weights()
        return model

    return build
