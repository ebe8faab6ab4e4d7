"""A finding shows the images that its figures are of."""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from cuescope_sdk import Report
from cuescope_spurlens import figures


@pytest.mark.parametrize(
    "speaks", ["{}", pytest.param("{}, I think so", marks=pytest.mark.long)]
)
def test_a_finding_shows_images_with_the_cue_and_without(
    audited: Callable[..., Report], speaks: str
) -> None:
    """Cups are seen wherever a table is, and three times in ten for no reason."""
    report = audited(classes=("cup",), model_options={"speaks": speaks})
    assert [shown.feature for shown in report.contrasts] == [
        s.feature for s in report.findings
    ]
    values = {(score.feature, score.metric): score.value for score in report.scores}
    for shown in report.contrasts:
        kind = "perception" if "recognition" in shown.feature else "hallucination"
        sentence = str(
            next(s.statement for s in report.findings if s.feature == shown.feature)
        )
        for side, name in zip(shown.sides, ("with", "without"), strict=True):
            share = re.search(r"in (\S+%) of 50$", side.title)
            assert share is not None
            value = values[shown.feature, f"{kind}_{name}"]
            assert value is not None
            assert share[1] == f"{value:.0%}"
            assert f"in {share[1]} of the 50" in sentence
            right = "yes" if kind == "perception" else "no"
            assert {e.label for e in side.exhibits} == {right}
            for exhibit in side.exhibits:
                says = str(exhibit.prediction).partition(",")[0]
                assert exhibit.correct == (says == right)
                assert "asked: Do you see a cup in the image?" in str(exhibit.words)
        with_cue, without = (side.exhibits for side in shown.sides)
        # the table's row of pixels is outlined where there is one
        assert {e.occurrence.region for e in with_cue} == {(0, 3, 8, 4)}
        assert {e.occurrence.region for e in without} == {None}
        assert {e.correct for e in with_cue} == {kind == "perception"}
        assert {True, False} == {e.correct for e in without}


def test_the_gap_by_k(audited: Callable[..., Report]) -> None:
    report = audited(k=20, draws=200)
    assert "The gap by K" in {picture.title for picture in report.pictures}


def test_the_accuracy_is_that_of_the_answers(audited: Callable[..., Report]) -> None:
    """Half of the images show a lamp, three in ten answers are wrong: 70% are right."""
    known = audited(classes=("lamp",), model_options={"cue": ""}).accuracy
    assert known is not None
    assert known.above_chance
    assert known.share == pytest.approx(0.7, abs=0.08)
    assert known.chance == pytest.approx(0.5, abs=0.05)
    # one answer to all is no better than guessing, however often it is right
    always = audited(classes=("lamp",), model_options={"speaks": "yes"}).accuracy
    assert always is not None
    assert always.share == pytest.approx(always.chance)
    assert not always.above_chance
    one_sided = audited(classes=("lamp",), task="recognition")
    assert one_sided.accuracy is None
    assert "is not known" in one_sided.notes["right answers"]


def test_the_distribution_over_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted shares of the strongest cues, where a task has enough classes."""
    drawn: list[tuple[str, list[float]]] = []
    monkeypatch.setattr(
        figures,
        "line_chart",
        lambda lines, *_: (
            drawn.extend((name, x.tolist()) for name, (x, _) in lines.items()) or b""
        ),
    )
    rates = (0.9, 0.2, 0.5, 0.4, 0.7)

    def result(task: str, rate: float) -> Any:
        # the second cue is the strongest
        with_cue, without = np.array([0.0, rate]), np.array([1.0, rate / 2])
        case = SimpleNamespace(task=task)
        return SimpleNamespace(
            case=case, strongest=1, with_cue=with_cue, without=without
        )

    by_task = {
        "presence": [result("presence", rate) for rate in rates],
        "hallucination": [result("hallucination", 0.5)],
    }
    [picture] = figures.distributions(cast(Any, SimpleNamespace(by_task=by_task)))
    assert picture.title == "Over the classes"
    assert drawn == [
        ("with the cue", sorted(rates)),
        ("without it", sorted(rate / 2 for rate in rates)),
    ]
