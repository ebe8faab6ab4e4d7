"""`cuescope explain` says what the words of a report mean."""

import pytest

from cuescope.cli.explain import glossary
from cuescope.report.screen import STATUS, screen
from cuescope_core.conclusions import Report

from ...conftest import Line
from ...engine.tests.reports import make_report


def heads(report: Report) -> set[str]:
    """The words before what is said below the table: `Impact`, `Status` ..."""
    lines = [line.plain for line in screen(report, "runs/one", "cuescope")]
    return {line[:11].strip(" !") for line in lines if line[:1] not in ("", " ", "*")}


@pytest.mark.parametrize("word", ["power", "q", "Q-value", "impact", "set aside"])
def test_a_word_is_explained_however_it_is_written(line: Line, word: str) -> None:
    assert len(line("explain", word)) > 40


def test_every_word_of_the_screen_is_explained() -> None:
    report = make_report(notes={"power": "80% for a cue"})
    known = {word.lower() for word in glossary()} | {"checks", "next"}
    shown = {head.lower() for head in heads(report)}
    assert {"impact", "status", "power"} <= shown & known
    meaning = glossary()["Status"].lower()
    assert all(status in meaning for status in STATUS)


def test_a_method_tells_its_figures(line: Line) -> None:
    said = line("explain", "red")
    assert "--help" in said
    assert "explained nowhere" in line("explain", "powr", code=2)
    assert "'power'" in line("explain", "powr", code=2)
