"""`cuescope bench step-grounding`: components, other settings, and how hard the other data is."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cuescope.cli import app
from cuescope.runs import load_report
from cuescope_sdk import Context

pytestmark = pytest.mark.slow


def test_one_command_tells_components_settings_and_difficulty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "cuescope.context.Context", partial(Context, cache=tmp_path / "cache", device="cpu")
    )
    words = ["--reasoners", "4", "--videos", "3", "--components", "true", "--match", "true"]
    sweep = ("--sweep", "unverifiable=exclude,penalise")
    app(["bench", "step-grounding", *words, *sweep, "--json"], standalone_mode=False)
    text, parts = capsys.readouterr().out.strip(), list[Any]()
    while text:  # a table an object, one after another
        part, end = json.JSONDecoder().raw_decode(text)
        parts.append(part)
        text = text[end:].strip()
    tables = {part["title"]: part["rows"] for part in parts if "rows" in part}
    foretold = tables["What foretells retention: components and baselines"]
    told = {row["foretold by"]: row for row in foretold}
    assert told["verified claims alone"]["paper"] == 0.83
    assert {"all three", "no reasoning: accuracy alone"} <= told.keys()
    [law] = [row for title, rows in tables.items() if title.startswith("Does") for row in rows[:1]]
    assert told["verified claims alone"]["r"] == pytest.approx(law["r"])
    settings = tables["The same under other settings"]
    assert [row["setting"] for row in settings] == ["unverifiable=exclude", "unverifiable=penalise"]
    assert settings[0]["ranks"] == 1
    [frames] = [r for r in tables["Is the other data only harder?"] if r["complexity"] == "frames"]
    assert frames["out of it"] > frames["in distribution"]  # by design: its videos are longer


def test_models_are_audited_on_splits_that_options_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setattr("cuescope.context.Context", partial(Context, cache=cache, device="cpu"))
    known = ("--data", "shape-world:test", "--data-options", '{"test": 4}')
    other = ("--ood-data", "shape-world:ood", "--ood-data-options", '{"ood": 3}')
    words = ("bench", "step-grounding", "--models", "scripted,scripted", *known, *other, "--json")
    app(words, standalone_mode=False)
    stored = [load_report(file) for file in cache.rglob("report.json")]
    assert {(r.provenance.data.spec, r.provenance.samples) for r in stored} == {
        ("shape-world:test", 4),
        ("shape-world:ood", 3),
    }
