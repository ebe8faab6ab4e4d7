"""A tiny Qwen3-VL that was trained to lean on cues is told so, through the command line.

It learns for three minutes of one core, from nothing: `benchmarks/planted_vlm.py` does the same and
prints what is said.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from cuescope.runs import load_report
from cuescope_sdk import Report

PHOTOS = 2400  # half of them find, and the other half decides
SCENES = 500
Asked = Callable[[str], Report]
pytestmark = pytest.mark.long


def benchmark() -> Any:
    """The script as a module."""
    path = Path(__file__).parents[1] / "benchmarks/planted_vlm.py"
    spec = importlib.util.spec_from_file_location("planted_vlm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_vlm"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """`asked("spurlens")`: the report of a command about the trained model."""
    place = tmp_path_factory.mktemp("planted")
    planted = benchmark()
    model = planted.train(place / "model")
    planted.write_data(place / "data", SCENES, PHOTOS, seed=0)
    commands = planted.audits(model, place / "data", place / "runs", SCENES)

    @cache
    def report(name: str) -> Report:
        folder = planted.folder_of(name, place / "runs")
        run(*commands[name])
        return load_report(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(place / "cache"))
        yield report


def test_spurlens_finds_the_cues_and_no_other(asked: Asked) -> None:
    report = asked("spurlens")
    cues = (("cup", "table"), ("bird", "tree"), ("car", "road"))
    tasks = ("recognition", "hallucination")
    expected = {f"{task}/{of}/{cue}" for task in tasks for of, cue in cues}
    assert {score.feature for score in report.findings} == expected
    assert min(float(score.value or 0) for score in report.findings) > 0.5
    checks = [each for each in report.evidence if each.check.startswith("planted cue")]
    assert {each.verdict for each in checks} == {"supported"}


def test_trove_finds_the_pictures_that_show_the_cue(asked: Asked) -> None:
    report = asked("trove")
    of_no = [score for score in report.findings if score.label == "no"]
    found = {feature.key: feature for feature in report.features}[of_no[0].feature]
    shown = {occurrence.sample for occurrence in found.occurrences}
    with_cue = [sample for sample in shown if sample.endswith("-table.png")]
    # by chance four in ten
    assert len(with_cue) >= 0.7 * len(shown)


def test_confirm_says_that_what_trove_found_is_a_cause(asked: Asked) -> None:
    """Where the table stands is learned from pictures alone; no other cluster is called a cause."""
    asked("trove")
    report = asked("confirm trove")
    [cause] = report.findings
    assert cause.label == "no"
    found = {feature.key: feature for feature in report.features}[cause.feature]
    shown = {occurrence.sample for occurrence in found.occurrences}
    with_table = [sample for sample in shown if sample.endswith("-table.png")]
    # by chance four in ten
    assert len(with_table) >= 0.55 * len(shown)
    unsure = [words for words in report.statements if "cannot tell" in words]
    assert all("What is missing:" in words for words in unsure)


def test_quag_says_that_question_and_picture_are_fused(asked: Asked) -> None:
    report = asked("quag")
    assert report.notes["verdict"] == "fuses"
    assert report.findings[0].feature == "verdict"


def test_confirm_says_that_the_cues_are_causes(asked: Asked) -> None:
    asked("spurlens")
    report = asked("confirm spurlens")
    [table] = [each for each in report.tables if each.title.startswith("Cues by harm")]
    causes = [str(row["cue"]) for row in table.rows if row["verdict"] == "causes"]
    assert len(causes) == 3
    assert all(
        any(cue in words for words in causes) for cue in ("table", "tree", "road")
    )
