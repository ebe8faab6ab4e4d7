"""Strategies change the question, and their figures are those of the answers."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from cuescope_sdk import Report, Response, Trial
from cuescope_spurlens.mitigations import DESCRIBE, STRATEGIES, Hints
from cuescope_spurlens.paper import mitigation_rows
from cuescope_testing import Setup

Making = Callable[..., Setup]
HINTS = Hints("cup", ("table", "tree"), "table", "A room.")


def rows(
    report: Report, title: str = "Other ways of asking"
) -> dict[str, dict[str, Any]]:
    table = next(table for table in report.tables if table.title == title)
    return {str(row["metric"]): dict(row) for row in table.rows}


def test_what_each_strategy_tells() -> None:
    put = {
        name: strategy.put("Is there a cup?", HINTS)
        for name, strategy in STRATEGIES.items()
    }
    assert put["ensemble"] == "Is there a cup?"
    assert "A room." in put["dual"]
    assert "table" in put["spurious-list"]
    assert "tree" in put["spurious-list"]
    assert "tree" not in put["spurious-top"]
    assert all("Is there a cup?" in words for words in put.values())


def test_a_model_that_heeds_the_warning_loses_the_gap(setup: Making) -> None:
    class Heeding(setup().model):  # type: ignore[misc, name-defined]
        def answer(self, trial: Trial) -> Response:
            warned = "do not prove" in (trial.sample.question or "")
            self.options = self.options.model_copy(
                update={"cue": "" if warned else "table"}
            )
            return super().answer(trial)  # type: ignore[no-any-return]

    report = setup(
        model=Heeding, classes=("cup",), mitigation=("spurious-top",)
    ).report()
    metrics = rows(report)
    assert metrics["PA with the cue"]["baseline"] == 100
    assert metrics["PA with the cue"]["spurious-top"] < 90
    assert (
        metrics["HR with the cue"]["spurious-top"]
        < metrics["HR with the cue"]["baseline"] - 40
    )
    assert "HR blank" in metrics
    changes = rows(report, "What other ways of asking change")
    for metric in ("PA with the cue", "HR with the cue", "HR without"):
        change = changes[metric]["spurious-top"].replace("−", "-")
        value, low, high = map(float, re.findall(r"[-+]?\d+\.\d+", change))
        plain, warned = metrics[metric]["baseline"], metrics[metric]["spurious-top"]
        assert value == pytest.approx(warned - plain, abs=0.06)
        assert low < value < high
        # where there is no cue nothing is heeded
        assert (high < 0) == (metric != "HR without")
    assert changes["HR blank"]["spurious-top"].endswith("few")  # one image a class


def test_ensembling_is_the_majority_of_the_questions(setup: Making) -> None:
    class Torn(setup().model):  # type: ignore[misc, name-defined]
        def answer(self, trial: Trial) -> Response:
            seen = (trial.sample.question or "").startswith(("Do you", "Is there"))
            return Response(text="yes" if seen else "no")

    metrics = rows(
        setup(model=Torn, classes=("cup",), mitigation=("ensemble",)).report()
    )
    assert metrics["PA without"]["baseline"] == pytest.approx(200 / 3)
    assert metrics["PA without"]["ensemble"] == 100


def test_dual_asks_for_a_description_first_and_shows_it(setup: Making) -> None:
    asked: list[str] = []

    class Describing(setup().model):  # type: ignore[misc, name-defined]
        def answer(self, trial: Trial) -> Response:
            asked.append(trial.sample.question or "")
            if asked[-1] == DESCRIBE:
                return Response(text="A plain\nroom.")
            return super().answer(trial)  # type: ignore[no-any-return]

    setup(model=Describing, classes=("cup",), mitigation=("dual",), k=10).report()
    described = [
        ask
        for ask in asked
        if ask.startswith("You said of this image: A plain room.\n")
    ]
    assert len(described) == 3 * asked.count(DESCRIBE)
    assert asked.index(DESCRIBE) < asked.index(described[0])


def test_the_papers_figures_stand_beside_its_own_data_alone() -> None:
    metrics = {
        row["metric"]: row
        for row in mitigation_rows("HardImageNet", "Llama-3.2", ["guiding"])
    }
    assert metrics["HR with the cue"]["guiding"] == 15.1
    assert mitigation_rows(None, "Llama-3.2", ["guiding"]) == []
