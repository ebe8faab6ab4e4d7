"""Figures as people read them."""

from cuescope.report.figures import figure, p_value


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
