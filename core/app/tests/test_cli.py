"""Every command, on the fakes."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from cuescope.cli import main
from cuescope.runner import Runner
from cuescope_core.conclusions import Report
from cuescope_core.planning import Plan
from cuescope_core.runs import load_report

from ...conftest import Line, Shell

AUDIT = ("audit", "red", "--model", "colour", "--data", "clips")


# ---------------------------------------------------------------------------------------- audit


def test_audit_tells_the_finding_first(line: Line, tmp_path: Path) -> None:
    assert "1 cue found: RED EVERYWHERE " in line(*AUDIT)
    said = line(*AUDIT, "-v")
    sections = [
        "Red: colour on clips",
        "In words",
        "Ranked cues",
        "Checks$",
        "Looked at",
        "Cost",
        "Next$",
        "Run it again",
    ]
    places = [re.search(f"^{section}.*$", said, re.MULTILINE) for section in sections]
    starts = [place.start() for place in places if place]
    assert len(starts) == len(sections)
    assert starts == sorted(starts)
    assert "When red everywhere is there, 'left' loses 100 points." in said
    assert re.search(r"passed +precision", said)
    assert "cuescope audit red --model colour --data clips" in said
    (run,) = (tmp_path / "runs").glob("red-colour-clips-*")
    assert f"cuescope show --page {run.relative_to(tmp_path)}" in said


def test_the_report_fits_a_pipe(shell: Shell) -> None:
    said = shell(*AUDIT, "-O", "sizes=2,3,4")
    assert "\x1b" not in said
    assert max(map(len, said.split("pictures:")[0].splitlines())) <= 80


def test_json_is_the_whole_report(line: Line, tmp_path: Path) -> None:
    printed = Report.model_validate_json(
        line(*AUDIT, "--json", "--out", tmp_path / "run")
    )
    assert printed == load_report(tmp_path / "run")
    assert (
        json.loads((tmp_path / "run" / "report.json").read_text())["schema_version"]
        == 2
    )


def test_options_reach_their_plugins(line: Line) -> None:
    said = line(
        *AUDIT[:-1],
        "clips:24",
        "-O",
        "model.weights=fine",
        "-O",
        "sizes=5,7",
        "-O",
        "top_k=2",
        "--seed",
        "5",
        "--limit",
        "16",
        "--verify-with",
        "counting",
        "--executor",
        "threads",
        "--tool",
        "detector=finder",
        "--batch-size",
        "3",
        "--json",
    )
    asked = Report.model_validate_json(said).provenance
    assert asked.data.options["size"] == 24
    assert asked.model.options["weights"] == "fine"
    assert asked.method.options["sizes"] == [5, 7]
    assert asked.method.options["top_k"] == 2
    assert (asked.seed, asked.limit, asked.samples) == (5, 16, 16)
    assert [stamp.spec for stamp in asked.verifiers] == ["counting"]
    assert asked.tools["detector"].spec == "finder"


def test_the_printed_command_runs_again_to_the_same_report(line: Line) -> None:
    first = Report.model_validate_json(
        line(*AUDIT, "-O", "top_k=2", "--seed", "4", "--json")
    )
    words = shlex.split(first.provenance.command)
    assert words[0] == "cuescope"
    assert Report.model_validate_json(line(*words[1:], "--json")).hash == first.hash


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            80,
            [
                "at least 40, at most 120",
                "at least 30, at most 110",
                "60 s, at most 3:40 of",
            ],
        ),
        (
            0,
            [
                "trials       40",
                "model calls  30",
                "time         about 60 s of the model",
            ],
        ),
        (None, ["at least 40", "at least 30", "at least 60 s of the model"]),
    ],
)
def test_a_plan_is_bounded_where_the_method_knows_how_much_it_asks(
    line: Line, monkeypatch: pytest.MonkeyPatch, more: int | None, told: list[str]
) -> None:
    until = "the answers of the model"
    known = Plan(
        trials=40, cached=10, model_calls=30, seconds=60.0, until=until, more=more
    )
    monkeypatch.setattr(Runner, "plan", lambda self, request: known)
    said = line(*AUDIT, "--plan")
    for words in told:
        assert words in said
    assert ("at most" in said) == bool(more)
    assert (until in said) == (more != 0)


def test_plan_says_the_cost_and_asks_nothing(line: Line, tmp_path: Path) -> None:
    log = tmp_path / "log"
    said = line(*AUDIT, "-O", f"model.log={log}", "--plan")
    assert re.search(r"model calls +at least 40\n", said)
    assert "unknown until" in said
    assert not log.exists()
    line(*AUDIT)
    warm = line(*AUDIT, "-O", f"model.log={log}", "--plan")
    assert re.search(r"cache hits +40\n", warm)
    assert re.search(r"model calls +0\n", warm)
    assert not log.exists()


def test_no_cache_keeps_nothing(line: Line, tmp_path: Path) -> None:
    line(*AUDIT, "--no-cache")
    assert not (tmp_path / "cache" / "responses.sqlite").exists()
    report = Report.model_validate_json(line(*AUDIT, "--json"))
    assert report.cost.model_calls == 40


def test_an_observer_is_asked_for_by_name(line: Line, tmp_path: Path) -> None:
    line(*AUDIT, "--observe", f"file:{tmp_path / 'seen'}")
    lines = (tmp_path / "seen").read_text().splitlines()
    assert lines[0] == "started with 20"
    assert lines[-1].startswith("finished ")


# -------------------------------------------------------------------------------------- report


@pytest.mark.filterwarnings("default::FutureWarning")
def test_the_name_that_show_had_says_the_new_one(
    line: Line, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line(*AUDIT, "--out", tmp_path / "run")
    whole = line("show", tmp_path / "run")
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path / "run")])
    out, err = capsys.readouterr()
    assert out == whole
    assert "use `cuescope show`" in err


def test_one_cue_is_shown_by_its_number_or_name(line: Line, tmp_path: Path) -> None:
    line(*AUDIT, "--out", tmp_path / "run")
    whole = line("show", tmp_path / "run")
    assert line("show", tmp_path / "run", "--cue", "1") == whole
    assert line("show", tmp_path / "run", "--cue", "red everywhere") == whole
    assert "expected 1 to 1" in line("show", tmp_path / "run", "--cue", "2", code=2)


def test_report_looks_again(line: Line, tmp_path: Path) -> None:
    first = line(*AUDIT, "--out", tmp_path / "run")
    shown = first.partition("pictures:")[0]
    assert line("show", tmp_path / "run") == shown
    assert line("show", tmp_path / "run" / "report.json") == shown
    again = Report.model_validate_json(line("show", tmp_path / "run", "--json"))
    assert again == load_report(tmp_path / "run")


def test_report_writes_a_page_with_the_stored_pictures(
    line: Line, tmp_path: Path
) -> None:
    line(*AUDIT, "--out", tmp_path / "run")
    for source in (tmp_path / "run", tmp_path / "run" / "report.json"):
        line("show", source, "--html", tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        # behind it is the mark of whoever wrote it
        assert page.startswith((tmp_path / "run" / "report.html").read_text())
        assert page.count("data:image/jpeg;base64,") >= 8  # the red clips
        (tmp_path / "page.html").unlink()


# ---------------------------------------------------------------------------------------- run


def matrix(folder: Path, **changes: object) -> Path:
    file = folder / "runs.yaml"
    plain: dict[str, object] = {
        "methods": ["red"],
        "models": ["colour"],
        "data": ["clips"],
    }
    file.write_text(yaml.safe_dump(plain | changes))
    return file


def test_a_matrix_runs_and_resumes(line: Line, tmp_path: Path) -> None:
    log = tmp_path / "log"
    models = ["colour:a", {"use": "colour:b", "options": {"log": str(log)}}]
    file = matrix(tmp_path, models=models, data=["clips:8", "clips:16"])
    said = line("run", file, "--out", tmp_path / "all")
    assert "4 of 4 reports" in said
    assert len(list((tmp_path / "all").glob("*/report.json"))) == 4
    before = log.read_text()
    gone = next((tmp_path / "all").glob("*/report.json"))
    hashed = load_report(gone).hash
    kept = {
        file: file.stat().st_mtime_ns
        for file in (tmp_path / "all").glob("*/report.json")
    }
    gone.unlink()
    assert "4 of 4 reports" in line("run", file, "--out", tmp_path / "all")
    assert load_report(gone).hash == hashed
    redone = {file for file, time in kept.items() if file.stat().st_mtime_ns != time}
    assert redone == {gone}
    assert log.read_text() == before


def test_a_failing_cell_leaves_the_others(line: Line, tmp_path: Path) -> None:
    file = matrix(tmp_path, methods=["red", "hiding"])
    said = line("run", file, "--out", tmp_path / "all", code=1)
    assert "1 of 2 reports" in said
    assert " ".join(said.split()).count("failed:") == 1
    assert len(list((tmp_path / "all").glob("*/report.json"))) == 1


def test_a_typo_in_a_matrix_is_told_before_anything_runs(
    line: Line, tmp_path: Path
) -> None:
    file = matrix(tmp_path, models=["colour", "colur"])
    said = line("run", file, "--out", tmp_path / "all", code=2)
    assert "Did you mean 'colour'?" in said
    assert not (tmp_path / "all").exists()


# ----------------------------------------------------------------------------------- the others


def test_help_and_version(line: Line) -> None:
    said = line("--help")
    for command in ("audit", "run", "show", "plugins"):
        assert re.search(rf"^ +{command} +\S", said, re.MULTILINE), command
    assert re.fullmatch(r"cuescope \d+\.\d+\.\d+\n", line("--version"))
    for command in ("audit", "run"):
        assert "--help" in line(command, "--help")


def test_without_a_command_the_help_is_shown(line: Line) -> None:
    assert line() == line("--help")
    assert len(line().splitlines()) > 10
