"""Whole audits of planted truth: what the report says, and what it shows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cuescope_quag.paper import overall
from cuescope_sdk import Report, Response, Sample

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
    assert sentence.startswith("Verdict on video and text: the model ")
    of = {s.feature: s for s in report.headlines}
    for key in ("without video", "without question", "SC: crossmodal"):
        assert f"{abs(of[key].value or 0):.1f} points" in sentence


def test_findings_are_what_was_needed(audited: Audited) -> None:
    report = audited("text", "text")
    assert {one.feature for one in report.findings} == {
        "verdict", "without question", "SC: unimodal", "SC: text",
    }  # fmt: skip
    names = [report.names[one.feature] for one in report.findings]
    assert names[0] == "Verdict on video and text"
    assert set(names[1:]) == {
        "without question", "unimodal attention (SC: unimodal)", "attention to text (SC: text)",
    }  # fmt: skip
    words = {one.feature: str(report.sentence(one)) for one in report.findings}
    lost = next(s for s in report.headlines if s.feature == "SC: text")
    assert words["SC: text"].startswith(
        "With attention to text (SC: text) averaged, the model loses"
    )
    assert words["without question"].startswith("Left without question, the model loses")
    assert f"{lost.value:.1f} points" in words["SC: text"]


def undecided(report: Report, kind: str) -> str:
    """The sentence of a report that has no finding, and says why."""
    assert not report.findings
    assert report.notes["verdict"] == kind
    first = report.headlines[0]
    assert (first.feature, first.value) == ("verdict", None)
    return str(report.sentence(first))


def test_at_chance_nothing_is_found(audited: Audited) -> None:
    said = undecided(audited("both", "nothing"), "at chance")
    assert said.startswith("Verdict on video and text: the model answers at chance, so nothing can")
    assert "where guessing gives 25.0 %" in said


@pytest.mark.parametrize(("samples", "kind"), [(2, "too few samples"), (16, "at chance")])
def test_few_wrong_answers_tell_nothing(audited: Audited, samples: int, kind: str) -> None:
    undecided(audited("both", "nothing", data_options={"samples": samples}), kind)


def test_an_open_verdict_opens_the_report_where_there_are_findings(audited: Audited) -> None:
    report = audited("text", "text", data_options={"samples": 24})
    assert report.notes["verdict"] == "open"
    first, *others = report.findings
    assert "not to be judged by these samples yet" in str(report.sentence(first))
    assert (first.feature, first.value) == ("verdict", None)
    assert others


class OneAnswer:
    """All turn to the north."""

    def __getitem__(self, index: int) -> Sample:
        sample: Sample = super().__getitem__(index)  # type: ignore[misc]
        return sample.model_copy(update={"label": "north"})


@pytest.mark.parametrize("open_ended", [False, True])
def test_one_right_answer_is_said(audited: Audited, quiz: type[Any], open_ended: bool) -> None:
    data = type("Same", (OneAnswer, quiz), {})
    report = audited("both", "both", data=data, data_options={"open_ended": open_ended})
    said = undecided(report, "one right answer")
    assert "all 160 questions have the same right answer, 'north'" in said
    assert report.notes["accuracy"].endswith("all have the same right answer, 'north'")


class Wordy:
    """Answers in whole sentences."""

    def answer(self, trial: Any) -> Response:
        said: Response = super().answer(trial)  # type: ignore[misc]
        return replace(said, text=f"The arrow points{said.text}")


def test_open_answers_are_shown(audited: Audited, reader: type[Any]) -> None:
    [table] = [
        one
        for one in audited("both", "both", data_options={"open_ended": True}).tables
        if one.title == "What was answered"
    ]
    assert len(table.rows) == 6
    assert [row["right"] for row in table.rows].count("no") == 3
    for row in table.rows:
        given = str(row["given"]).strip(". ").lower()
        assert (given == row["accepted"]) == (row["right"] == "yes")
        assert str(row["question"]).startswith("turn ")
    model = type("Wordy", (Wordy, reader), {})
    report = audited("both", "both", model=model, data_options={"open_ended": True})
    said = undecided(report, "no right answer")
    assert "no answer equals an accepted one" in said
    assert "the model said \N{LEFT DOUBLE QUOTATION MARK}The arrow points" in said
    assert "prompt='{question} Answer in one word.'" in said
    assert not [one for one in audited("both", "both").tables if one.title == "What was answered"]


def test_the_tables_have_a_row_a_condition(audited: Audited) -> None:
    report = audited("both", "both", quadrants="TV")
    accuracies, losses = report.tables
    named = [row["condition"] for row in accuracies.rows]
    assert named[:4] == ["baseline", "without video", "without question", "SC: unimodal"]
    assert "SC: TV" in named
    assert [row["condition"] for row in losses.rows] == named[1:]
    cells = {row["condition"]: row for row in accuracies.rows}
    assert cells["SC: crossmodal"]["accuracy"] == "25.0\N{DOWNWARDS ARROW}"
    assert cells["SC: unimodal"]["accuracy"] == cells["baseline"]["accuracy"] == "93.1"
    assert accuracies.columns == ("condition", "accuracy", "balanced accuracy", "even", "odd")
    starred = {row["condition"]: str(row["even"]).endswith("*") for row in losses.rows}
    assert starred["SC: crossmodal"]
    assert not starred["SC: unimodal"]
    assert [picture.title for picture in report.pictures] == [
        "Right answers under each condition", "Answers that are lost: SC: crossmodal",
    ]  # fmt: skip
    assert not accuracies.paper


def test_the_balanced_loss_stands_beside(audited: Audited) -> None:
    report = audited("both", "both", measure="balanced")
    assert "balanced accuracy" in report.notes
    assert report.tables[0].columns[1:3] == ("balanced accuracy", "accuracy")
    assert "By type it is balanced accuracy too" in report.tables[0].notes[-1]
    plain = audited("both", "both")
    for own, other in ((0, 1), (1, 0)):  # the deciding one comes first
        metrics = report.metrics[own].name, plain.metrics[other].name
        found, beside = (
            {s.feature: s.value for s in one.scores if s.metric == metric}
            for one, metric in zip((report, plain), metrics, strict=True)
        )
        assert found == beside
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
