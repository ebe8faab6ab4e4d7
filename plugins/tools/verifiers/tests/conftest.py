"""Videos with planted boxes, and detectors that know them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from cuescope_sdk import Context, Detection, Frame, Plugin, Sample
from cuescope_testing import PluginShelf
from cuescope_verifiers.box_geometry import BoxGeometry
from cuescope_verifiers.camera import Camera
from cuescope_verifiers.scene_graph import SceneGraph

Boxes = Mapping[str, Sequence[tuple[float, float, float, float]]]
SIDE = 100
PLANTED: dict[str, Boxes] = {}
CALLS: list[tuple[list[str], list[str]]] = []


class Knowing(Plugin):
    """Finds what was planted in a frame, under the very name; says what it was asked."""

    score = 0.9

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        CALLS.append(([frame.key for frame in frames], list(names)))
        return [
            tuple(
                Detection(name=name, score=self.score, box=box)
                for name in names
                for box in PLANTED[frame.key].get(name, ())
            )
            for frame in frames
        ]


class Narrow(Knowing):
    """A closed vocabulary."""

    names = frozenset({"chair", "dining table", "person"})


class Doubtful(Knowing):
    score = 0.05


@pytest.fixture
def calls() -> list[tuple[list[str], list[str]]]:
    """The frames and names of each call of a detector in this test."""
    CALLS.clear()
    return CALLS


@pytest.fixture
def video() -> Callable[..., Sample]:
    """`video(boxes of frame 0, ...)`: a sample whose frames the detectors know."""

    def made(*of_frames: Boxes, key: str = "video") -> Sample:
        frames = []
        for boxes in of_frames:
            pixels = np.full((SIDE, SIDE, 3), 0, np.uint8)
            pixels.flat[:4] = np.frombuffer(np.uint32(len(PLANTED)).tobytes(), np.uint8)
            frames.append(Frame.from_array(pixels))
            PLANTED[frames[-1].key] = boxes
        return Sample(key=key, frames=tuple(frames))

    return made


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """With the detectors here, and verifiers that need no weights."""
    tools = {
        "knowing": Knowing,
        "narrow": Narrow,
        "doubtful": Doubtful,
        "box-geometry": BoxGeometry,
        "scene-graph": SceneGraph,
        "camera": Camera,
    }
    shelf = PluginShelf(
        {("tool", name): tool for name, tool in tools.items()}, installed=True
    )
    return Context(registry=shelf, cache=tmp_path, device="cpu")
