"""Whole audits of planted truth: what the report says, and what it shows."""

from collections.abc import Callable
from typing import Any

import pytest

from cuescope_quag.paper import overall
from cuescope_sdk import Report, Sample

Audited = Callable[..., Report]


@pytest.mark.parametrize(
    ("truth", "reads", "verdict"),
    [
        ("both", "both", "fuses"),
        ("text", "text", "text alone"),
        ("video", "video", "video alone"),
        ("both", "apart", "never aligns"),
    ],
)
@pytest.mark.parametrize("open_ended", [False, True])
def test_planted_truth_is_called_by_its_name(
    audited: Audited, truth: str, reads: str, verdict: str, open_ended: bool
) -> None:
    report = audited(truth, reads, data_options={"open_ended": open_ended})
    assert report.notes["verdict"] == verdict
    first = report.findings[0]
    assert first.feature == "verdict"
    sentence = str(report.sentence(first))
    assert sentence.startswith("Given video and text, the model ")
    of = {s.feature: s for s in report.headlines}
    for key in ("language-only", "video-only", "SC: crossmodal"):
        assert f"{abs(of[key].value or 0):.1f} points" in sentence


def test_findings_are_what_was_needed(audited: Audited) -> None:
    report = audited("text", "text")
    assert {one.feature for one in report.findings} == {
        "verdict", "video-only", "SC: unimodal", "SC: text",
    }  # fmt: skip
    names = [report.names[one.feature] for one in report.findings]
    assert names[0] == "video and text"
    words = {one.feature: str(report.sentence(one)) for one in report.findings}
    lost = next(s for s in report.headlines if s.feature == "SC: text")
    assert words["SC: text"].startswith("With attention to text averaged, the model loses")
    assert f"{lost.value:.1f} points" in words["SC: text"]


def test_at_chance_nothing_is_found(audited: Audited) -> None:
    report = audited("both", "nothing")
    assert not report.findings
    assert "at chance, so nothing can be measured" in report.notes["verdict"]
    assert "where guessing gives 25.0 %" in report.notes["verdict"]


def test_too_few_samples_decide_nothing(audited: Audited) -> None:
    report = audited("text", "text", data_options={"samples": 12})
    assert "not to be judged by these samples yet" in report.notes["verdict"]
    assert "verdict" not in {one.feature for one in report.findings}


def test_the_tables_have_a_row_a_condition(audited: Audited) -> None:
    report = audited("both", "both", quadrants="TV")
    accuracies, losses = report.tables
    named = [row["condition"] for row in accuracies.rows]
    assert named[:4] == ["baseline", "language-only", "video-only", "SC: unimodal"]
    assert "SC: TV" in named
    assert [row["condition"] for row in losses.rows] == named[1:]
    cells = {row["condition"]: row for row in accuracies.rows}
    assert cells["SC: crossmodal"]["accuracy"] == "25.0\N{DOWNWARDS ARROW}"
    assert cells["SC: unimodal"]["accuracy"] == cells["baseline"]["accuracy"] == "93.1"
    assert accuracies.columns == ("condition", "accuracy", "balanced accuracy", "even", "odd")
    starred = {row["condition"]: str(row["even"]).endswith("*") for row in losses.rows}
    assert starred["SC: crossmodal"]
    assert not starred["SC: unimodal"]
    assert [picture.title for picture in report.pictures] == ["Right answers under each condition"]
    assert not accuracies.paper


def test_the_balanced_loss_stands_beside(audited: Audited) -> None:
    report = audited("both", "both", measure="balanced")
    assert "balanced accuracy" in report.notes
    metrics = {score.metric for score in report.scores}
    assert metrics == {"accuracy_lost", "balanced_accuracy_lost"}
    assert "of balanced accuracy" in str(report.sentence(report.findings[1]))


@pytest.mark.parametrize(("subset", "name"), [(None, "NExT-QA"), ("atp-hard", "NExT-QA, ATP-hard")])
def test_the_papers_figures_stand_beside_on_its_data_sets(
    audited: Audited, quiz: type[Any], subset: str | None, name: str
) -> None:
    class Options(quiz.Options):  # type: ignore[name-defined, misc]
        subset: str | None = None

    def of_types(self: Any, index: int) -> Sample:
        sample: Sample = quiz.__getitem__(self, index)
        kind = ("Causal", "Temporal")[index % 2]
        return sample.model_copy(update={"annotations": {"question_type": kind}})

    published = type(
        "NExTQA", (quiz,),
        {"__module__": "cuescope_next_qa", "Options": Options, "__getitem__": of_types},
    )  # fmt: skip
    given = {"subset": subset} if subset else {}
    report = audited("both", "both", data=published, data_options=given, beside="JustAsk")
    paper = {row["condition"]: row for row in report.tables[0].paper}
    assert paper["SC: text"]["accuracy"] == overall("JustAsk", name)["SC: text"]
    assert "Causal" in paper["SC: text"]
    assert "Descriptive" not in paper["SC: text"]
    assert f"JustAsk on {name}" in report.tables[0].notes[0]
