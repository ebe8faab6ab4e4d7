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

import numpy as np
import pytest
from command_line import run

from cuescope_core.runs import load_report
from cuescope_sdk import Report

PHOTOS = 2400  # half of them find, and the other half decides
SCENES = 500
CUES = (("cup", "table"), ("bird", "tree"), ("car", "road"))
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
def planted() -> Any:
    return benchmark()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted")


@pytest.fixture(scope="module")
def model(planted: Any, place: Path) -> Path:
    """The folder of the trained model; it is another one on another processor."""
    folder: Path = planted.train(place / "model")
    return folder


@pytest.fixture(scope="module")
def asked(planted: Any, place: Path, model: Path) -> Iterator[Asked]:
    """`asked("spurlens")`: the report of a command about the trained model."""
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


def test_spurlens_finds_the_cues_and_no_other(
    asked: Asked, planted: Any, model: Path
) -> None:
    """What was not planted is found only where the model leans on it, by pictures drawn anew."""
    report = asked("spurlens")
    tasks = ("recognition", "hallucination")
    expected = {f"{task}/{of}/{cue}" for task in tasks for of, cue in CUES}
    found = {score.feature: float(score.value or 0) for score in report.findings}
    assert found.keys() >= expected
    assert min(found[feature] for feature in expected) > 0.5
    for feature in found.keys() - expected:
        leaning = planted.leaning(model, *feature.split("/"))
        # a model may have learned more than it was taught: "clock" beside a table, for example
        assert leaning > 0.2, feature


def test_trove_finds_the_pictures_that_show_the_cue(asked: Asked) -> None:
    report = asked("trove")
    of_no = [score for score in report.findings if score.label == "no"]
    found = {feature.key: feature for feature in report.features}[of_no[0].feature]
    shown = {occurrence.sample for occurrence in found.occurrences}
    with_cue = [sample for sample in shown if sample.endswith("-table.png")]
    # by chance four in ten
    assert len(with_cue) >= 0.7 * len(shown)


def test_confirm_says_that_what_trove_found_is_a_cause(
    asked: Asked, planted: Any, place: Path, model: Path
) -> None:
    """Where cues stand is learned from pictures alone; what the model leaves alone is no cause."""
    asked("trove")
    report = asked("confirm trove")
    features = {feature.key: feature for feature in report.features}
    contents = planted.contents_of(place / "data")
    leaned_on = {
        thing
        for thing in ("table", *planted.OBJECTS, *planted.THINGS)
        if planted.leaning(model, "hallucination", "cup", thing, writes=False) > 0.2
    }
    assert "table" in leaned_on
    assert report.findings
    # several clusters may show the table, or what the model takes for a cup
    for cause in report.findings:
        assert cause.label == "no"
        found = features[cause.feature]
        shown = {Path(each.sample).name for each in found.occurrences}
        shares = [
            np.mean([cue in contents[name] for name in shown]) for cue in leaned_on
        ]
        # by chance three or four in ten
        assert max(shares) >= 0.55
    unsure = [words for words in report.statements if "inconclusive" in words]
    assert all("whether it is a cause, because" in words for words in unsure)


def test_quag_says_that_question_and_picture_are_fused(asked: Asked) -> None:
    report = asked("quag")
    assert report.notes["verdict"] == "fuses"
    assert report.findings[0].feature == "verdict"


def test_confirm_says_that_the_cues_are_causes(asked: Asked) -> None:
    asked("spurlens")
    report = asked("confirm spurlens")
    [table] = [each for each in report.tables if each.title.startswith("Cues by harm")]
    causes = [str(row["cue"]) for row in table.rows if row["verdict"] == "cause"]
    assert len(causes) == 3
    assert all(
        any(cue in words for words in causes) for cue in ("table", "tree", "road")
    )
