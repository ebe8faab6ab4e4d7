"""`cuescope bench auditors` on a zoo of two: graded, resumed, joined by another's findings."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuescope.cli import main
from cuescope_planted_cues.naming import opaque_name
from cuescope_planted_cues.opaque import _by_name
from cuescope_planted_cues.worlds import Configuration
from cuescope_planted_cues.zoo import CLIPS, WAYS
from cuescope_sdk import Context, Trial


def small_zoo() -> list[Configuration]:
    """A cause and a null on clips of two frames."""
    world = replace(
        CLIPS,
        cues={"mark": WAYS[0]},
        size=600,
        training={"length": 2, "train": 400, "val": 60},
        auditing={"length": 2},
        model_options={"epochs": 25, "learning_rate": 0.001},
        auditors=("trove", "error-ranker", "gap-ranker"),
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
    line = ["bench", "auditors", "--workers", "1", "--out", str(out), "--json"]
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
    table = (out / "table.md").read_bytes()
    next(iter((out / "kept").glob("*.json"))).unlink()
    assert exit_code(line) == 0
    assert (out / "table.md").read_bytes() == table


@pytest.mark.long
def test_an_outsider_sees_samples_and_answers_and_is_graded_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cuescope_planted_cues.zoo.zoo", small_zoo)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    _by_name.cache_clear()
    line = ["bench", "auditors", "--json"]
    listed = tmp_path / "list.json"
    run_tables([*line, "--list", str(listed)], capsys)
    content = json.loads(listed.read_text())
    context = Context()
    nothing = {"model_calls": 0, "features": []}
    findings = {}
    for name, specs in content["configurations"].items():
        data = context.build("dataset", specs["data"])
        model = context.for_dataset(data).build("model", specs["model"])
        samples = list(map(data.__getitem__, range(len(data))))
        trials = [Trial(sample=sample) for sample in samples]
        assert len(model.respond(trials)) == len(samples) == 300
        everywhere = [[sample.key, None] for sample in samples]
        corner = {"name": "a corner", "score": 0.5, "occurrences": everywhere}
        findings[name] = {"model_calls": 7, "features": [corner]}
    stated = {"auditor": "theirs", "zoo": content["zoo"], "configurations": findings}
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps(stated))
    out = ["--workers", "1", "--out", str(tmp_path / "out"), "--findings", str(file)]
    tables = run_tables([*line, *out], capsys)
    rows = tables["Auditors"]["rows"]
    assert [row["auditor"] for row in rows] == ["theirs", "confirm on theirs"]
    assert rows[0]["causes found"] == 0
    assert rows[0]["null alarms"] == 1
    assert rows[0]["calls"] == 7
    # what is left out counts as nothing found
    cause = opaque_name(small_zoo()[0])
    file.write_text(json.dumps(stated | {"configurations": {cause: nothing}}))
    rows = run_tables([*line, *out], capsys)["Auditors"]["rows"]
    assert (rows[0]["causes"], rows[0]["null alarms"]) == (1, 0)


def run_tables(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> dict[str, dict[str, Any]]:
    """The tables that a bench prints, by title."""
    assert exit_code(line) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    return {table["title"]: table for table in tables}
