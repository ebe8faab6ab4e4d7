"""Tracks over planted boxes: of two alike each is followed by itself."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from cuescope_sdk import Context, Detection, Sample, UserError
from cuescope_sdk.grounding import Claim
from cuescope_verifiers.tracks import Tracks

from .claims import action, entity, order, relation, says

needs_trackers = pytest.mark.skipif(
    not find_spec("trackers"), reason="needs pip install trackers supervision"
)


def ball(x: float, y: float = 10) -> tuple[float, float, float, float]:
    return (x, y, x + 10, y + 10)


# One ball rolls right, another lies below and goes after 2. A cup comes at 1, hides at 3, is back.
CUP, LAMP = ball(40, 40), ball(80)
TABLE = (
    {"ball": [ball(10), ball(60, 70)], "lamp": [LAMP]},
    {"ball": [ball(60, 70), ball(18)], "lamp": [LAMP], "cup": [CUP]},
    {"ball": [ball(26), ball(60, 70)], "lamp": [LAMP], "cup": [CUP]},
    {"ball": [ball(34)], "lamp": [LAMP]},
    {"ball": [ball(42)], "lamp": [LAMP], "cup": [CUP]},
)


def tool(context: Context, **options: Any) -> Tracks:
    return Tracks(Tracks.Options(detector="knowing", **options), context)


@needs_trackers
@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (action("ball", "move right", 2), "supported"),
        (action("ball", "stay", 2), "supported"),
        (action("ball", "move left", 2), "unsupported"),
        (action("lamp", "move", 2), "unsupported"),
        (action("ball", "disappear", 2), "supported"),
        (action("ball", "disappear", 1), "unsupported"),
        (action("ball", "appear"), "unsupported"),
        (action("cup", "appear", 1), "supported"),
        (action("cup", "appear", 4), "unsupported"),
        (action("cup", "disappear"), "unsupported"),
        (entity("cup", 3), "unsupported"),
        (relation("ball", "left of", "lamp", 0), "supported"),
        (
            order(action("cup", "appear"), "before", action("ball", "disappear")),
            "supported",
        ),
        (
            order(action("cup", "appear"), "after", action("ball", "disappear")),
            "unsupported",
        ),
        (action("ball", "bounce", 1), "out of vocabulary"),
    ],
)
def test_verdicts(
    video: Callable[..., Sample], context: Context, said: Claim, verdict: str
) -> None:
    assert says(tool(context), video(*TABLE), said) == [verdict]


@needs_trackers
def test_numbers_follow_the_things() -> None:
    from cuescope_verifiers.tracks import track

    seen = [
        [Detection(name="ball", score=0.9, box=b) for b in of["ball"]] for of in TABLE
    ]
    tracks = [[box.track for box in of] for of in track(seen, 2, -0.4, 0.3)]
    assert tracks[0][0] == tracks[1][1] == tracks[2][0] == tracks[3][0]
    assert tracks[0][1] == tracks[1][0] == tracks[2][1] != tracks[0][0]
    far = [[Detection(name="ball", score=0.9, box=ball(x))] for x in (0, 80)]
    [[one], [other]] = track(far, 2, -0.4, 0.3)
    assert one.track != other.track


def test_the_missing_library_is_named(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trackers", None)
    with pytest.raises(
        UserError,
        match=r"trackers is not installed.*install .*cuescope-verifiers\[tracks\]",
    ):
        tool(context)
