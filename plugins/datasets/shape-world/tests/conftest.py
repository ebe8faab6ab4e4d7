"""Samples of each split, drawn once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from cuescope_sdk import Context, Sample
from cuescope_shape_world import ShapeWorld, ShapeWorldOptions

Drawn = Callable[..., tuple[Sample, ...]]


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """`drawn(split, count)`: the first samples of a split."""
    folder: Path = tmp_path_factory.mktemp("cache")

    @cache
    def made(split: str = "val", count: int = 40) -> tuple[Sample, ...]:
        data = ShapeWorld(
            ShapeWorldOptions.model_validate({"split": split, split: count}),
            Context(cache=folder),
        )
        return tuple(data[index] for index in range(count))

    return made
