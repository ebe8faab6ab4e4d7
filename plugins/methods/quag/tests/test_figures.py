"""Which questions a finding shows."""

from dataclasses import replace
from typing import Any

from cuescope_quag.analysis import Figures
from cuescope_quag.figures import deciding_type
from cuescope_quag.scores import Loss, Rule


def test_a_finding_shows_the_same_questions_twice(audited) -> None:
    """Titles have the figures of the rows; the right answer goes where the attention was needed."""
    report = audited("both", "both")
    findings = [score.feature for score in report.findings]
    assert [shown.feature for shown in report.contrasts] == findings
    accuracies = {
        row["condition"]: str(row["accuracy"]) for row in report.tables[0].rows
    }
    for shown in report.contrasts:
        key = "SC: crossmodal" if shown.feature == "verdict" else shown.feature
        assert shown.label is None
        plain, changed = shown.sides
        assert plain.title == "As it is: accuracy 93.1% in 160 questions"
        lost = accuracies[key].rstrip("\N{DOWNWARDS ARROW}")
        assert changed.title.endswith(f": accuracy {lost}% in 160 questions")
        sentence = str(
            report.sentence(next(s for s in report.findings if s.feature == key))
        )
        assert f"({lost}% instead of 93.1%)" in sentence
        keys = [
            [e.occurrence.sample.split("/")[0][:8] for e in side.exhibits]
            for side in shown.sides
        ]
        assert keys[0] == keys[1]
    crossmodal = next(s for s in report.contrasts if s.feature == "SC: crossmodal")
    assert crossmodal.sides[1].title.startswith(
        "With attention between video and text averaged"
    )
    # 93% are right before and 22% after: the median question is lost
    assert [side.exhibits[0].correct for side in crossmodal.sides] == [True, False]
    assert (
        crossmodal.sides[0].exhibits[0].words == crossmodal.sides[1].exhibits[0].words
    )
    blind = next(s for s in report.contrasts if s.feature == "without video")
    assert {str(e.words)[-21:] for e in blind.sides[1].exhibits} == {
        " (no video was shown)"
    }


def test_a_verdict_that_rests_on_a_type_shows_that_type() -> None:
    every = Loss(60, 2, 0.01, p_costs=0.9, p_spared=0.9)
    odd = Loss(40, 30, 0.001, p_costs=0.001, p_spared=1)
    nothing: Any = None
    all_alike: Any = (None, {"SC: crossmodal": every})
    by_type: Any = {"odd": (None, {"SC: crossmodal": odd}), "even": all_alike}
    by_measure = {"accuracy": all_alike}
    figures = Figures(nothing, nothing, Rule(), "accuracy", by_measure, by_type)
    assert deciding_type(figures, "SC: crossmodal") == "odd"
    even = replace(figures, by_type={"even": all_alike})
    assert deciding_type(even, "SC: crossmodal") is None
