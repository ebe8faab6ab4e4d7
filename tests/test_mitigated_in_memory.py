"""A function of the caller answers with what was learned for it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cuescope
from cuescope.python.objects import hold_model
from cuescope_core.context import Context
from cuescope_mitigators.new_head import Head
from cuescope_sdk import Frame, Sample, Trial, UserError

LABELS = ("bird", "boat")


def say_boat(images: list[Any]) -> np.ndarray:
    """Whatever is shown."""
    return np.tile([0.2, 0.8], (len(images), 1))


def colours(images: list[Any]) -> np.ndarray:
    return np.array([np.asarray(image).mean(axis=(0, 1)) / 255 for image in images])


def trial(name: str, colour: tuple[int, int, int]) -> Trial:
    pixels = np.full((8, 8, 3), colour, np.uint8)
    frame = Frame.from_array(pixels)
    sample = Sample(key=name, frames=(frame,), choices=LABELS, label="bird")
    return Trial(sample=sample, outputs=frozenset({"logits"}))


@pytest.fixture
def model() -> cuescope.Classifier:
    return cuescope.Classifier(say_boat, name="boats", labels=LABELS, embed=colours)


@pytest.fixture
def folder(tmp_path: Path, model: cuescope.Classifier) -> Path:
    """A head that says bird where red is seen, kept for this model."""
    head = Head(
        labels=LABELS,
        weights=np.array([[9.0, 0, 0], [0, 0, 0]]),
        bias=np.zeros(2),
        adds=True,
    )
    stamp = {"model": model.fingerprint, "spec": "boats"}
    head.save(tmp_path / "kept", mitigator="last-layer", model=stamp)
    return tmp_path / "kept"


def test_a_function_is_mended_where_the_cue_is(
    model: cuescope.Classifier, folder: Path
) -> None:
    trials = [trial("red", (250, 0, 0)), trial("blue", (0, 0, 250))]
    held = hold_model(cuescope.Mitigated(model, folder), {}, None, Context())
    built = held.build(Context())
    answers = [LABELS[answer.logits.argmax()] for answer in built.respond(trials)]
    assert answers == ["bird", "boat"]
    before = hold_model(model, {}, None, Context())
    was = before.build(Context())
    # answers and runs of the two are kept apart
    assert built.fingerprint != was.fingerprint
    assert held.fingerprint != before.fingerprint
    assert built.facts["mitigated"] == f"by last-layer ({folder})"
    assert [answer.logits.argmax() for answer in was.respond(trials)] == [1, 1]


def test_what_was_learned_for_another_function_is_refused(
    model: cuescope.Classifier, folder: Path
) -> None:
    other = cuescope.Mitigated(model.with_name("others"), folder)
    held = hold_model(other, {}, None, Context())
    with pytest.raises(UserError, match="was made for another model"):
        held.build(Context())


def test_each_way_that_is_none_is_one_line(
    model: cuescope.Classifier, folder: Path, tmp_path: Path
) -> None:
    options = {"mitigated": str(folder)}
    with pytest.raises(UserError, match=r"cuescope.Mitigated\(model, '.*kept'\)"):
        hold_model(model, options, None, Context())
    with pytest.raises(UserError, match=r"model_options=\{'mitigated': "):
        cuescope.Mitigated("toy", folder)
    with pytest.raises(UserError, match="a folder as `cuescope mitigate` wrote it"):
        cuescope.Mitigated(model, tmp_path / "nothing")
