"""Stars, warnings and legends of the tables."""

from types import SimpleNamespace

import pytest

from cuescope_quag.losing import Loss
from cuescope_quag.showing import few_videos, points, type_notes
from cuescope_sdk import Sample


@pytest.mark.parametrize(
    ("low", "high", "tested", "star"),
    [(1, 9, True, True), (1, 9, False, False), (-1, 9, True, False), (0, 9, True, False),
     (-9, -1, True, True)],
)  # fmt: skip
def test_a_star_needs_the_test_and_the_interval(
    low: float, high: float, tested: bool, star: bool
) -> None:
    loss = Loss(
        rate=50, lost=(low + high) / 2, p_value=0, p_costs=1, p_spared=1, low=low, high=high
    )
    assert points(loss, tested).endswith(" *") == star
    assert not points(Loss(50, 5, 0, 1, 1), True).endswith("*")


def test_intervals_of_few_videos_are_warned_of() -> None:
    assert few_videos(9)[0].startswith("Videos: 9; intervals over so few are rough")
    assert not few_videos(10)


def answered(*annotations: dict[str, str]) -> SimpleNamespace:
    return SimpleNamespace(
        samples=[Sample(key=str(n), frames=(), annotations=a) for n, a in enumerate(annotations)]
    )


def test_types_have_their_words() -> None:
    named = answered({"question_type": "X", "question_type_name": "a riddle"}, {})
    assert type_notes(named, ["X", "Y"], "accuracy") == ["X: a riddle."]
    assert type_notes(named, ["Y"], "accuracy") == []
    [clavi, plain] = type_notes(answered(), ["BE", "E-NC"], "balanced accuracy")
    assert clavi.startswith("BE: at the beginning or at the end; E-NC: existence of an action that")
    assert "plain accuracy in a type with one right answer" in plain
    assert type_notes(answered(), [], "balanced accuracy") == []
