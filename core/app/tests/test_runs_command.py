"""`cuescope list` and `show --page`, folders that stay their own, and what was probably meant."""

import json
import os
import webbrowser
from pathlib import Path

import pytest

from ...conftest import Line
from .test_cli import AUDIT

MARK = '<meta name="generator" content="cuescope">'


def test_runs_are_listed_with_what_they_found(line: Line, tmp_path: Path) -> None:
    assert "no runs in runs yet" in line("list")
    line(*AUDIT)
    line(*AUDIT[:-1], "clips:2", "--out", "runs/deep/er/none")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "report.json").write_text("{}")
    rows = {row["run"]: row for row in json.loads(line("list", "--json"))["runs"]}
    assert len(rows) == 3
    assert rows["runs/broken"]["date"] == "unreadable"
    assert rows["runs/deep/er/none"]["findings"] == 0
    (name,) = [name for name in rows if name.startswith("runs/red-colour-clips")]
    assert rows[name]["findings"] == 1
    assert (rows[name]["method"], rows[name]["model"], rows[name]["data"]) == (
        "red",
        "colour",
        "clips",
    )
    listed = line("list").splitlines()
    # each folder stands alone, so that it can be copied
    assert [words for words in listed if words[0] != " "] == list(rows)
    broken = listed[listed.index("runs/broken") + 1]
    assert broken.startswith("    unreadable: runs/broken/report.json is no report")
    assert "Run the audit again" in broken
    about, verdict = listed[listed.index(name) + 1 :][:2]
    assert about.endswith("red: colour on clips")
    assert verdict.strip().startswith("RED EVERYWHERE ")
    assert "No cue found." in listed[listed.index("runs/deep/er/none") + 2]


def test_a_page_is_opened_or_its_place_is_said(
    line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        webbrowser, "open", lambda url: bool(opened.append(url)) or True
    )
    line(*AUDIT, "--out", "runs/one")
    for run in ("runs/one", "one"):
        assert line("show", "--page", run) == "runs/one/report.html\n"
    assert opened == [(tmp_path / "runs/one/report.html").as_uri()] * 2
    (tmp_path / "runs/one/report.html").unlink()
    assert "`cuescope show runs/one --html" in line("show", "--page", "one", code=2)
    assert "Did you mean 'one'?" in line("show", "--page", "on", code=2)


SCRIPT = "<!doctype html><script>alert(1)</script>"


@pytest.mark.parametrize(
    ("files", "named", "said"),
    [
        ({"a.html": SCRIPT}, "a.html", "no run at a.html"),
        (
            {"x/report.html": SCRIPT, "x/report.json": "{}"},
            "x",
            "x/report.json is no report",
        ),
        ({"x/report.html": SCRIPT}, "x", "no run at x"),
        (
            {"runs/x/report.html": SCRIPT, "runs/x/report.json": "{}"},
            "x",
            "x/report.json is no report",
        ),
        ({"a.svg": SCRIPT}, "a.svg", "no run at a.svg"),
    ],
)
def test_a_page_of_strangers_is_not_opened(
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    files: dict[str, str],
    named: str,
    said: str,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        webbrowser, "open", lambda url: bool(opened.append(url)) or True
    )
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert said in line("show", "--page", named, code=2)
    assert not opened


def test_a_report_that_cannot_be_read_is_listed_as_such(
    line: Line, tmp_path: Path
) -> None:
    contents = ["[" * 10**5, "1" * 10**5, "{", "[]", '{"provenance": 1}', "\x00"]
    for number, content in enumerate(contents):
        (tmp_path / "runs" / str(number)).mkdir(parents=True)
        (tmp_path / "runs" / str(number) / "report.json").write_text(content)
    (tmp_path / "runs" / "pipe").mkdir()
    os.mkfifo(tmp_path / "runs" / "pipe" / "report.json")
    (tmp_path / "runs" / "large").mkdir()
    with (tmp_path / "runs" / "large" / "report.json").open("wb") as file:
        file.truncate(2**40)
    rows = json.loads(line("list", "--json"))["runs"]
    assert [row["date"] for row in rows] == ["unreadable"] * (len(contents) + 2)
    for row in rows:
        assert row["run"] in row["fault"]


def test_a_report_of_a_newer_version_asks_for_a_newer_cuescope(
    line: Line, tmp_path: Path
) -> None:
    line(*AUDIT, "--out", "mine")
    file = tmp_path / "mine" / "report.json"
    report = json.loads(file.read_text())
    for version, remedy in ((99, "update this one"), (0, "Run the audit again")):
        # what a newer version has beside it is no reason to say otherwise
        file.write_text(json.dumps({"anew": 1, **report, "schema_version": version}))
        said = line("show", "mine", code=2)
        assert f"got version {version}" in said
        assert remedy in said


def test_a_run_is_not_overwritten_by_another_audit(line: Line, tmp_path: Path) -> None:
    line(*AUDIT, "--out", "mine")
    before = (tmp_path / "mine" / "report.json").read_bytes()
    said = line(*AUDIT, "-O", "top_k=2", "--out", "mine", code=2)
    assert "mine holds the report of another audit" in said
    assert "got `cuescope audit red" in said
    assert (tmp_path / "mine" / "report.json").read_bytes() == before
    line(*AUDIT, "--batch-size", "3", "--out", "mine")  # the same audit, in another way


def test_only_what_something_fills_is_offered(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuescope.cli import external
    from cuescope_core.registry import Registry

    for registry, offered in ((Registry(), True), (Registry([]), False)):
        monkeypatch.setattr(external, "installed", lambda registry=registry: registry)
        for option in ("--executor", "--observe"):
            assert (option in line("audit", "--help")) == offered, option


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("red",), "'red' is a method, no command. `cuescope audit red --model"),
        (("colour", "--x"), "'colour' is a model, no command"),
        (("lsit",), "Did you mean 'list'?"),
        (("list", "nowhere"), "no folder nowhere"),
        (("audit", "red", "--data", "./pics", "--model", "colour"), "NAME:ARG"),
        (("audit", "red", "--data", "clips", "--model", "openai/clip-x"), "NAME:ARG"),
        (("show", "--page"), "Missing argument 'RUN'"),
        (("plugins", "--kind", "modle"), "'model'"),
        (("plugins", "info", "rad"), "Did you mean 'red'?"),
    ],
)
def test_what_was_probably_meant_is_said(
    line: Line, words: tuple[str, ...], said: str
) -> None:
    assert said in line(*words, code=2)


def test_option_in_a_run_file_suggests_options(line: Line, tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        "methods: [red]\nmodels: [{use: colour, option: {weights: x}}]\ndata: [clips]\n"
    )
    said = line("run", "r.yaml", code=2)
    assert "has no option 'models.option'" in said


def test_data_that_cannot_be_opened_end_a_run_file_before_its_first_audit(
    line: Line, tmp_path: Path
) -> None:
    (tmp_path / "r.yaml").write_text(
        "methods: [red]\nmodels: [colour]\n"
        "data: [clips, {use: clips, options: {folder: gone}}]\n"
    )
    said = line("run", "r.yaml", "--allow", "folder", code=2)
    assert "clips: no folder gone" in said
    assert not list((tmp_path / "runs").glob("*/report.json"))
