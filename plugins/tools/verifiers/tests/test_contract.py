"""The sdk's contract suite on each verifier."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import Context, Trial, generator
from cuescope_sdk.grounding import SCENE, SceneFrame, Thing
from cuescope_testing import (
    FakeDataset,
    FakeDetector,
    FakeModel,
    PluginShelf,
    ToolContract,
)
from cuescope_verifiers.box_geometry import BoxGeometry
from cuescope_verifiers.camera import Camera
from cuescope_verifiers.combined import Combined
from cuescope_verifiers.image_text import ImageText
from cuescope_verifiers.options import BoxOptions
from cuescope_verifiers.scene_graph import SceneGraph
from cuescope_verifiers.tracks import Tracks


class Annotated(FakeDataset):
    """The fake data set with its red corner as a scene."""

    def annotations(self, shown: tuple[bool, ...]) -> dict[str, Any]:
        """The corner where it is shown, and nothing else is told."""
        corner = Thing(
            id="corner", name="corner", attributes=("red",), box=(0, 0, 3, 3)
        )
        closed = frozenset({"things"})
        scene = tuple(
            SceneFrame(things=(corner,) * there, closed=closed) for there in shown
        )
        return super().annotations(shown) | {SCENE: scene}


class Pair(FakeModel):
    """With a text tower: a direction a sentence."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Rows as long as the fake model's embeddings."""
        sample = FakeDataset(FakeDataset.Options(), self.context)[0]
        [said] = self.respond([Trial(sample=sample, outputs=frozenset({"embedding"}))])
        return np.stack(
            [generator(0, text).normal(size=len(said.embedding)) for text in texts]
        )


class _Verifier(ToolContract):
    device = "cpu"
    data = Annotated

    @classmethod
    def context(cls) -> Context:
        shelf = {
            ("tool", cls.name): cls.plugin,
            ("tool", "corners"): FakeDetector,
            ("tool", "scene-graph"): SceneGraph,
            ("tool", "camera"): Camera,
            ("model", "pair"): Pair,
        }
        return replace(super().context(), registry=PluginShelf(shelf))


class TestSceneGraph(_Verifier):
    plugin = SceneGraph


class TestBoxGeometry(_Verifier):
    plugin = BoxGeometry
    options: ClassVar[Mapping[str, Any]] = {"detector": "corners"}


@pytest.mark.skipif(
    not find_spec("trackers"), reason="needs pip install trackers supervision"
)
class TestTracks(_Verifier):
    plugin = Tracks
    options: ClassVar[Mapping[str, Any]] = {"detector": "corners"}


class TestImageText(_Verifier):
    plugin = ImageText
    options: ClassVar[Mapping[str, Any]] = {"model": "pair"}


class TestCamera(_Verifier):
    plugin = Camera


class TestCombined(_Verifier):
    plugin = Combined


def test_boxes_and_scene_judge_the_planted_corner_alike() -> None:
    context, cases = TestSceneGraph.context(), TestSceneGraph().inputs("claim-verifier")
    tools = (
        BoxGeometry(BoxOptions(detector="corners"), context),
        SceneGraph(None, context),
    )
    boxes, scene = (
        [[one.verdict for one in said[:2]] for said in t.judge(cases)] for t in tools
    )
    assert boxes == scene
    assert {said[0] for said in boxes} == {"supported", "unsupported"}
