"""Figures and bars: round axes, true positions, and missing values that stay missing."""

import pytest

from cuescope.report.bars import axis, bar, figure, p_value
from cuescope_core.conclusions import Score


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], (0.0, 0.5, 1.0)),
        ([0.0], (0.0, 0.5, 1.0)),
        ([0.62, -0.1], (-0.2, 0.0, 0.2, 0.4, 0.6, 0.8)),
        ([1.0], (0.0, 0.5, 1.0)),
        ([-40.0], (-40.0, -30.0, -20.0, -10.0, 0.0)),
    ],
)
def test_an_axis_is_round_and_holds_zero_and_all_values(
    values: list[float], ticks: tuple[float, ...]
) -> None:
    scale = axis(values)
    assert scale.ticks == ticks
    assert (scale.percent(ticks[0]), scale.percent(ticks[-1])) == (0.0, 100.0)


def test_a_bar_spans_from_zero_to_its_value() -> None:
    scale = axis([-1.0, 1.0])
    score = Score(feature="f", label=None, metric="m", value=-0.5, low=-0.75, high=0.25)
    made = bar(score, scale)
    assert (made.start, made.end, made.zero, made.low, made.high) == (
        25.0,
        50.0,
        50.0,
        12.5,
        62.5,
    )
    assert made.spoken == "−0.50, interval −0.75 to 0.25"


def test_a_missing_value_is_not_drawn() -> None:
    made = bar(Score(feature="f", label=None, metric="m", value=None), axis([0.5]))
    assert (made.text, made.start, made.end, made.interval) == (
        "not measured",
        0.0,
        0.0,
        None,
    )


@pytest.mark.parametrize(
    ("values", "value", "words"),
    [
        ([0.62], 0.623, "0.62"),
        ([1.0], -0.001, "0.00"),
        ([0.004, -0.002], 0.0041, "0.0041"),
        ([250.0], 31.26, "31"),
        ([99999.0], 12345.0, "12,345"),
        ([12.0], -3.5, "−3.5"),
    ],
)
def test_values_of_a_metric_are_all_written_alike(
    values: list[float], value: float, words: str
) -> None:
    assert axis(values).words(value) == words


def test_figures_as_people_read_them() -> None:
    assert [figure(x) for x in (0.623, -0.5, 0.00123, 1234.5, 0.0, None)] == [
        "0.62",
        "−0.50",
        "0.00123",
        "1,234",
        "0.00",
        "not measured",
    ]
    assert [p_value(x) for x in (0.0312, 0.0001, None)] == ["= 0.031", "< 0.001", None]
