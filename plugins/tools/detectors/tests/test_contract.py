"""The sdk's contract suite on each tool."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_detectors import GroundingDino, Owl
from cuescope_detectors.annotated import AnnotatedBoxes, AnnotatedMasks
from cuescope_detectors.grounded_sam import GroundedSam
from cuescope_sdk import Context, Detection, Frame
from cuescope_testing import FakeDataset, FakeDetector, PluginShelf, ToolContract


class Annotated(FakeDataset):
    """The fake data set with the red corner's box and mask."""

    def annotations(self, shown: tuple[bool, ...]) -> dict[str, Any]:
        """The corner is annotated for the sample, as its first frame shows it."""
        corner = np.zeros((8, 8, 3), dtype=np.uint8)
        corner[:3, :3] = 255 * shown[0]
        box = Detection(name=FakeDataset.cue, score=1.0, box=(0, 0, 3, 3))
        known = {
            "boxes": (box,) * shown[0],
            "masks": {FakeDataset.cue.upper(): Frame.from_array(corner)},
        }
        return super().annotations(shown) | known


class _Tool(ToolContract):
    device = "cpu"
    data = Annotated


class _Tiny(_Tool):
    """The suite on the model folder named `kind`."""

    kind_of_model: ClassVar[str]
    given: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folders: dict[str, Path]) -> None:
        cls.options = {"model": str(folders[cls.kind_of_model]), **cls.given}


class TestOwl2(_Tiny):
    plugin = Owl
    kind_of_model = "owlv2"


class TestOwlViT(_Tiny):
    plugin = Owl
    kind_of_model = "owlvit"


class TestHalfPrecision(_Tiny):
    plugin = Owl
    kind_of_model = "owlvit"
    dtype = "bfloat16"


class TestGroundingDino(_Tiny):
    plugin = GroundingDino
    kind_of_model = "grounding-dino"


class _Knowing(_Tool):
    """A tool that asks the data set."""

    @classmethod
    def context(cls) -> Context:
        context = super().context()
        return context.for_dataset(Annotated(Annotated.Options(), context))


class TestBoxes(_Knowing):
    plugin = AnnotatedBoxes


class TestMasks(_Knowing):
    plugin = AnnotatedMasks


class TestSam(_Tiny):
    plugin = GroundedSam
    kind_of_model = "sam"
    given: ClassVar[Mapping[str, Any]] = {"detector": "corners"}

    @classmethod
    def context(cls) -> Context:
        tools = {("tool", cls.name): cls.plugin, ("tool", "corners"): FakeDetector}
        return replace(super().context(), registry=PluginShelf(tools))
