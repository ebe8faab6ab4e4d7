"""The first verifier that can tell decides."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cuescope_sdk import Context, LazyWeights, Sample, UserError
from cuescope_sdk.grounding import SCENE, SceneFrame, Thing
from cuescope_verifiers.combined import Combined

from .claims import action, attribute, entity, motion, says

CHAIR = Thing(id="c", name="chair", box=(0, 0, 9, 9))


def combined(context: Context, *verifiers: str, **options: Any) -> Combined:
    return Combined(Combined.Options(verifiers=verifiers, options=options), context)


@pytest.fixture
def room(video: Callable[..., Sample]) -> Sample:
    """Boxes know a sofa, the scene a chair that boxes have not found."""
    plain = video({"sofa": [(0, 0, 9, 9)]}, {"sofa": [(0, 0, 9, 9)]})
    scene = (SceneFrame(things=(CHAIR,)), SceneFrame(motion="turn left"))
    return replace(plain, annotations={SCENE: scene})


def test_the_first_that_can_tell_decides(
    room: Sample, context: Context, calls: list[Any]
) -> None:
    claims = (entity("chair"), entity("sofa"), entity("lamp"), motion("turn left", 1))
    boxes = {"box-geometry:knowing": {"threshold": 0.2}}
    both = combined(context, "scene-graph", "box-geometry:knowing", **boxes)
    assert says(both, room, *claims) == [
        "supported",
        "supported",
        "unsupported",
        "supported",
    ]
    assert {name for _, names in calls for name in names} == {"sofa", "lamp"}
    other = combined(context, "box-geometry:knowing", "scene-graph")
    assert says(other, room, *claims) == [
        "unsupported",
        "supported",
        "unsupported",
        "supported",
    ]


def test_the_first_reason_stays(room: Sample, context: Context) -> None:
    claims = (attribute("chair", "happy"), entity("zebra"), action("sofa", "sing"))
    assert says(combined(context, "scene-graph", "camera"), room, *claims) == [
        "abstract",
        "out of vocabulary",
        "out of vocabulary",
    ]


def test_what_all_can_tell_is_asked_of_the_first_alone(
    room: Sample, context: Context, calls: list[Any]
) -> None:
    assert (
        combined(context, "scene-graph", "box-geometry:knowing").judge(
            [(room, [entity("chair")]), (room, [])]
        )[1]
        == []
    )
    assert calls == []


def test_it_is_remembered_only_where_all_can_be(context: Context) -> None:
    assert combined(context, "scene-graph", "camera").fingerprint
    assert combined(context, "scene-graph", "box-geometry:knowing").fingerprint is None


def test_strangers_are_refused(context: Context) -> None:
    with pytest.raises(UserError, match="tool knowing is no claim-verifier"):
        combined(context, "knowing")
    with pytest.raises(UserError, match="options for 'camera', which is not asked"):
        combined(context, "scene-graph", camera={"turn": 0.1})


def test_weights_are_opened_through_all_layers(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(LazyWeights):
        opened = 0

        def open_weights(self) -> None:
            self.opened += 1

    tool, detector = combined(context, "camera", "box-geometry:knowing"), Late()
    monkeypatch.setattr(tool._verifiers[1], "_detector", detector)
    tool.open_weights()
    assert detector.opened == 1
