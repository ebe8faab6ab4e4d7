"""Which lost answers are shown."""

from types import SimpleNamespace

import numpy as np
import pytest

from cuescope_quag.conditions import Condition
from cuescope_quag.examples import EXAMPLES, caption, chosen, telling
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial

FRAME = Frame.from_array(np.zeros((2, 2, 3), dtype=np.uint8))


def answered(before, after, types=None, cluster=None):
    count = len(before)
    samples = [
        Sample(
            key=str(i), frames=(FRAME,), question="which?", choices=("a", "b"), label="a",
            annotations={"question_type": (types or ["x"] * count)[i]},
        )
        for i in range(count)
    ]  # fmt: skip
    conditions = [
        Condition("without video", "the video", "modality"),
        Condition("SC: crossmodal", "crossmodal attention", "short-circuit"),
    ]
    return SimpleNamespace(
        samples=samples,
        conditions=conditions,
        cluster=np.arange(count) if cluster is None else np.array(cluster),
        before=np.array(before, dtype=bool),
        after=np.array(after, dtype=bool).reshape(count, 2),
    )


def test_crossmodal_attention_tells_most_where_it_loses_anything() -> None:
    assert telling(answered([1, 1, 1], [[0, 1], [0, 1], [1, 0]])) == 1
    assert telling(answered([1, 1, 1], [[0, 1], [0, 1], [1, 1]])) == 0
    assert telling(answered([1, 0], [[1, 1], [0, 0]])) is None


def test_examples_are_of_other_types_and_videos_first() -> None:
    lost = answered([1] * 6, [[1, 0]] * 6, types=list("xxxyyz"), cluster=[0, 0, 1, 0, 2, 3])
    assert chosen(lost, 1) == [0, 2, 4, 5]
    assert len(chosen(answered([1] * 9, [[1, 0]] * 9), 1)) == EXAMPLES
    assert chosen(answered([1, 1, 0], [[1, 0], [1, 1], [1, 0]]), 1) == [0]


@pytest.mark.parametrize("question", ["which?", None])
def test_the_caption_has_both_answers(question: str | None) -> None:
    sample = Sample(key="s", frames=(FRAME,), question=question, choices=("a", "b"), label="a")
    plain, changed = (
        Outcome(Trial(sample=sample), Response(logits=np.array(logits)))
        for logits in ([1.0, 0.0], [0.0, 1.0])
    )
    condition = Condition("SC: crossmodal", "crossmodal attention", "short-circuit")
    said = caption(plain, changed, condition).splitlines()
    assert said == [question or "(no question)", "answer: a; SC: crossmodal: b"]
