"""A newcomer's mistakes: one line each, with what was expected, what came and what to do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope_core.conclusions import Report
from cuescope_core.errors import UserError, nearest

from ...conftest import Line, Shell
from ...engine.tests.stubs import RUN_MAIN

AUDIT = ("audit", "red", "--model", "colour", "--data", "clips")


def replaced(word: str, by: str) -> tuple[str, ...]:
    return tuple(by if given == word else given for given in AUDIT)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            replaced("red", "rad"),
            ("no method 'rad' is installed", "Did you mean 'red'?"),
        ),
        (replaced("colour", "colr"), ("no model 'colr'", "Did you mean 'colour'?")),
        (replaced("clips", "clip"), ("no dataset 'clip'", "Did you mean 'clips'?")),
        (
            replaced("colour", "net.bin"),
            ("no model 'net.bin'", "as in NAME:net.bin"),
        ),
        (
            replaced("colour", "net.onnx"),
            ("no plugin reads the network 'net.onnx'", "cuescope.Classifier"),
        ),
        (
            replaced("red", "trovee-x:"),
            ("'trovee-x:' is no SPEC", "expected NAME or NAME:ARG"),
        ),
        (
            (*AUDIT, "-O", "top_k=abc"),
            ("option 'top_k'", "integer", "got 'abc'", "plugins info"),
        ),
        (
            (*AUDIT, "-O", "topk=1"),
            ("red has no option 'topk'", "Did you mean 'top_k'?"),
        ),
        ((*AUDIT, "-O", "sizes=[2"), ("option 'sizes'", "got [2")),
        ((*AUDIT, "-O", "top_k"), ("-O top_k", "expected key=value")),
        (
            (*AUDIT, "-O", "model.delay=fast"),
            ("option 'delay'", "number", "got 'fast'"),
        ),
        (
            (*AUDIT, "-O", "data.sise=3"),
            ("clips has no option 'sise'", "Did you mean 'size'?"),
        ),
        (replaced("clips", "clips:many"), ("option 'size'", "got 'many'")),
        (replaced("red", "red:x"), ("red takes no ARG", "got 'red:x'")),
        ((*AUDIT, "--tool", "finder"), ("--tool finder", "expected key=value")),
        (
            (*AUDIT, "--tool", "detektor=finder"),
            ("no tool role", "Did you mean 'detector'?"),
        ),
        # the role first: what may have it depends on it
        (
            (*AUDIT, "--tool", "embeder=colour"),
            ("no tool role", "Did you mean 'embedder'?"),
        ),
        ((*AUDIT, "--part", "1-3"), ("expected a part such as 1/3", "got '1-3'")),
        (
            replaced("colour", "mine.py"),
            ("model 'mine.py' names no class", "expected mine.py:CLASS"),
        ),
        (
            (*AUDIT, "-O", "tool.score=1"),
            ("-O tool.score=1", "expected tool.ROLE.key=value"),
        ),
        (
            (*AUDIT, "-O", "tool.detector.score=1"),
            ("-O tool.detector", "Add --tool detector=SPEC"),
        ),
        (
            (*AUDIT, "--tool", "detector=finder", "-O", "tool.detektor.score=1"),
            ("-O tool.detektor", "Did you mean 'detector'?"),
        ),
        (
            (*AUDIT, "--tool", "detector=finder", "-O", "tool.detector.skore=1"),
            ("finder has no option 'skore'", "Did you mean 'score'?"),
        ),
        (
            (*AUDIT, "--tool", "detector=findr"),
            ("no tool 'findr'", "Did you mean 'finder'?"),
        ),
        (
            ("plugins", "install", ""),
            ("a package has no name", "expected NAME", "plugins search"),
        ),
        ((*AUDIT, "--limit", "0"), ("limit", "greater than 0", "got 0")),
        ((*AUDIT, "--limit", "few"), ("--limit", "few")),
        ((*AUDIT, "--dtype", "float8"), ("dtype", "'float32'", "got 'float8'")),
        ((*AUDIT, "--executor", "thread"), ("no executor", "Did you mean 'threads'?")),
        ((*AUDIT, "--observe", "fil"), ("no observer", "Did you mean 'file'?")),
        ((*AUDIT, "--modle", "x"), ("--modle", "--model")),
        (("audit", "red", "--model", "colour"), ("Missing option '--data'",)),
        (("audti",), ("No such command 'audti'", "audit")),
        (("show", "nowhere"), ("no report at nowhere", "expected a run folder")),
        (("run", "none.yaml"), ("cannot read none.yaml", "No such file")),
    ],
)
def test_each_is_one_line(
    line: Line, words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    told = line(*words, code=2)
    for part in said:
        assert part in told


def test_a_run_of_nearly_this_name_is_named(line: Line, tmp_path: Path) -> None:
    (tmp_path / "runs/red-colour").mkdir(parents=True)
    (tmp_path / "runs/red-colour/report.json").write_text("{}")
    told = line("show", tmp_path / "runs/red-color", code=2)
    assert "Did you mean 'red-colour'?" in told
    assert f"`cuescope list {tmp_path}/runs` lists them" in line(
        "show", tmp_path / "runs", code=2
    )


def test_another_file_is_no_damaged_report(line: Line, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("question,answer\n")
    told = line("show", tmp_path / "mine.csv", code=2)
    assert "is no report: expected a run folder or a report.json" in told
    assert "damaged" not in told


def test_a_value_of_thousands_is_cut() -> None:
    told = str(
        UserError("labels", expected="texts", got="7, " * 5000, remedy="Name them")
    )
    assert len(told) < 500
    assert told.endswith(" and more. Name them")


def test_the_one_line_is_all_that_a_process_says(shell: Shell) -> None:
    told = shell(*replaced("red", "rad"), code=2)
    assert len(told.splitlines()) == 1
    assert "Traceback" not in told


def test_a_cache_that_cannot_be_written_is_one_line(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "file"))
    assert "Set CUESCOPE_CACHE to a folder" in line(*AUDIT, code=2)


def test_a_folder_that_cannot_be_written_is_one_line(
    line: Line, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert "Choose another folder" in line(
        *AUDIT, "--out", tmp_path / "file" / "run", code=2
    )


def test_a_folder_of_runs_becomes_no_run(line: Line, tmp_path: Path) -> None:
    line(*AUDIT, "--out", "runs/mine", "-q")
    said = line(*AUDIT, "--out", "runs", code=2)
    assert "--out runs/NAME" in said
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["mine"]


def test_a_run_that_another_folder_of_notes_knows_names_the_variable(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line(*AUDIT, "--out", "mine", "-q")
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(tmp_path / "other"))
    assert "set CUESCOPE_OWN_RUNS to" in line("show", "--page", "mine", code=2)


@pytest.mark.parametrize(
    "option", ["-O data.size=lots", "-O model.delay=fast", "-O topk=1"]
)
def test_a_wrong_option_is_told_before_the_folder_that_holds_another_run(
    line: Line, option: str
) -> None:
    line(*AUDIT, "--out", "mine", "-q")
    assert "another audit" in line(*AUDIT, "--seed", "1", "--out", "mine", code=2)
    flag, value = option.split()
    said = line(*AUDIT, flag, value, "--out", "mine", code=2)
    assert "option" in said
    assert "another audit" not in said


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--debug", *AUDIT), marks=pytest.mark.long),
        (*AUDIT, "--debug"),
    ],
    ids=["first", "last"],
)
def test_debug_shows_the_traceback_anywhere_on_the_line(
    shell: Shell, words: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN_MAIN, *words, "-O", "fails_in=perturb"],
        env=shell.env,
        cwd=shell.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "in perturb" in done.stderr


def test_a_fault_of_cuescope_itself_is_one_line_too(
    line: Line, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(path: Path) -> Report:
        raise LookupError("lost")

    monkeypatch.setattr("cuescope_core.runs.load_report", fault)
    with pytest.raises(SystemExit) as ended:
        main(["show", "x"])
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        "cuescope: internal error (LookupError: lost); `--debug` shows the traceback\n"
    )


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (">/dev/full", "the result cannot be written: got No space left on device"),
        (">&-", "standard output is closed: expected a terminal"),
    ],
)
@pytest.mark.parametrize("words", ["list", "list --json", "--version", "audit --help"])
def test_an_output_that_takes_nothing_is_one_line(
    tmp_path: Path, words: str, where: str, said: str
) -> None:
    line = f"{sys.executable} -c '{RUN_MAIN}' {words} {where}"
    done = subprocess.run(
        line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"cuescope: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_ctrl_c_keeps_what_was_answered(shell: Shell, tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow = ("-O", f"model.log={log}", "-O", "model.delay=0.2", "--batch-size", "4")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_MAIN, *AUDIT, *slow],
        env=shell.env,
        cwd=shell.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_lines(log, 3, process)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == (
        "cuescope: stopped; answers so far are kept, the same command goes on from there\n"
    )
    started = len(log.read_text().splitlines())
    report = Report.model_validate_json(shell(*AUDIT, "--json"))
    # a clip of two frames and the same held still: no more of four inputs fit
    assert report.cost.cache_hits >= 2 * (started - 1) >= 4
    assert report.cost.cache_hits + report.cost.model_calls == 40


def wait_for_lines(log: Path, count: int, process: "subprocess.Popen[str]") -> None:
    """Until the model has been called `count` times."""
    for _ in range(3000):
        if log.exists() and log.read_text().count("\n") >= count:
            return
        if process.poll() is not None:
            raise AssertionError(process.communicate())
        time.sleep(0.01)
    raise AssertionError("the model was never asked")


def test_only_a_close_name_is_suggested() -> None:
    assert nearest("nosuch", ["instruct", "trove"]) is None
    assert nearest("trov", ["instruct", "trove"]) == "Did you mean 'trove'?"


def test_no_name_is_near_a_text_without_end() -> None:
    """Comparing two of 18,000 letters took two seconds."""
    assert nearest("a" * 18_000, ["a" * 17_999]) is None
    assert nearest("tove", ["trove"]) == "Did you mean 'trove'?"
