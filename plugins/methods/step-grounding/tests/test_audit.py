"""Whole audits of planted reasoning: what the report says of it."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NoReturn

import numpy as np
import pytest

from cuescope_sdk import (
    Audit,
    Context,
    Frame,
    Options,
    Plugin,
    PluginError,
    Report,
    Score,
    UserError,
)
from cuescope_sdk.grounding import Case, Judgement, SceneVerifier
from cuescope_step_grounding import StepGrounding
from cuescope_testing import FAKE_TOOLS, Setup

Audited = Callable[..., Report]


def figures(report: Report, feature: str = "reasoning") -> dict[str, float | None]:
    return {s.metric: s.value for s in report.scores if s.feature == feature}


def headline(report: Report, feature: str) -> Score:
    return next(s for s in report.headlines if s.feature == feature)


def checks(report: Report) -> dict[str, str]:
    return {one.check: one.verdict for one in report.evidence}


def test_a_reasoner_that_looks_is_found_grounded(audited: Audited) -> None:
    report = audited()
    found = figures(report)
    # sides change by and by
    assert found.pop("consistency") == pytest.approx(0.95, abs=0.02)
    assert found == {
        "step_grounding_rate": 1.0,
        "hallucination": 0.0,
        "accuracy": 1.0,
        "reliance": 10.0,
    }
    assert report.notes["result"].startswith("No finding: the video supports all 192")
    said = str(report.sentence(headline(report, "reasoning")))
    assert said.startswith(
        "Reasoning is better than random and than the same model with the wrong video: it fits"
    )
    assert (
        "Of 192 claims 100% are supported, 0% refuted, and 0% could not be checked."
        in said
    )
    assert "the video supports 100% [86, 100] of the claims in a step" in said
    assert "of the same claims in other videos of its kind 76% hold" in said
    assert report.notes["verdict"] == "better than random"
    assert not report.findings
    assert checks(report) == {
        "independent samples": "inconclusive",
        "counterfactual traces": "supported",
        "random claims": "inconclusive",  # ten different ones: they are true by luck
        "verifier noise": "supported",
        "pictures against words": "supported",
    }


def test_steps_alone_are_too_alike_to_be_revised(
    audited: Audited, rooms: Any, side_seen: Callable[[Frame], str | None]
) -> None:
    """TCS is how often a side stays: "left" and "right" are too alike to be a revision."""
    report = audited(paper=True, perturbations=())
    samples = [rooms(rooms.Options(), Context())[index] for index in range(24)]
    sides = [[side_seen(frame) for frame in sample.frames] for sample in samples]
    kept = np.mean([[a == b for a, b in pairwise(of)] for of in sides])
    assert figures(report)["consistency"] == pytest.approx(kept)


@pytest.mark.parametrize(
    "right",
    [0.2, *(pytest.param(share, marks=pytest.mark.long) for share in (0.5, 0.8))],
)
def test_support_is_what_is_planted(audited: Audited, right: float) -> None:
    """Each step claims one thing that is there, and one that is as `right` says."""
    report = audited({"right": right}, {"samples": 60}, perturbations=())
    values = figures(report)
    assert values["step_grounding_rate"] == pytest.approx((1 + right) / 2, abs=0.05)
    assert values["hallucination"] == pytest.approx(1 - right, abs=0.1)
    relation = figures(report, "claims: relation")
    assert relation["step_grounding_rate"] == pytest.approx(right, abs=0.1)
    assert figures(report, "claims: entity")["step_grounding_rate"] == 1


@pytest.mark.long
def test_a_blind_reasoner_does_not_change_with_the_video(audited: Audited) -> None:
    """It is right about the things, which are always there, and guesses where they are."""
    report = audited({"looks": False, "right": 1.0}, {"samples": 100}, instances=2)
    assert figures(report)["reliance"] == 0
    video = headline(report, "video")
    assert video.finding
    assert "the reasoning does not change when the video does" in str(
        report.sentence(video)
    )
    assert checks(report)["pictures against words"] == "refuted"


class Deaf(Plugin):
    """Supports nothing."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        return [[Judgement.of(False) for _ in claims] for _, claims in cases]


def test_where_nothing_is_supported_nothing_is_said_of_reliance(
    audited: Audited,
) -> None:
    # of fewer videos the interval of the grounded share holds the margin of 5%
    report = audited({}, {"samples": 80}, tools={"claim-verifier": Deaf})
    assert figures(report, "video")["reliance"] == 0
    assert report.notes["verdict"] == "no better than random"
    assert "video" not in [one.feature for one in report.findings]
    said = str(report.sentence(report.findings[0]))
    assert said.startswith(
        "Reasoning is no better than random: it fits other videos as well as"
    )
    assert "the video supports 0% [0, 5] of the claims in a step" in said


def test_an_open_verdict_has_its_figure_and_says_that_it_is_open(
    audited: Audited,
) -> None:
    report = audited({}, {"samples": 1}, perturbations=())
    verdict = headline(report, "reasoning")
    assert verdict.value == 1
    assert report.notes["verdict"] == "open"
    assert "one video alone cannot be compared with others" in report.statements[0]
    assert "These are few samples: 1, taken as independent." in report.statements[0]
    assert not report.findings


def test_a_reliance_that_is_clipped_has_no_interval(audited: Audited) -> None:
    report = audited({}, {"samples": 16})
    score = next(
        s for s in report.scores if (s.feature, s.metric) == ("reasoning", "reliance")
    )
    assert (score.value, score.low, score.high) == (10, None, None)
    assert report.notes["changed videos"].endswith(
        "VRS is 10 or more: the irrelevant change cost nothing"
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"perturbations": ()},
        {"also": ("lite", "natural", "neutral", "lite")},
        {"instances": 2, "perturbations": ("temporal", "paraphrase", "temporal")},
    ],
)
def test_what_is_asked_at_most_is_told_before(
    audited: Audited, teller: type[Any], rooms: type[Any], options: dict[str, Any]
) -> None:
    setup = Setup(StepGrounding, teller, rooms, options, data_options={"samples": 6})
    plan = setup.plan()
    planned = plan.notes["questions"]
    report = audited({}, {"samples": 6}, **options)
    assert plan.more is not None
    assert report.cost.trials <= plan.trials + plan.more <= 2 * report.cost.trials
    # of rooms that are asked the same, the trace of another one has been written already
    most = report.cost.trials + 6
    assert planned.startswith(f"{most} traces at most: for each sample one as it is")
    assert report.notes["questions"] == planned


def test_one_who_looks_relies_on_the_video(audited: Audited) -> None:
    report = audited({}, {"samples": 16}, instances=2)
    assert not headline(report, "video").finding
    table = next(t for t in report.tables if t.title.startswith("What it costs"))
    rows = {row["changed"]: row for row in table.rows}
    assert rows["temporal"]["traces"] == 32
    assert rows["irrelevant"]["SGR lost"] == 0
    for kind in ("position", "temporal", "visibility"):
        assert float(str(rows[kind]["|P| %"])) > 0
    assert float(str(rows["temporal"]["SGR lost"])) > 10
    assert float(str(rows["visibility"]["SGR lost"])) > 10
    assert rows["paraphrase"]["|P| %"] is None


def test_an_invented_thing_is_named(audited: Audited) -> None:
    report = audited({"invents": "green dog"}, perturbations=())
    thing = headline(report, "named: green dog")
    assert thing.finding
    assert thing.value == 0
    assert report.sentence(thing) == (
        "'green dog': 24 traces name it, and in 24 of them the video never shows it."
    )
    assert not headline(report, "named: red cup").finding
    place = next(f for f in report.features if f.key == "named: green dog").occurrences[
        0
    ]
    assert (place.sample, place.frame) == ("room-000", 0)


def test_decay_is_found_in_the_last_steps(audited: Audited) -> None:
    report = audited({"decay": True}, perturbations=())
    late = headline(report, "steps: late")
    assert late.finding
    said = str(report.sentence(late))
    assert "from 100% of" in said
    assert "to 50% in the last" in said
    assert figures(report, "steps: early")["step_grounding_rate"] == 1


def test_right_answers_without_support_are_told(audited: Audited) -> None:
    report = audited({"right": 0.0, "invents": "green dog"}, perturbations=())
    answers = headline(report, "answers")
    assert answers.finding
    assert "100% [86, 100]" in str(report.sentence(answers))
    assert figures(report)["accuracy"] == 1
    assert report.accuracy is not None
    assert (report.accuracy.correct, report.accuracy.answered) == (24, answers.n)
    assert report.accuracy.chance == 0.5  # left or right


class Nothing(Plugin):
    """A verifier that can say nothing, but how many claims came at once."""

    calls: ClassVar[list[int]] = []
    fingerprint = "nothing"

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        self.calls.append(sum(len(claims) for _, claims in cases))
        return [[Judgement.open("abstract") for _ in claims] for _, claims in cases]


def test_everything_is_judged_in_one_call(audited: Audited) -> None:
    Nothing.calls.clear()
    report = audited(
        {}, {"samples": 6}, tools={"claim-verifier": Nothing}, also=("lite",)
    )
    assert len(Nothing.calls) == 1
    assert Nothing.calls[0] > 6 * 8
    first = report.headlines[0]
    assert (first.feature, first.value, first.finding) == ("reasoning", None, False)
    assert str(report.sentence(first)).endswith("could be verified (abstract 100%).")
    assert figures(report).get("step_grounding_rate") is None
    assert [evidence.check for evidence in report.evidence] == ["independent samples"]
    assert "verdict" not in report.notes


def test_policies_decide_what_is_not_verified(audited: Audited) -> None:
    tools = {"claim-verifier": Nothing}
    assert (
        figures(audited(tools=tools, perturbations=(), unverifiable="penalise"))[
            "hallucination"
        ]
        == 1
    )
    neutral = audited(tools=tools, perturbations=(), unverifiable="neutral")
    assert figures(neutral)["hallucination"] == 0
    table = next(t for t in neutral.tables if t.title.startswith("How well"))
    assert table.rows[0]["SGR"] == 50


class Short(Plugin):
    """Leaves out a judgement."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        return [said[:-1] for said in SceneVerifier().judge(cases)]


def test_a_verifier_that_skips_claims_is_named(audited: Audited) -> None:
    with pytest.raises(PluginError, match="one judgement a claim"):
        audited(tools={"claim-verifier": Short})


def test_without_evidence_the_report_says_what_to_add(audited: Audited) -> None:
    report = audited({}, {"scenes": False})
    assert "no claim can be checked" in report.notes["weak data"]
    said = str(report.sentence(report.headlines[0]))
    assert "--tool claim-verifier=box-geometry" in said
    assert "nothing to see" in report.notes
    assert not report.findings


class HearingOptions(Options):
    """What it goes by."""

    argument = "senses"
    senses: str = "eyes"


class Hearing(Plugin):
    """The annotated scenes, as a tool with an argument."""

    Options: ClassVar[type[Options]] = HearingOptions
    fingerprint = "hearing"

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        return SceneVerifier().judge(cases)


class Watching(Plugin):
    """Notes what it is shown."""

    Options: ClassVar[type[Options]] = Options
    shown: ClassVar[list[Case]] = []

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        self.shown.extend(cases)
        return SceneVerifier().judge(cases)


def test_changed_traces_are_held_against_the_original(audited: Audited) -> None:
    Watching.shown.clear()
    audited(
        {},
        {"samples": 4},
        tools={"claim-verifier": Watching},
        perturbations=("temporal",),
    )
    videos = {tuple(f.key for f in sample.frames) for sample, _ in Watching.shown}
    assert len(videos) == 4


@pytest.mark.long
def test_who_guesses_sides_is_right_half_the_time(audited: Audited) -> None:
    report = audited({"looks": False}, {"samples": 60, "frames": 8}, perturbations=())
    assert figures(report, "claims: relation")["step_grounding_rate"] == pytest.approx(
        0.5, abs=0.1
    )


def test_styles_stand_beside_each_other(audited: Audited) -> None:
    report = audited({}, {"samples": 40}, also=("lite", "natural"), perturbations=())
    table = next(t for t in report.tables if t.title.startswith("How well"))
    assert [row["reasoning"] for row in table.rows] == ["neutral", "lite", "natural"]
    assert checks(report)["asked in the style lite"] == "supported"


def test_a_trace_is_shown_with_each_claim_marked(audited: Audited) -> None:
    report = audited({"invents": "green dog"}, {"samples": 8}, shown=2)
    table = next(t for t in report.tables if t.title.startswith("One trace"))
    assert table.rows[0]["step"].startswith("1. At frame 1, the red cup is ")  # type: ignore[union-attr]
    assert "✓ red cup" in str(table.rows[0]["claims"])
    assert table.rows[-1]["claims"] == "✗ green dog"
    assert len(report.pictures) == 2
    assert report.pictures[0].image[:2] == b"\xff\xd8"


@pytest.mark.parametrize(("benchmark", "models"), [("STAR", 8), ("COCO", 0), (None, 0)])
def test_the_papers_models_stand_beside_on_their_own_benchmarks(
    teller: type[Any], rooms: type[Any], benchmark: str | None, models: int
) -> None:
    data = type("Benchmark", (rooms,), {"benchmark": benchmark})
    options = {"shown": 0, "perturbations": ()}
    report = Setup(
        StepGrounding, teller, data, options, data_options={"samples": 4}
    ).report()
    table = next(t for t in report.tables if t.title.startswith("How well"))
    assert len(table.rows) == 1 + models
    if models:
        row = {"reasoning": "GPT-4o", "Acc": 77.3, "SGR": 71.8, "TCS": 74.9, "HR": 16.2}
        assert table.rows[-1] == row | {"VRS": None}


def test_as_an_extra_verifier_it_has_nothing_to_check() -> None:
    """With --verify-with the audit is another method's: no trace is asked for."""

    def refuse(trials: object) -> NoReturn:
        raise AssertionError("a trace is asked for")

    audit = Audit(labels=(), options=Options(), respond=refuse, context=Context())
    method = StepGrounding(StepGrounding.Options(), Context())
    assert list(method.verify(audit, [], [])) == []


BAD = {
    "nothing": ("", "empty 6"),
    "a thousand steps": (
        "\n".join(f"{n}. A cup." for n in range(1, 1001)),
        "too many steps 6",
    ),
    "html": ("1. <img src=x onerror=alert(1)>\nAnswer: left", ""),
    "controls": ("1. \x1b[2J\x07A cup.\nAnswer: left", ""),
    "another language": ("1. 左边有一个红色的杯子。\n答案: left", "no answer 6"),
    "no such frame": ("1. At frame 99, there is a red cup.\nAnswer: left", ""),
    "cut": ("1. At frame 1, there is a red", "cut 6"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_traces_are_counted_and_no_error(audited: Audited, case: str) -> None:
    text, problem = BAD[case]
    form = text.replace("{", "{{").replace("}", "}}")
    report = audited({"form": form}, {"samples": 6}, perturbations=("temporal",))
    assert problem in report.notes["traces"]
    if case == "no such frame":
        assert "6 about a moment outside the video" in report.notes["claims"]
        assert report.notes["why unverifiable"] == "unclear reference 100%"
    if case == "controls":
        assert "\x1b" not in report.model_dump_json()


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("no-such-tool", "no tool 'no-such-tool' is installed"),
        (
            "under-test-sentence-encoder",
            "under-test-sentence-encoder is no claim-verifier: expected",
        ),
    ],
)
def test_another_verifier_that_is_none_is_refused_before_anything_is_asked(
    teller: type[Any], rooms: type[Any], spec: str, problem: str
) -> None:
    setup = Setup(
        StepGrounding,
        teller,
        rooms,
        {"other_verifiers": (spec,)},
        tools={"sentence-encoder": FAKE_TOOLS["sentence-encoder"]},
    )
    with pytest.raises(UserError, match=problem):
        setup.plan()


def test_other_verifiers_are_compared_with(audited: Audited) -> None:
    """The deaf one is there as a tool, so that its name is known; the scenes judge in it."""
    report = audited(
        {"right": 0.5},
        {"samples": 24},
        tools={"claim-verifier": Hearing},
        perturbations=(),
        other_verifiers=("under-test-claim-verifier",),
    )
    check = next(
        one
        for one in report.evidence
        if one.check == "verifier under-test-claim-verifier"
    )
    assert (check.verdict, check.value, check.threshold) == ("supported", 1, 0.6)
    assert re.fullmatch(
        r"SGR ([\d.]+%) instead of \1; both decide 192 of 192 claims, 100% of them alike; "
        r"kappa 1.00 \[1.00, 1.00\]",
        check.detail,
    )
    assert report.notes["claims held against"] == "under-test-claim-verifier"


def test_options_are_checked() -> None:
    from pydantic import ValidationError

    for steps, said in (("6 to 8", "6 to 8"), ("6-8", "6 to 8"), (5, "5"), ("5", "5")):
        assert StepGrounding.Options(steps=steps).steps == said  # type: ignore[arg-type]
    for steps in ("many", "0", "8 to 6", "-1", "6 to", "", "6 to 8 to 9"):
        with pytest.raises(UserError, match=f"a number or a range.*got '{steps}'"):
            StepGrounding.Options(steps=steps)
    for wrong in (
        {"style": "loud"},
        {"perturbations": ("sound",)},
        {"clip": 0},
        {"noise": 0.9},
    ):
        with pytest.raises(ValidationError):
            StepGrounding.Options(**wrong)  # type: ignore[arg-type]


def test_intervals_hold_their_figures(audited: Audited) -> None:
    report = audited({"right": 0.6})
    for score in report.scores:
        if score.value is not None and score.low is not None and score.high is not None:
            assert score.low <= score.value <= score.high
    assert not np.isnan([s.value for s in report.scores if s.value is not None]).any()


def test_the_same_audit_gives_the_same_report(audited: Audited) -> None:
    assert audited({"right": 0.7}).hash == audited({"right": 0.7}).hash


class People(Plugin):
    """Sees a person in every video, where a woman is claimed."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        seen = Judgement(verdict="supported", general=True)
        return [
            [
                seen if claim.subject == "woman" else judgement
                for claim, judgement in pairs
            ]
            for (_, claims), judgements in zip(
                cases, SceneVerifier().judge(cases), strict=True
            )
            for pairs in [list(zip(claims, judgements, strict=True))]
        ]


def test_what_a_more_general_word_supports_is_counted_and_told(
    audited: Audited,
) -> None:
    tools = {"claim-verifier": People}
    report = audited({"invents": "woman"}, tools=tools, perturbations=(), shown=1)
    assert (
        "100% are supported (11% by a more general word), 0% refuted"
        in report.statements[0]
    )


class Blinking(Plugin):
    """Cannot tell of seven claims in ten."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        unknown = Judgement.open("no evidence")
        return [
            [
                unknown if (index % 10) < 7 else judgement
                for index, judgement in enumerate(of_case)
            ]
            for of_case in SceneVerifier().judge(cases)
        ]


def test_no_verdict_is_given_where_most_claims_cannot_be_decided(
    audited: Audited,
) -> None:
    report = audited(
        {}, {"samples": 40}, tools={"claim-verifier": Blinking}, perturbations=()
    )
    verdict = headline(report, "reasoning")
    assert report.notes["verdict"] == "open"
    assert (verdict.finding, verdict.p_value) == (False, None)
    said = report.statements[0]
    assert "most claims could not be checked" in said
    assert re.search(
        r"Of \d+ claims \d+% are supported, \d+% refuted, and [5-9]\d% could", said
    )


def test_clips_of_one_group_make_intervals_wider(
    audited: Audited, rooms: type[Any], teller: type[Any]
) -> None:
    """As many samples, of which four are of one source."""
    from dataclasses import replace

    class Sources(rooms):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Any:
            return replace(super().__getitem__(index), group=f"source {index // 4}")

    options = {"shown": 0, "perturbations": ()}
    setup = Setup(StepGrounding, teller, Sources, options, model_options={"right": 0.5})
    grouped, single = setup.report(), audited({"right": 0.5}, perturbations=())
    assert "These are few samples: 6 groups." in grouped.statements[0]
    assert "few" not in single.statements[0]
    (wide, narrow) = (headline(report, "reasoning") for report in (grouped, single))
    assert wide.value == narrow.value
    assert (wide.high or 0) - (wide.low or 0) > (narrow.high or 0) - (narrow.low or 0)
