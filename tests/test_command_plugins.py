"""`cuescope plugins info` and `cuescope plugins install`."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from cuescope.cli import main
from cuescope.cli.option_words import default_in_words, type_in_words
from cuescope_sdk import Options, Plugin
from cuescope_testing import FakeDataset, FakeMethod, FakeModel, PluginShelf

Line = Callable[..., str]


class FolderOptions(Options):
    """Where it is."""

    argument = "path"
    path: str
    frames: int = 4


class FolderData(FakeDataset):
    """Reads [files]."""

    Options = FolderOptions


class Tape(FakeModel):
    """Says again what was recorded."""

    capabilities = FakeModel.capabilities.model_copy(
        update={"exposes": frozenset({"recorded"})}
    )


class Chance(FakeModel):
    """Answers by chance."""

    is_control = True


class OfRuns(FakeMethod):
    """Tests another run's findings."""

    started_by = "cuescope tester RUN"


class NeedyBench(Plugin):
    """A table of runs."""

    Options = FolderOptions

    def run(self) -> None:
        """Nothing."""


SHELF = {
    ("model", "fake"): FakeModel,
    ("model", "tape"): Tape,
    ("model", "chance"): Chance,
    ("method", "fake"): FakeMethod,
    ("dataset", "files"): FolderData,
    # before "fake", so that it would be the first example
    ("method", "early"): OfRuns,
    ("bench", "table"): NeedyBench,
}


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Line:
    """What `cuescope plugins ...` prints with the fakes installed; of an error, its one line."""
    monkeypatch.setattr("cuescope.cli.plugins.Registry", lambda: PluginShelf(SHELF))

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["plugins", *words])
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        assert len(err.splitlines()) == (1 if code else 0)
        return err if code == 2 else out

    return said


def test_info_tells_what_a_plugin_can_do_and_takes(line: Line) -> None:
    said = line("info", "fake")
    assert "model fake (not-installed 0): A linear readout" in said
    assert "method fake (not-installed 0): Hides each quarter" in said
    for words in (
        "answers with: embedding, logits, text",
        "takes the edits: hide-tokens",
        "lets one look at: choices, patches",
        "fewest frames of a sample: 1",
        "the model must answer with: logits",
        "fewest labels: 1",
    ):
        assert words in said.splitlines()
    # what there is none of is not told
    for words in ("must take the edits", "most frames of a sample", "notes:"):
        assert words not in said
    assert "lean" in said
    assert "reliance on the red corner" in " ".join(said.split())


def test_info_shows_how_a_method_is_asked(line: Line) -> None:
    said = line("info", "fake").splitlines()
    assert "example: cuescope audit fake --model SPEC --data folder:PATH" in said


def test_info_shows_the_argument_and_what_is_needed(line: Line) -> None:
    said = " ".join(line("info", "files").split())
    assert "dataset files (not-installed 0): Reads [files]." in said
    assert "path (ARG) text needed" in said
    assert "frames whole number 4" in said


def test_an_example_can_be_typed_as_it_stands(line: Line) -> None:
    assert "example: cuescope tester RUN" in line("info", "early").splitlines()
    said = line("info", "table").splitlines()
    assert "example: cuescope dev bench table:PATH" in said
    assert "audit early" not in line("info", "fake")


def test_info_on_an_unknown_plugin_suggests(line: Line) -> None:
    said = line("info", "fakee", code=2)
    assert "no plugin 'fakee' is installed" in said
    assert "Did you mean 'fake'?" in said
    assert "`cuescope plugins` lists them" in line("info", "zzzzzz", code=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("install", "--upgrade"), "No such option: --upgrade"),
        (("install",), "Missing argument 'DIST...'"),
        (("info",), "Missing argument 'NAME'"),
    ],
)
def test_wrong_usage_is_one_line(line: Line, words: tuple[str, ...], said: str) -> None:
    assert said in line(*words, code=2)


@pytest.mark.parametrize("command", ["info", "install"])
def test_help_names_the_command(line: Line, command: str) -> None:
    assert line(command, "--help").startswith(f"Usage: cuescope plugins {command} ")


@pytest.mark.parametrize(
    ("pip", "uv", "code", "started"),
    [
        (True, None, 0, ["-m", "pip", "install", "cuescope-x", "-c"]),
        (True, "uv", 7, ["-m", "pip", "install", "cuescope-x", "-c"]),
        (
            False,
            "uv",
            0,
            ["pip", "install", "--python", sys.executable, "cuescope-x", "-c"],
        ),
    ],
)
def test_install_asks_what_is_there(
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    pip: bool,
    uv: str | None,
    code: int,
    started: list[str],
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **settings: Any) -> subprocess.CompletedProcess[bytes]:
        # without the file of constraints, which is a temporary one
        asked.append(command[:-1])
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr("cuescope.cli.plugins.find_spec", lambda name: pip or None)
    monkeypatch.setattr("cuescope.cli.plugins.shutil.which", lambda name: uv)
    monkeypatch.setattr("cuescope.cli.plugins.subprocess.run", run)
    line("install", "cuescope-x", code=code)
    assert asked == [[sys.executable if pip else "uv", *started]]


def test_install_without_pip_and_uv_tells_the_way(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope.cli.plugins.find_spec", lambda name: None)
    monkeypatch.setattr("cuescope.cli.plugins.shutil.which", lambda name: None)
    said = line("install", "cuescope-x", code=2)
    assert "neither pip nor uv is here" in said
    assert "-m ensurepip` brings pip" in said


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "whole number"),
        (Path | None, "path, or none"),
        (tuple[Literal["a", "b"], ...] | None, "a or b, several, or none"),
        (dict[str, Any], "{key: value}"),
        (Annotated[float, "of something"], "number"),
        (bool, "true or false"),
    ],
)
def test_options_are_told_as_they_are_written(annotation: Any, words: str) -> None:
    assert type_in_words(annotation) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((), "none"),
        (("a", "b"), "a, b"),
        (None, "none"),
        (False, "false"),
        (0, "0"),
        ({}, "none"),
    ],
)
def test_defaults_are_told_as_they_are_written(value: Any, words: str) -> None:
    assert default_in_words(value) == words
