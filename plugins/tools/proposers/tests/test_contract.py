"""The sdk's contract suite on each proposer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from cuescope_proposers.co_occurrence import CoOccurrence
from cuescope_proposers.cues import CueFile
from cuescope_proposers.known import KnownCues
from cuescope_proposers.llm import LLMProposer
from cuescope_sdk import Context, Plugin
from cuescope_testing import FakeDataset, PluginShelf, ToolContract


class Writer(Plugin):
    """Lists the corners."""

    fingerprint = "writer"

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """The same list for every prompt."""
        return [f"Sure!\n1. {FakeDataset.cue}\n2. {FakeDataset.decoy}" for _ in prompts]


class Captioned(FakeDataset):
    """The fake data set with a caption of what is in the corners."""

    def annotations(self, shown: tuple[bool, ...]) -> dict[str, Any]:
        """A sentence."""
        caption = "A red corner, and a wall." if shown[0] else "A wall."
        return super().annotations(shown) | {"captions": (caption,)}


class TestCues(ToolContract):
    plugin = CueFile

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _file(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        path = tmp_path_factory.mktemp("cues") / "mine.yaml"
        path.write_text(f"{cls.label}: [{FakeDataset.cue}, {FakeDataset.decoy}]\n")
        cls.options = {"path": str(path)}


class TestCoOccurrence(ToolContract):
    plugin = CoOccurrence

    @classmethod
    def context(cls) -> Context:
        context = super().context()
        return context.for_dataset(Captioned(Captioned.Options(), context))


class TestKnown(ToolContract):
    plugin = KnownCues

    @classmethod
    def context(cls) -> Context:
        context = super().context()
        return context.for_dataset(FakeDataset(FakeDataset.Options(), context))


class TestLLM(ToolContract):
    plugin = LLMProposer
    options: ClassVar[dict[str, Any]] = {"generator": "writer"}

    @classmethod
    def context(cls) -> Context:
        tools = {("tool", cls.name): cls.plugin, ("tool", "writer"): Writer}
        return replace(super().context(), registry=PluginShelf(tools))
