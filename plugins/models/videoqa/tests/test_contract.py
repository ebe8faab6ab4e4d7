"""The sdk's contract suite on the four models, over frames that know their video file."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from videoqa_samples import PLUGINS, options, video

from cuescope_sdk import Sample
from cuescope_testing import FakeDataset, ModelContract

VIDEOS = ("one", "two", "three", "four", "five")


class Questions(FakeDataset):
    """The fake data's labels as choices, over videos of which there are features."""

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        question = f"what is it {'before' if index % 2 else 'after the door'} ?"
        frames = video(VIDEOS[index % len(VIDEOS)], len(sample.frames))
        return replace(sample, frames=frames, question=question)


class _Small(ModelContract):
    """The suite on the model `name`."""

    device = "cpu"
    data = Questions
    count = 5
    name: ClassVar[str]
    other: ClassVar[dict[str, Any]] = {"head_dim": 16}

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _small(cls, place: Path) -> None:
        cls.options = options(cls.name, place)
        cls.other_options = {**cls.options, **cls.other}


class TestJustAsk(_Small):
    name, plugin = "just-ask", PLUGINS["just-ask"]


class TestFrozenBiLM(_Small):
    name, plugin = "frozen-bilm", PLUGINS["frozen-bilm"]
    other: ClassVar[dict[str, Any]] = {"video_features": 8}


class TestSingularity(_Small):
    name, plugin = "singularity", PLUGINS["singularity"]
    other: ClassVar[dict[str, Any]] = {"answers": None}


class TestAllInOne(_Small):
    name, plugin = "all-in-one", PLUGINS["all-in-one"]


@pytest.mark.long
class TestHalfPrecision(_Small):
    name, plugin = "all-in-one", PLUGINS["all-in-one"]
    dtype = "bfloat16"
