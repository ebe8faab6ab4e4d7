"""Which lost answers are shown."""

from types import SimpleNamespace

import numpy as np
import pytest

from cuescope_quag.figures import EXAMPLES, caption, choose_examples, telling_condition
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
        video=np.arange(count) if video is None else np.array(video),
        before=np.array(before, dtype=bool),
        after=np.array(after, dtype=bool).reshape(count, 2),
    )


def test_crossmodal_attention_tells_most_where_it_loses_anything() -> None:
    assert telling_condition(answers_of([1, 1, 1], [[0, 1], [0, 1], [1, 0]])) == 1
    assert telling_condition(answers_of([1, 1, 1], [[0, 1], [0, 1], [1, 1]])) == 0
    assert telling_condition(answers_of([1, 0], [[1, 1], [0, 0]])) is None


def test_examples_are_of_other_types_and_videos_first() -> None:
    lost = answers_of([1] * 6, [[1, 0]] * 6, types=list("xxxyyz"), video=[0, 0, 1, 0, 2, 3])
    assert choose_examples(lost, 1) == [0, 2, 4, 5]
    assert len(choose_examples(answers_of([1] * 9, [[1, 0]] * 9), 1)) == EXAMPLES
    assert choose_examples(answers_of([1, 1, 0], [[1, 0], [1, 1], [1, 0]]), 1) == [0]


@pytest.mark.parametrize("question", ["which?", None])
def test_the_caption_has_both_answers(question: str | None) -> None:
    sample = Sample(key="s", frames=(FRAME,), question=question, choices=("a", "b"), label="a")
    plain, changed = (
        Outcome(Trial(sample=sample), Response(logits=np.array(logits)))
        for logits in ([1.0, 0.0], [0.0, 1.0])
    )
    condition = Condition("SC: crossmodal", "crossmodal attention", "short-circuit")
    lines = caption(plain, changed, condition).splitlines()
    assert lines == [question or "(no question)", "answer: a; SC: crossmodal: b"]
