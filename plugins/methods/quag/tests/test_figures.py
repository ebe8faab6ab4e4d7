"""Which answers are shown."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_quag.analysis import Figures
from cuescope_quag.figures import (
    EXAMPLES,
    caption,
    choose_examples,
    deciding_type,
    telling_condition,
)
from cuescope_quag.scores import Loss, Rule
from cuescope_quag.trials import Condition
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial

FRAME = Frame.from_array(np.zeros((2, 2, 3), dtype=np.uint8))


def answers_of(before, after, types=None, video=None):
    count = len(before)
    samples = [
        Sample(
            key=str(i),
            frames=(FRAME,),
            question="which?",
            choices=("a", "b"),
            label="a",
            annotations={"question_type": (types or ["x"] * count)[i]},
        )
        for i in range(count)
    ]
    conditions = [
        Condition("without video", "the video", "modality"),
        Condition("SC: crossmodal", "crossmodal attention", "short-circuit"),
    ]
    return SimpleNamespace(
        samples=samples,
        conditions=conditions,
        keys=[condition.key for condition in conditions],
        groups=SimpleNamespace(
            codes=np.arange(count) if video is None else np.array(video)
        ),
        before=np.array(before, dtype=bool),
        after=np.array(after, dtype=bool).reshape(count, 2),
    )


def test_crossmodal_attention_tells_most_where_it_loses_anything() -> None:
    assert telling_condition(answers_of([1, 1, 1], [[0, 1], [0, 1], [1, 0]])) == 1
    assert telling_condition(answers_of([1, 1, 1], [[0, 1], [0, 1], [1, 1]])) == 0
    assert telling_condition(answers_of([1, 0], [[1, 1], [0, 0]])) is None


def test_examples_are_of_other_types_and_videos_first() -> None:
    lost = answers_of(
        [1] * 6, [[1, 0]] * 6, types=list("xxxyyz"), video=[0, 0, 1, 0, 2, 3]
    )
    assert choose_examples(lost, 1) == [0, 2, 4, 5]
    assert len(choose_examples(answers_of([1] * 9, [[1, 0]] * 9), 1)) == EXAMPLES
    assert choose_examples(answers_of([1, 1, 0], [[1, 0], [1, 1], [1, 0]]), 1) == [0]


@pytest.mark.parametrize("question", ["which?", None])
def test_the_caption_has_both_answers(question: str | None) -> None:
    sample = Sample(
        key="s", frames=(FRAME,), question=question, choices=("a", "b"), label="a"
    )
    plain, changed = (
        Outcome(Trial(sample=sample), Response(logits=np.array(logits)))
        for logits in ([1.0, 0.0], [0.0, 1.0])
    )
    condition = Condition("SC: crossmodal", "crossmodal attention", "short-circuit")
    lines = caption(plain, changed, condition).splitlines()
    assert lines == [question or "(no question)", "answer: a; SC: crossmodal: b"]


# ------------------------------------------------------------------------- samples of a finding


def test_a_finding_shows_the_same_questions_twice(audited) -> None:
    """Titles have the figures of the rows; the right answer goes where the attention was needed."""
    report = audited("both", "both")
    findings = [score.feature for score in report.findings]
    assert [shown.feature for shown in report.contrasts] == findings
    accuracies = {
        row["condition"]: str(row["accuracy"]) for row in report.tables[0].rows
    }
    for shown in report.contrasts:
        key = "SC: crossmodal" if shown.feature == "verdict" else shown.feature
        assert shown.label is None
        plain, changed = shown.sides
        assert plain.title == "As it is: accuracy 93.1% in 160 questions"
        lost = accuracies[key].rstrip("\N{DOWNWARDS ARROW}")
        assert changed.title.endswith(f": accuracy {lost}% in 160 questions")
        sentence = str(
            report.sentence(next(s for s in report.findings if s.feature == key))
        )
        assert f"({lost}% instead of 93.1%)" in sentence
        keys = [
            [e.occurrence.sample.split("/")[0][:8] for e in side.exhibits]
            for side in shown.sides
        ]
        assert keys[0] == keys[1]
    crossmodal = next(s for s in report.contrasts if s.feature == "SC: crossmodal")
    assert crossmodal.sides[1].title.startswith(
        "With attention between video and text averaged"
    )
    # 93% are right before and 22% after: the median question is lost
    assert [side.exhibits[0].correct for side in crossmodal.sides] == [True, False]
    assert (
        crossmodal.sides[0].exhibits[0].words == crossmodal.sides[1].exhibits[0].words
    )
    blind = next(s for s in report.contrasts if s.feature == "without video")
    assert {str(e.words)[-21:] for e in blind.sides[1].exhibits} == {
        " (no video was shown)"
    }


def test_a_verdict_that_rests_on_a_type_shows_that_type() -> None:
    every = Loss(60, 2, 0.01, p_costs=0.9, p_spared=0.9)
    odd = Loss(40, 30, 0.001, p_costs=0.001, p_spared=1)
    nothing: Any = None
    all_alike: Any = (None, {"SC: crossmodal": every})
    by_type: Any = {"odd": (None, {"SC: crossmodal": odd}), "even": all_alike}
    by_measure = {"accuracy": all_alike}
    figures = Figures(nothing, nothing, Rule(), "accuracy", by_measure, by_type)
    assert deciding_type(figures, "SC: crossmodal") == "odd"
    even = replace(figures, by_type={"even": all_alike})
    assert deciding_type(even, "SC: crossmodal") is None
