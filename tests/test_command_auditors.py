"""`cuescope dev bench auditors` on a zoo of two: graded and resumed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuescope.cli import main
from cuescope_planted_cues.worlds import Configuration
from cuescope_planted_cues.zoo import WORLDS


def small_zoo() -> list[Configuration]:
    """A cause and a null on clips of two frames."""
    clips = WORLDS["clips"]
    world = replace(
        clips,
        cues={"mark": clips.labels[0]},
        size=600,
        training={"length": 2, "train": 400, "val": 60},
        auditing={"length": 2},
        model_options={"epochs": 25, "learning_rate": 0.001},
        auditors=("trove", "error-ranker"),
        frames=1.0,
    )
    return [next(world.pair("mark", 1)), world.null(2)]


def exit_code(line: list[str]) -> object:
    with pytest.raises(SystemExit) as ended:
        main(line)
    return ended.value.code


@pytest.mark.long
def test_a_zoo_is_graded_and_resumed_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cuescope_planted_cues.zoo.zoo", small_zoo)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    line = ["dev", "bench", "auditors", "--workers", "1", "--out", str(out), "--json"]
    of_title = run_tables(line, capsys)
    configurations = {
        row["configuration"]: row for row in of_title["Configurations"]["rows"]
    }
    cause = small_zoo()[0].name
    assert [row["role"] for row in configurations.values()] == ["cause", "null"]
    assert configurations[cause]["use"] > 10
    auditors = {row["auditor"]: row for row in of_title["Auditors"]["rows"]}
    assert auditors["answer-sheet"]["P@1"] == 1
    assert auditors["trove"]["causes found"] == 1
    assert auditors["trove"]["purity"] > 0.9
    assert {"confirm on trove", "confirm on answer-sheet"} <= auditors.keys()
    next(iter((out / "kept").glob("*.json"))).unlink()
    assert run_tables(line, capsys) == of_title


def run_tables(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> dict[str, dict[str, Any]]:
    """The tables that a bench prints, by title."""
    assert exit_code(line) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    return {table["title"]: table for table in tables}
