"""`cuescope demo` asks for the audit that the README shows."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cuescope.cli import app, demo as module
from cuescope.cli.program import program
from cuescope.runner import Runner
from cuescope_core.request import Request


def asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[Request, Path, str]:
    """The request that the command makes, its folder, and what it prints around the report."""
    requests: list[tuple[Request, Path]] = []

    def audit(runner: Runner, request: Request) -> None:
        requests.append((request, runner.folder(request).path))

    monkeypatch.setattr(Runner, "audit", audit)
    monkeypatch.setattr(module, "show_result", lambda result, output: None)
    done = CliRunner().invoke(app, ["demo", *words])
    assert done.exit_code == 0, done.output
    return *requests[0], done.stdout


def test_the_story_comes_before_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    request, folder, said = asked(monkeypatch)
    assert (request.method, request.model) == ("trove", "toy")
    assert request.data == "moving-shapes:background"
    assert folder == Path("runs/demo")
    assert said.startswith("A small video model learns")
    assert "the background is mostly red" in said
    # a line end within a line would be written out
    assert "\\n" not in said


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program in it, as a clone has it, and a PATH that does not know it."""
    script = tmp_path / ".venv" / "bin" / "cuescope"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    monkeypatch.setattr("sys.argv", [str(script), "demo"])
    return script


def test_commands_are_shown_as_they_must_be_typed(
    clone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert program() == ".venv/bin/cuescope"
    monkeypatch.setenv("PATH", str(clone.parent))
    assert program() == "cuescope"
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(clone.parent)
    assert program() == "./cuescope"  # a bare word would be looked for on the PATH
    (tmp_path / "else where").mkdir()
    monkeypatch.chdir(tmp_path / "else where")
    assert program() == str(clone)
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert program() == "uv run cuescope"


def test_each_cue_has_its_own_story_and_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    request, folder, said = asked(monkeypatch, "--cue", "object", "--seed", "3")
    assert request.data == "moving-shapes:object"
    assert (request.seed, request.data_options) == (3, {"seed": 3})
    assert folder == Path("runs/demo-object-seed-3")
    assert "a red square" in said
    assert "background" not in said.partition("next:")[0]
    assert (
        "the disc moves south, it is mostly red itself"
        in asked(monkeypatch, "--cue", "attribute")[2]
    )


def test_a_mistake_is_refused() -> None:
    done = CliRunner().invoke(app, ["demo", "--cue", "backgruond"])
    assert done.exit_code == 2
    assert "'background', 'object', 'attribute'" in done.output
