"""`cuescope runs`, `cuescope open`, folders that stay their own, and what was probably meant."""

import json
import webbrowser
from pathlib import Path

import pytest

from .conftest import Line
from .test_cli import AUDIT


def test_runs_are_listed_with_what_they_found(line: Line, tmp_path: Path) -> None:
    assert "no runs in runs yet" in line("runs")
    line(*AUDIT)
    line(*AUDIT[:-1], "clips:2", "--out", "runs/deep/er/none")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "report.json").write_text("{}")
    rows = {row["run"]: row for row in json.loads(line("runs", "--json"))}
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
    assert "unreadable" in line("runs")


def test_a_page_is_opened_or_its_place_is_said(
    line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.append(url)) or True)
    line(*AUDIT, "--out", "runs/one")
    for run in ("runs/one", "one", "runs/one/report.html"):
        assert line("open", run) == "runs/one/report.html\n"
    assert opened == [(tmp_path / "runs/one/report.html").as_uri()] * 3
    (tmp_path / "runs/one/report.html").unlink()
    assert "`cuescope report runs/one --html" in line("open", "one", code=2)
    assert "Did you mean 'one'?" in line("open", "on", code=2)


def test_a_run_is_not_overwritten_by_another_audit(line: Line, tmp_path: Path) -> None:
    line(*AUDIT, "--out", "mine")
    before = (tmp_path / "mine" / "report.json").read_bytes()
    said = line(*AUDIT, "-O", "top_k=2", "--out", "mine", code=2)
    assert "mine holds the report of another audit" in said
    assert "got `cuescope audit red" in said
    assert (tmp_path / "mine" / "report.json").read_bytes() == before
    line(*AUDIT, "--batch-size", "3", "--out", "mine")  # the same audit, in another way


def test_only_what_something_fills_is_offered(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    from cuescope.cli import external
    from cuescope.registry import Registry

    for registry, offered in ((Registry(), True), (Registry([]), False)):
        monkeypatch.setattr(external, "installed", lambda registry=registry: registry)
        for option in ("--executor", "--observe"):
            assert (option in line("audit", "--help")) == offered, option


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("red",), "'red' is a method, no command. `cuescope audit red --model"),
        (("colour", "--x"), "'colour' is a model, no command"),
        (("opne",), "Did you mean 'open'?"),
        (("runs", "nowhere"), "no folder nowhere"),
        (("audit", "red", "--data", "./pics", "--model", "colour"), "NAME:ARG"),
        (("audit", "red", "--data", "clips", "--model", "openai/clip-x"), "NAME:ARG"),
        (("open",), "Missing argument 'RUN'"),
        (("plugins", "--kind", "modle"), "'model'"),
        (("plugins", "info", "rad"), "Did you mean 'red'?"),
    ],
)
def test_what_was_probably_meant_is_said(line: Line, words: tuple[str, ...], said: str) -> None:
    assert said in line(*words, code=2)


def test_option_in_a_run_file_suggests_options(line: Line, tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        "methods: [red]\nmodels: [{use: colour, option: {weights: x}}]\ndata: [clips]\n"
    )
    said = line("run", "r.yaml", code=2)
    assert "'option:' in models: expected `use:` and `options:`. Did you mean 'options'?" in said
