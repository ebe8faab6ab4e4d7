"""Whole audits of planted truth: what the report says, and what it shows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cuescope_quag.paper import paper_rows
from cuescope_quag.tables import few_videos
from cuescope_sdk import Report, Response, Sample, UserError
from cuescope_sdk.statistics import Groups

Audited = Callable[..., Report]


@pytest.mark.parametrize(
    ("truth", "reads", "verdict"),
    [
        ("both", "both", "fuses"),
        ("text", "text", "text alone"),
        ("video", "video", "video alone"),
        ("both", "apart", "fuses by means"),
    ],
)
@pytest.mark.parametrize(
    "open_ended", [False, pytest.param(True, marks=pytest.mark.long)]
)
def test_planted_truth_is_called_by_its_name(
    audited: Audited, truth: str, reads: str, verdict: str, open_ended: bool
) -> None:
    report = audited(truth, reads, data_options={"open_ended": open_ended})
    assert report.notes["verdict"] == verdict
    first = report.findings[0]
    assert first.feature == "verdict"
    sentence = str(report.sentence(first))
    assert sentence.startswith("Verdict on video and text: the model ")
    by_feature = {score.feature: score for score in report.headlines}
    for key in ("without video", "without question", "SC: crossmodal"):
        assert f"{abs(by_feature[key].value or 0):.1f} points" in sentence


class Kinds:
    """Two thirds of the questions as the quiz says, the others answered by their words alone."""

    def __getitem__(self, index: int) -> Sample:
        sample: Sample = super().__getitem__(index)  # type: ignore[misc]
        number = int(str(sample.question).split()[-1])
        own = range(len(self))[index] % 3 > 0  # type: ignore[arg-type]
        kind = {"question_type": "quiz" if own else "plain"}
        if own:
            return replace(sample, annotations=kind)
        labels = ("north", "east", "south", "west")
        words = {"question": f"plain {number}", "label": labels[number]}
        return replace(sample, annotations=kind, **words)


def by_kind(reader: type[Any]) -> type[Any]:
    """A reader that answers plain questions from their words, whatever is averaged."""

    class ByKind(reader):  # type: ignore[misc]
        def known(self, trial: Any) -> int:
            words = str(trial.sample.question).split()
            return int(words[-1]) if words[0] == "plain" else int(super().known(trial))

    return ByKind


@pytest.mark.parametrize(
    ("truth", "reads", "verdict", "says"),
    [
        (
            "both",
            "both",
            "fuses",
            "On quiz questions (168 of 252), the only ones in which",
        ),
        pytest.param(
            "both",
            "apart",
            "fuses by means",
            "by their means at most, or outside of this attention",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "video",
            "video",
            "each alone",
            "the video surely matters, it answers from the video",
            marks=pytest.mark.long,
        ),
    ],
)
def test_questions_that_need_no_video_dilute_nothing(
    audited: Audited,
    quiz: type[Any],
    reader: type[Any],
    truth: str,
    reads: str,
    verdict: str,
    says: str,
) -> None:
    data = type("Kinds", (Kinds, quiz), {})
    report = audited(
        truth,
        reads,
        data=data,
        model=by_kind(reader),
        data_options={"samples": 252},
        captures=0,
    )
    assert report.notes["verdict"] == verdict
    sentence = str(report.sentence(report.findings[0]))
    assert says.lower() in sentence.lower()
    assert ("so what a model takes from a mean is not tested" in sentence) == (
        verdict != "fuses"
    )


def test_what_was_asked_without_a_video_shows_none_and_says_so(
    audited: Audited,
) -> None:
    report = audited("video", "video")
    sides = {c.feature: c.sides for c in report.contrasts}
    own, without = sides["without video"]
    # a still: its frame is shown
    assert all(exhibit.drawing is None for exhibit in own.exhibits)
    for exhibit in without.exhibits:
        assert exhibit.occurrence.sample.endswith("without the video")
    words = "These questions can be answered without their words."
    # in place of what is said of a cue
    assert report.notes["next step"].startswith(words)


def test_findings_are_what_was_needed(audited: Audited) -> None:
    report = audited("text", "text")
    assert {score.feature for score in report.findings} == {
        "verdict",
        "without question",
        "SC: unimodal",
        "SC: text",
    }
    names = [report.names[score.feature] for score in report.findings]
    assert names[0] == "Verdict on video and text"
    assert set(names[1:]) == {
        "without the question",
        "attention within video and within text (SC: unimodal)",
        "attention to the text (SC: text)",
    }
    words = {score.feature: str(report.sentence(score)) for score in report.findings}
    lost = next(s for s in report.headlines if s.feature == "SC: text")
    assert words["SC: text"].startswith(
        "With attention to the text (SC: text) averaged, the model loses"
    )
    assert words["without question"].startswith(
        "Asked without the question, the model loses"
    )
    assert f"{lost.value:.1f} points" in words["SC: text"]


def undecided(report: Report, kind: str) -> str:
    """The sentence of a report that has no finding, and says why."""
    assert not report.findings
    assert report.notes["verdict"] == kind
    first = report.headlines[0]
    assert (first.feature, first.value) == ("verdict", None)
    return str(report.sentence(first))


def test_at_chance_nothing_is_found(audited: Audited) -> None:
    sentence = undecided(audited("both", "nothing"), "at chance")
    assert sentence.startswith(
        "Verdict on video and text: the model answers at chance, so nothing can"
    )
    assert "where the chance level is 25.0%" in sentence


def test_few_wrong_answers_tell_nothing(audited: Audited) -> None:
    undecided(audited("both", "nothing", data_options={"samples": 16}), "at chance")
    with pytest.raises(UserError, match="too few samples for any finding"):
        audited("both", "nothing", data_options={"samples": 2})


def test_an_open_verdict_opens_the_report_where_there_are_findings(
    audited: Audited,
) -> None:
    report = audited("text", "text", data_options={"samples": 16})
    assert report.notes["verdict"] == "open"
    first, *others = report.findings
    assert "cannot be judged from these samples" in str(report.sentence(first))
    assert (first.feature, first.value) == ("verdict", None)
    assert others


class OneAnswer:
    """All turn to the north."""

    def __getitem__(self, index: int) -> Sample:
        sample: Sample = super().__getitem__(index)  # type: ignore[misc]
        return replace(sample, label="north")


@pytest.mark.parametrize("open_ended", [False, True])
def test_one_right_answer_is_said(
    audited: Audited, quiz: type[Any], open_ended: bool
) -> None:
    data = type("Same", (OneAnswer, quiz), {})
    report = audited("both", "both", data=data, data_options={"open_ended": open_ended})
    assert (
        "same right answer, 'north', so nothing can be tested"
        in report.notes["weak data"]
    )
    sentence = undecided(report, "one right answer")
    assert "All 160 questions have the same right answer, 'north'" in sentence
    assert report.notes["accuracy"].endswith("all have the same right answer, 'north'")


class Wordy:
    """Answers in whole sentences."""

    def answer(self, trial: Any) -> Response:
        response: Response = super().answer(trial)  # type: ignore[misc]
        return replace(response, text=f"The arrow points{response.text}")


def test_open_answers_that_are_never_right_are_told(
    audited: Audited, reader: type[Any]
) -> None:
    model = type("Wordy", (Wordy, reader), {})
    report = audited("both", "both", model=model, data_options={"open_ended": True})
    sentence = undecided(report, "no right answer")
    assert "No answer equals an accepted one" in sentence
    assert (
        "the model answered \N{LEFT DOUBLE QUOTATION MARK}The arrow points" in sentence
    )
    assert "prompt='{question} Answer in one word.'" in sentence


def test_the_tables_have_a_row_a_condition(audited: Audited) -> None:
    report = audited("both", "both")
    accuracies = report.tables[0]
    conditions = [row["condition"] for row in accuracies.rows]
    assert conditions[:4] == [
        "baseline",
        "without video",
        "without question",
        "SC: unimodal",
    ]
    cells = {row["condition"]: row for row in accuracies.rows}
    assert cells["SC: crossmodal"]["accuracy"] == "22.5\N{DOWNWARDS ARROW}"
    assert cells["baseline"]["accuracy"] == "93.1"
    # no arrow: guesses alone are other ones
    assert cells["SC: unimodal"]["accuracy"] == "94.4"
    assert accuracies.columns == (
        "condition",
        "accuracy",
        "balanced accuracy",
        "even",
        "odd",
    )
    assert not accuracies.paper


@pytest.mark.parametrize(
    "name", ["NExT-QA", pytest.param("ATP-Hard", marks=pytest.mark.long)]
)
def test_the_papers_figures_stand_beside_on_its_data_sets(
    audited: Audited, quiz: type[Any], name: str
) -> None:
    class Published(quiz):  # type: ignore[misc]
        benchmark = name

        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            kind = ("Causal", "Temporal")[index % 2]
            return replace(sample, annotations={"question_type": kind})

    report = audited("both", "both", data=Published, beside="JustAsk")
    paper = {row["condition"]: row for row in report.tables[0].paper}
    published = {
        row["condition"]: row["accuracy"] for row in paper_rows("JustAsk", name)
    }
    assert paper["SC: text"]["accuracy"] == published["SC: text"]
    assert "Causal" in paper["SC: text"]
    assert "Descriptive" not in paper["SC: text"]
    assert f"JustAsk on {name} in the paper" in report.tables[0].notes[0]


@pytest.mark.parametrize("name", [pytest.param(None, marks=pytest.mark.long), "STAR"])
def test_of_other_data_the_paper_has_no_figures(
    audited: Audited, quiz: type[Any], name: str | None
) -> None:
    other = type("Other", (quiz,), {"benchmark": name})
    accuracies = audited("both", "both", data=other).tables[0]
    assert not accuracies.paper
    assert "in the paper" not in accuracies.notes[0]


# ----------------------------------------------------------------------------------- tables


def test_intervals_of_few_videos_are_warned_of() -> None:
    assert few_videos(Groups.single(19))[0].startswith(
        "Videos: 19, so few that the intervals are rough"
    )
    assert not few_videos(Groups.single(20))


# ------------------------------------------------------------------------------- what was drawn


def in_groups(quiz: type[Any], group: Callable[[int], str | None]) -> type[Any]:
    """The quiz, whose questions name a group by their number."""

    class Grouped(quiz):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            return replace(sample, group=group(range(len(self))[index]))

    return Grouped


def test_questions_of_one_video_prove_nothing(
    audited: Audited, quiz: type[Any]
) -> None:
    data = in_groups(quiz, lambda index: "video")
    with pytest.raises(UserError, match=r"too few samples for any finding.* got 1"):
        audited("both", "both", data=data)


def test_groups_are_the_videos_that_are_counted(
    audited: Audited, quiz: type[Any]
) -> None:
    data = in_groups(quiz, lambda index: f"video {index // 8}")
    report = audited("both", "both", data=data)
    assert "160 questions about 20 videos" in report.notes["accuracy"]
    plain = audited("both", "both")
    assert "about 160 videos" in plain.notes["accuracy"]
    for score, other in zip(report.headlines, plain.headlines, strict=True):
        assert score.value is None or score.n == other.n


def test_groups_may_miss(audited: Audited, quiz: type[Any]) -> None:
    data = in_groups(quiz, lambda index: f"video {index // 4}" if index % 2 else None)
    report = audited("both", "both", data=data)
    assert report.notes["verdict"] == "fuses"
    assert "about 120 videos" in report.notes["accuracy"]


def test_what_would_have_been_found_is_said(audited: Audited) -> None:
    assert audited("both", "both").notes["power"].startswith("80% for a loss of ")
    few = audited("both", "both", data_options={"samples": 6})
    assert few.notes["power"].startswith("none: with so few questions")
