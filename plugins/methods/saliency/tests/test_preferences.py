"""Maps that like borders or flat parts are no finding; a cue in the background still is one."""

from typing import Any

import numpy as np
import pytest

from cuescope_saliency.analysis import lean_tests
from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.trials import ExplainedImage
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial

SIDE = 56
TEXTS = ("hen", "boat")
AT = np.mgrid[:SIDE, :SIDE]
FROM_MIDDLE = np.abs(AT / (SIDE - 1) - 0.5).max(axis=0)


def explained(index: int, rng: np.random.Generator, kind: str) -> ExplainedImage:
    """A busy square on a flat ground with a busy mark, and a map of a kind."""
    left, top, far = rng.integers(4, 28, 3)
    mask = np.zeros((SIDE, SIDE), bool)
    mask[top : top + 24, left : left + 24] = True
    mark = np.zeros_like(mask)
    mark[far : far + 16, :16] = True
    mark &= ~mask
    busy = rng.integers(0, 256, (SIDE, SIDE))
    pixels = np.where(mask | mark, busy, rng.integers(90, 110, mask.shape))
    maps = {
        "borders": FROM_MIDDLE**3,
        "flat": np.where(mask | mark, 0.1, 1.0),
        "mark": np.where(mark if index % 2 else mask, 1.0, 0.02),
    }
    importance = maps[kind] * rng.uniform(0.5, 1, mask.shape)
    frame = Frame.from_array(np.repeat(pixels[..., None], 3, 2).astype(np.uint8))
    sample = Sample(
        key=f"{index:03d}", frames=(frame,), choices=TEXTS, label=TEXTS[index % 2]
    )
    answer: Any = Outcome(Trial(sample=sample), Response(logits=np.eye(2)[index % 2]))
    return ExplainedImage(answer, sample, TEXTS[index % 2], importance, mask)


@pytest.mark.parametrize("kind", ["borders", "flat", "mark"])
def test_only_the_cue_is_found(kind: str) -> None:
    rng = np.random.default_rng(3)
    images = [explained(index, rng, kind) for index in range(60)]
    tests = lean_tests(SaliencyOptions(), images, better_than_chance=True)
    # all of these maps lean on the background by more than its size explains
    of_text = {test.figures.text: test for test in tests}
    assert of_text["boat"].figures.lean.mean() > 0.05
    found = {test.figures.text for test in tests if test.finding}
    assert found == ({"boat"} if kind == "mark" else set())
