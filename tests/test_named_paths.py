"""Paths that a person names: none is empty, and no command writes over a file of a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run, written_plugins
from typer.models import TyperPath

import cuescope
from cuescope import UserError
from cuescope.cli import app
from cuescope.cli.external import parser_of
from cuescope.cli.paths import OutputFile, OutputFolder
from cuescope.cli.tree import commands

GROUP = parser_of(app)
# they name a file that is read; `cache export` refuses any file that is there
READ = {
    *("cache import FILE", "run [FILE]", "covar build --backgrounds"),
    *("example --sources", "investigate --log", "cache export FILE"),
    *("audit --cue", "cue apply FILE", "cue ask FILE", "cue show FILE"),
}
# their contents are read, or what is there already is refused
READ_FOLDERS = {
    *("cache merge DIR", "confirm --pairs", "example [DIR]", "dev new --dir"),
    *("list [DIR]", "view DIR"),
}
PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
"""
ASKED = ("--model", "fake", "--data", "fakes", "-O", "data.samples=40", "-q")


def paths() -> list[tuple[str, Any, Any]]:
    """Name, parameter and type of each path of each command."""
    found = []
    for path, command, _ in commands(GROUP):
        for parameter in command.params:
            if isinstance(parameter.type, TyperPath):
                option = parameter.opts[0]
                word = option if option[0] == "-" else parameter.metavar
                found.append((f"{path} {word}", parameter, parameter.type))
    return found


PATHS = paths()
OUTPUTS = [name for name, _, kind in PATHS if isinstance(kind, OutputFile)]
FOLDERS = [name for name, _, kind in PATHS if isinstance(kind, OutputFolder)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs."""
    place = tmp_path_factory.mktemp("paths")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with written_plugins(place, "nothing", PLUGINS, ""):
            for name in "ab":
                run("audit", "answers", *ASKED, "--out", name)
            yield place


def test_each_file_is_declared_as_read_or_written() -> None:
    files = {
        name for name, parameter, _ in PATHS if parameter.metavar in ("FILE", "[FILE]")
    }
    assert files - set(OUTPUTS) == READ


def test_each_folder_is_declared_as_read_or_written() -> None:
    words = {"DIR", "[DIR]", "FOLDER"}
    folders = {name for name, parameter, _ in PATHS if parameter.metavar in words}
    assert folders - set(FOLDERS) == READ_FOLDERS


@pytest.mark.parametrize("name", [*FOLDERS, "export --out"])
def test_no_command_writes_through_a_link_in_a_prepared_folder(
    tmp_path: Path, name: str
) -> None:
    (parameter, kind), *_ = [(p, k) for n, p, k in PATHS if n == name]
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    assert kind.convert(str(prepared), parameter, None) == str(prepared)
    (prepared / "report.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(UserError, match="leads out of"):
        kind.convert(str(prepared), parameter, None)


@pytest.mark.parametrize(
    ("name", "parameter", "kind"), PATHS, ids=[p[0] for p in PATHS]
)
def test_an_empty_path_is_refused(name: str, parameter: Any, kind: Any) -> None:
    with pytest.raises(UserError, match=r"is empty: expected a file or folder, got ''"):
        kind.convert("", parameter, None)


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_command_writes_over_a_file_of_a_run(place: Path, name: str) -> None:
    (parameter, kind), *_ = [(p, k) for n, p, k in PATHS if n == name]
    files = [file for file in (place / "b").rglob("*") if file.is_file()]
    assert len(files) > 2
    for file in files:
        if any(map(file.match, kind.own)):
            continue
        with pytest.raises(UserError, match="one of the run"):
            kind.convert(str(file), parameter, None)
    # the run itself, as the folder of an exporter
    with pytest.raises(UserError, match="one of the run"):
        kind.convert(str(place / "b"), parameter, None)


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name != "export --out"])
def test_a_file_ends_as_what_is_written_into_it(tmp_path: Path, name: str) -> None:
    (parameter, kind), *_ = [(p, k) for n, p, k in PATHS if n == name]
    other = "photo.jpg" if ".png" in kind.endings else "photo.png"
    with pytest.raises(UserError, match=r"expected a file that ends in \."):
        kind.convert(str(tmp_path / other), parameter, None)
    for ending in kind.endings:
        file = tmp_path / f"new{ending}"
        # an earlier output of the same kind is written over
        file.touch()
        assert kind.convert(str(file), parameter, None) == str(file)


def test_nothing_is_lost_of_a_run(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def contents() -> dict[Path, bytes]:
        # without the cache, whose log SQLite writes into it when it likes
        files = [file for file in place.rglob("*") if file.is_file()]
        kept = [file for file in files if "cache" not in file.parts]
        assert len(kept) > 4
        return {file: file.read_bytes() for file in kept}

    before = contents()
    lines = {
        "export a --out a/report.json": "one of the run",
        "export a --out b": "one of the run",
        "show a --html a/answers.parquet": "one of the run",
        "show a --html b/report.html": "one of the run",
        "compare a b --html b/report.json": "one of the run",
        "export a --out pic.png": "ends in .csv",
        "export a --out x.csv --to jsonl": "ends in .jsonl",
    }
    for line, said in lines.items():
        capsys.readouterr()
        run(*line.split(), code=2)
        assert said in capsys.readouterr().err
    assert contents() == before
    # where a command writes by itself a person may have it write too
    run("show", "a", "--html", "a/report.html")
    for _ in range(2):
        run("export", "a", "--out", "a/findings.csv")
        run("export", "a", "--out", "here.csv")


def test_a_printed_report_makes_no_run_of_its_folder(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("show", "a", "--json")
    folder = place / "printed"
    folder.mkdir()
    (folder / "report.json").write_text(capsys.readouterr().out)
    run("show", "printed", "--html", "printed/page.html")


def test_python_refuses_an_empty_path() -> None:
    for words in ({"out": ""}, {"runs": ""}):
        with pytest.raises(UserError, match="is empty"):
            cuescope.audit("answers", model="fake", data="fakes", **words)
    with pytest.raises(UserError, match="out is empty"):
        cuescope.blind(data="scenes", out="")
    with pytest.raises(UserError, match="run is empty"):
        cuescope.compare("", "")
