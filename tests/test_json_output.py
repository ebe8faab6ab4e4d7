"""`--json`: every command has it, names what it prints, and prints what its schema says."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main
from command_line import run, written_plugins

from cuescope.cli import app
from cuescope.cli.outputs import Lines
from cuescope.cli.printing import models_of
from cuescope.cli.schema import LOG_LINE, PROJECT, RUN_FILE, own_schemas, schemas
from cuescope.cli.tree import commands

GROUP = typer.main.get_command(app)
PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
[cuescope.benches]
counts = counting:Counts
"""
COUNTING = """
from cuescope_sdk import Options, Picture, Plugin, Table


class Counts(Plugin):
    Options = Options

    def run(self):
        yield Table(title="Counts", columns=("n",), rows=({"n": 1},))
        yield Picture(title="Figure", caption="a curve", image=b"PNG")
"""
ASKED = (
    "--model",
    "fake",
    "-O",
    "model.lean=1",
    "--data",
    "fakes",
    "-O",
    "data.samples=240",
)
RED = ("--column", "cues.red corner", *ASKED)
# what prints no result of its own, but the JSON schema that it is asked for
PRINTS_SCHEMAS = {"dev schema"}
# a command -> words that let it print a result; what trains a toy is long
LINES: dict[str, tuple[str, ...]] = {
    "audit": ("answers", *ASKED, "--plan"),
    "blind": ("log:log.csv", "--out", "blind"),
    "cache": (),
    "check": ("log.csv",),
    "compare": ("a", "b"),
    "confirm": ("found", "--plan"),
    "covar build": ("scenes", "-O", "data.val=8", "--out", "covar", "--plan"),
    "cue apply": ("red.cue", *ASKED, "--out", "red.csv"),
    "cue ask": ("red.cue", *ASKED),
    "cue make": ("new.cue", *RED),
    "cue show": ("red.cue",),
    "demo": (),
    "dev bench": ("counts",),
    "gate": ("policy.yaml", "a"),
    "investigate": ("--log", "log.csv", "--out", "investigated"),
    "list": (".",),
    "methods": (),
    "mitigate": ("found", "--with", "last-layer", "--plan"),
    "plugins": ("--kind", "log"),
    "plugins check": ("scenes", "--only", "fingerprint"),
    "plugins info": ("scenes",),
    "plugins list": ("--kind", "model"),
    "plugins search": ("clip",),
    "show": ("a",),
    "run": ("matrix.yaml", "--out", "matrix"),
    "view": (".", "--no-browser"),
}
TRAINS = {"demo"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs of a log, one of a model with a cue, a policy and a run file."""
    place = tmp_path_factory.mktemp("json")
    rows = ["key,question,options,answer,prediction"]
    for number in range(80):
        right, said = "AB"[number % 2], "AB"[number % 3 == 0]
        rows.append(f'{number},is {number} odd?,"[""A"", ""B""]",{right},{said}')
    (place / "log.csv").write_text("\n".join(rows))
    (place / "policy.yaml").write_text(
        "rules:\n- {rule: accuracy-at-least, percent: 99, undecided: pass}\n"
    )
    (place / "matrix.yaml").write_text(
        "methods: [answers]\nmodels: [fake]\n"
        "data: [{use: fakes, options: {samples: 40}}]\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with written_plugins(place, "counting", PLUGINS, COUNTING):
            for name in "ab":
                words = ("--model", "log:log.csv", "--data", "log:log.csv", "-q")
                run("audit", "answers", *words, "--out", name)
            found = ("audit", "trove", *ASKED, "--device", "cpu", "-q")
            run(*found, "--out", "found")
            run("cue", "make", "red.cue", *RED, "-q")
            yield place


def brought() -> dict[str, Callable[..., Any]]:
    """The function of each command."""
    return {path: command.callback for path, command, _ in commands(GROUP)}


def test_every_command_has_json_and_a_line_here() -> None:
    models = {path: models_of(function) for path, function in brought().items()}
    assert {path for path, of in models.items() if not of} == PRINTS_SCHEMAS
    results = {path for path, of in models.items() if of and of != (Lines,)}
    assert results == LINES.keys()


@cache
def known_schemas() -> dict[str, dict[str, Any]]:
    """The schema of all that is printed or read."""
    return dict(schemas(GROUP))


def test_schemas_are_schemas() -> None:
    known = known_schemas()
    assert known.keys() == {*brought(), RUN_FILE, PROJECT, LOG_LINE} - PRINTS_SCHEMAS
    for schema in known.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def validate(path: str, text: str) -> Any:
    """What was printed, which must be what the command's schema says."""
    told = json.loads(text)
    assert told["schema_version"] == (2 if "provenance" in told else 1)
    jsonschema.validate(told, known_schemas()[path])
    return told


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if path in TRAINS else ())
        for path in LINES
    ],
)
def test_what_is_printed_is_what_the_schema_says(
    path: str,
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    capsys.readouterr()
    run(*path.split(), *LINES[path], "--json", code=1 if path == "gate" else 0)
    told = validate(path, capsys.readouterr().out)
    changed = {name: value for name, value in told.items() if name != "schema_version"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema_version": 9, **changed}, known_schemas()[path])


@pytest.mark.parametrize(
    "words",
    [
        ("cache", "repair"),
        ("export", "a", "--to", "csv"),
        ("dev", "new", "log", "mine-too"),
    ],
)
def test_commands_that_do_something_print_their_lines(
    words: tuple[str, ...],
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    capsys.readouterr()
    run(*words, "--json")
    depth = 1 if words[0] == "export" else 2
    told = validate(" ".join(words[:depth]), capsys.readouterr().out)
    assert told["lines"]


# ------------------------------------------------------------------------- --log-json


def lines_of(text: str) -> list[dict[str, Any]]:
    """The lines of standard error, each of which must be what the schema says."""
    schema = dict(own_schemas())[LOG_LINE]
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        jsonschema.validate(line, schema)
    return lines


def test_an_error_is_an_object_and_the_last_line_has_the_exit_code(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    run("--log-json", "list", str(place / "nowhere"), code=2)
    error, last = lines_of(capsys.readouterr().err)
    assert error["level"] == "error"
    assert "nowhere" in error["message"]
    assert last["exit_code"] == 2
    # the next command of this process speaks plainly again
    run("list", str(place / "nowhere"), code=2)
    assert capsys.readouterr().err.startswith("cuescope: no folder")


SLOW = """
import logging, sys, time
from cuescope.cli import main, progress
from cuescope_testing import FakeModel

progress.FIRST_SECONDS = progress.SECONDS = 0.2
answer = FakeModel.respond

def respond(model, trials):
    logging.getLogger("vendor").warning("slow today")
    time.sleep(0.3)
    return answer(model, trials)

FakeModel.respond = respond
main()
"""


@pytest.mark.long
def test_sigterm_says_how_far_it_was_and_loses_nothing(place: Path) -> None:
    words = ["audit", "answers", *ASKED, "-O", "data.seed=1", "--device", "cpu"]
    words += ["--out", "stopped", "--batch-size", "8", "--log-json"]
    line = [sys.executable, "-c", SLOW, *words]
    paths = [str(place / "plugins"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        line, stderr=subprocess.PIPE, text=True, cwd=place, env=environment
    ) as process:
        assert process.stderr is not None
        said = []
        for text in process.stderr:
            said.append(text)
            if '"progress": {' in text and '"done": 0' not in text:
                break
        process.send_signal(signal.SIGTERM)
        said.append(process.stderr.read())
    assert process.returncode == 128 + signal.SIGTERM
    lines = lines_of("".join(said))
    assert any("vendor: slow today" in line["message"] for line in lines)
    done = max(line["progress"]["done"] for line in lines if line.get("progress"))
    assert 0 < done < 240
    assert lines[-1]["exit_code"] == 128 + signal.SIGTERM
    since = time.monotonic()
    plan = [sys.executable, "-m", "cuescope.cli", *words, "--plan", "--json"]
    plan[1:3] = ["-c", "from cuescope.cli import main; main()"]
    told = subprocess.run(
        plan, capture_output=True, text=True, cwd=place, env=environment
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["cached"] >= done
    assert time.monotonic() - since < 30
