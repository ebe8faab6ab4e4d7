"""`cuescope bench auditors` on a zoo of two: graded, resumed, joined by another's findings."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope_cuebench.worlds import Configuration
from cuescope_cuebench.zoo import CLIPS, WAYS


def small_zoo() -> list[Configuration]:
    """A cause and a null on clips of two frames."""
    world = replace(
        CLIPS,
        cues={"mark": WAYS[0]},
        size=240,
        training={"length": 2, "train": 400, "val": 60},
        auditing={"length": 2},
        model_options={"epochs": 25, "learning_rate": 0.001},
        auditors=("trove",),
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
    monkeypatch.setattr("cuescope_cuebench.zoo.zoo", small_zoo)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    cause, null = (each.name for each in small_zoo())
    everywhere = [[f"val-{number:05d}", None] for number in range(100)]
    stated = {"name": "a corner", "score": 0.5, "occurrences": everywhere}
    theirs = {"auditor": "theirs", "configurations": {}}
    for name in (cause, null):
        theirs["configurations"][name] = {"model_calls": 7, "features": [stated]}
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps(theirs))
    out = tmp_path / "out"
    line = [
        "bench",
        "auditors",
        "--workers",
        "1",
        "--out",
        str(out),
        "--findings",
        str(file),
        # of a file its auditor alone is graded, and who is named beside it
        "--auditor",
        "trove",
    ]
    line += ["--json"]
    assert exit_code(line) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    of_title = {table["title"]: table for table in tables}
    configurations = {
        row["configuration"]: row for row in of_title["Configurations"]["rows"]
    }
    assert [row["role"] for row in configurations.values()] == ["cause", "null"]
    assert configurations[cause]["use"] > 10
    auditors = {row["auditor"]: row for row in of_title["Auditors"]["rows"]}
    assert auditors["answer-sheet"]["P@1"] == 1
    assert auditors["theirs"]["P@1"] == 0
    assert auditors["theirs"]["null alarms"] == 1
    assert auditors["theirs"]["calls"] == 7
    assert {"trove", "confirm on trove", "confirm on theirs"} <= auditors.keys()
    table = (out / "table.md").read_bytes()
    next(iter((out / "kept").glob("*.json"))).unlink()
    assert exit_code(line) == 0
    assert (out / "table.md").read_bytes() == table
    theirs["configurations"]["another"] = theirs["configurations"][null]
    file.write_text(json.dumps(theirs))
    capsys.readouterr()
    assert exit_code(line) == 2
    assert "no configuration 'another'" in capsys.readouterr().err
