"""The audit: what its report says, what its command writes, and what it refuses."""

import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from drawn_questions import draw_questions, prefer_longest
from pydantic import Field

from cuescope.report.steps import next_steps
from cuescope_blind import Blind
from cuescope_blind.none import NoModel
from cuescope_blind.questions import Questions
from cuescope_sdk import (
    Context,
    Options,
    Plugin,
    Report,
    Sample,
    UserError,
    Words,
    digest,
)
from cuescope_testing import Setup


class DrawnOptions(Options):
    count: int = Field(400, description="how many questions")
    points: float = Field(0.3, description="how much oftener the longest is right")
    script: Annotated[str, Words()] = Field("latin", description="latin or cyrillic")
    fault: Annotated[str, Words()] = Field(
        "", description="what is wrong with the data"
    )


class Drawn(Plugin):
    """Drawn questions without videos."""

    Options = DrawnOptions
    options: DrawnOptions
    labels: tuple[str, ...] = ()

    def __init__(self, options: DrawnOptions, context: Context) -> None:
        super().__init__(options, context)
        rng = np.random.default_rng(0)
        questions = draw_questions(options.count, rng)
        right = prefer_longest(questions, options.points, rng)
        self.samples = [
            self._sample(questions, number, right) for number in range(options.count)
        ]
        self.facts: dict[str, str] = {}
        self.fingerprint = digest(options.model_dump())

    def _sample(self, questions: Questions, number: int, right: np.ndarray) -> Sample:
        choices = questions.options[number]
        if self.options.script == "cyrillic":
            shift = {code: code + 0x3D0 for code in range(97, 123)}
            choices = tuple(text.translate(shift) for text in choices)
        label: str | None = choices[right[number]]
        if self.options.fault == "one option":
            choices = (choices[right[number]],)
        elif self.options.fault == "no answers":
            label = None
        return Sample(
            key=questions.keys[number],
            frames=(),
            question=questions.texts[number],
            choices=choices,
            label=label,
            group=f"v{questions.groups.codes[number]}",
            annotations={"question_type": questions.kind[number]},
        )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


def audit(options: dict[str, Any] | None = None, **data: Any) -> Report:
    return Setup(
        Blind,
        NoModel,
        Drawn,
        options or {"redraws": 0},
        data_options=data,
    ).report()


@pytest.fixture(scope="module")
def report() -> Report:
    return audit({"redraws": 19})


def test_a_planted_tell_is_told_in_plain_words(report: Report) -> None:
    sentences = {
        score.feature: report.sentence(score) or "" for score in report.findings
    }
    said = re.fullmatch(
        r"Taking the option of the length that is oftenest right is right in (\d+\.\d)% of 400 "
        r"questions; "
        r"chance level 25\.0% "
        r"\(\+\d+\.\d points; \+\d+\.\d to \+\d+\.\d\)\.",
        sentences["length"],
    )
    assert said is not None
    assert 35 < float(said[1]) < 60
    assert "a learner that sees no pixel is right in" in sentences["blind-learner"]


def test_no_model_is_asked(report: Report) -> None:
    assert report.cost.model_calls == 0
    assert "reads nothing" in report.provenance.model.facts["model"]


def test_the_next_step_is_to_read_the_questions(report: Report) -> None:
    made = report.model_copy(
        update={
            "provenance": report.provenance.model_copy(
                update={"command": "cuescope audit blind --data drawn"}
            )
        }
    )
    [(first, export), (_, hardest), (_, command)] = next_steps(made, "runs/one")
    assert first.startswith("Read the questions that show each tell")
    assert export == "cuescope export runs/one --affected 1 --out answered.jsonl"
    assert hardest == "cuescope blind drawn --hardest 200 --manifest hardest.jsonl"
    # neither a model that was never asked nor a cause in its answers is to be looked for
    assert command == "cuescope audit blind --data drawn --seed 1"
    assert "not found" in audit(points=0.0).notes["next step"]


def test_the_impact_is_the_largest_low_end_of_an_interval(report: Report) -> None:
    told = [int(score.n * score.low) for score in report.findings]
    impact = report.cues[0].impact
    assert impact is not None
    assert (impact.count, impact.total) == (max(told), 400)


def test_what_was_not_found_is_said_with_power(report: Report) -> None:
    assert "position" in report.notes["looked for and not found"]
    assert re.match(r"80% for a gain of \d+\.\d points", report.notes["power"])


def test_redrawn_answers_support_the_learner(report: Report) -> None:
    [evidence] = report.evidence
    assert evidence.verdict == "supported"
    assert evidence.detail.startswith("in 0 of 19 redraws")


def test_a_finding_has_the_questions_that_it_answers(report: Report) -> None:
    [length] = [feature for feature in report.features if feature.key == "length"]
    drawn = Drawn(DrawnOptions(), Context())
    by_key = {sample.key: sample for sample in drawn.samples}
    longest = 0
    for occurrence in length.occurrences:
        sample = by_key[occurrence.sample]
        longest += len(str(sample.label)) == max(map(len, sample.choices))
    assert longest > 0.8 * len(length.occurrences)


def test_a_kind_of_question_is_a_feature_of_its_own(report: Report) -> None:
    keys = {feature.key for feature in report.features}
    assert {"length", "length: what", "length: why"} <= keys


def test_every_question_has_a_score_of_its_own() -> None:
    setup = Setup(Blind, NoModel, Drawn, {"redraws": 0})
    from cuescope_testing import temporary_cache

    with temporary_cache() as cache:
        session = setup.session(cache)
        session.run()
    figures = session.audit.figures
    assert len(figures) == 400
    measures = {measure for _, _, measure, _, _ in figures}
    assert measures == {"blind_score"}
    assert all(-0.25 <= figure <= 0.75 for _, _, _, figure, _ in figures)


def test_another_script_has_the_same_lengths() -> None:
    findings = {score.feature for score in audit(script="cyrillic").findings}
    assert "length" in findings


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"fault": "one option"}, "expected 2 labels or more, got 1"),
        (
            {"fault": "no answers"},
            "expected questions with two options or more and a right answer",
        ),
        (
            {"count": 20},
            "expected at least 20 independent samples, got 10",
        ),
    ],
)
def test_what_cannot_be_audited_is_told_in_one_line(
    data: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as refusal:
        audit(**data)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_model_none_answers_by_chance() -> None:
    drawn = Drawn(DrawnOptions(count=1000), Context())
    from cuescope_sdk import Outcome, Trial

    model = NoModel(NoModel.Options(), Context())
    trials = [Trial(sample=sample) for sample in drawn.samples]
    right = 0
    for trial, response in zip(trials, model.respond(trials), strict=True):
        right += Outcome(trial, response).correct()
    # chance is 250; five standard errors are 68
    assert abs(right - 250) < 68


def test_the_manifest_of_the_hardest_is_read_in_order(tmp_path: Path) -> None:
    from cuescope_blind.command.blinding import Choice

    with pytest.raises(UserError, match="expected both, got no --manifest FILE"):
        Choice(5, None).require_whole()
    with pytest.raises(UserError, match="expected both, got no --hardest N"):
        Choice(None, tmp_path / "hard.jsonl").require_whole()
    Choice(None, None).require_whole()
    Choice(5, tmp_path / "hard.jsonl").require_whole()
