"""The questions, what counts as the same one, and objects taken out of their images."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import Capabilities, Frame, HideTokens, Report, Sample, UserError
from cuescope_spurlens.options import QUESTIONS
from cuescope_spurlens.questions import (
    distinct_trials,
    question_trial,
    questions_about,
    with_article,
)
from cuescope_spurlens.trials import blank_image, has_mask, remove_object
from cuescope_testing import Setup

SAMPLE = Sample(key="a", frames=())


@pytest.mark.parametrize(
    ("noun", "named"),
    [
        ("cup", "a cup"),
        ("apple", "an apple"),
        ("oven", "an oven"),
        ("unicycle", "a unicycle"),
        ("umbrella", "an umbrella"),
        ("uniform", "a uniform"),
        ("hourglass", "an hourglass"),
        ("bus", "a bus"),
        ("scissors", "scissors"),
        ("skis", "skis"),
        ("glass", "a glass"),
        ("tennis racket", "a tennis racket"),
        ("iris", "an iris"),
        ("cactus", "a cactus"),
    ],
)
def test_article(noun: str, named: str) -> None:
    assert with_article(noun) == named


def test_three_questions_name_the_object() -> None:
    asks = questions_about(QUESTIONS, "oven")
    assert len(set(asks)) == 3
    assert all("an oven" in ask and "{" not in ask for ask in asks)


def test_nothing_known_of_the_image_goes_with_the_question() -> None:
    known = Sample(
        key="a",
        frames=(),
        choices=("cup", "lamp"),
        label="cup",
        annotations={"objects": ("cup",)},
    )
    asked = question_trial(known, "Is it?", "text", condition="recognition").sample
    assert (asked.choices, asked.label, asked.annotations) == (("yes", "no"), None, {})


def test_equal_questions_are_asked_once_and_edits_tell_them_apart() -> None:
    hidden = HideTokens.from_mask(np.ones((1, 2, 2), dtype=bool))
    plain = question_trial(SAMPLE, "Is it?", "text", condition="recognition")
    again = question_trial(SAMPLE, "Is it?", "text", condition="hallucination")
    edited = question_trial(SAMPLE, "Is it?", "text", edit=hidden, condition="drop")
    other = question_trial(SAMPLE, "Is it not?", "text", condition="recognition")
    assert list(distinct_trials([plain, again, edited, other, edited])) == [
        plain,
        edited,
        other,
    ]


PIXELS = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3) + 1
OUTLINE = np.zeros((4, 6, 3), np.uint8)
OUTLINE[1:3, 2:] = 255
SCENE = Sample(
    key="a",
    frames=(Frame.from_array(PIXELS),),
    annotations={"masks": {"cup": Frame.from_array(OUTLINE)}},
)


class Outliner:
    def segment(self, frames: Any, names: Any) -> list[np.ndarray]:
        return [np.stack([np.eye(4, 6, dtype=bool) for _ in names]) for _ in frames]


def audit_with(**tools: Any) -> Any:
    return SimpleNamespace(tools=tools)


def test_drop_hides_what_is_under_the_mask() -> None:
    shown, edit = remove_object(audit_with(), SCENE, "cup", "drop")
    assert shown is SCENE
    assert isinstance(edit, HideTokens)
    assert np.array_equal(edit.mask, OUTLINE[None, ..., 0] > 0)


def test_mask_blackens_what_is_under_the_mask_and_nothing_else() -> None:
    shown, edit = remove_object(audit_with(), SCENE, "cup", "mask")
    assert edit is None
    seen = np.asarray(shown.frames[0].load())
    assert not seen[OUTLINE > 0].any()
    assert np.array_equal(seen[OUTLINE == 0], PIXELS[OUTLINE == 0])
    assert shown.frames[0].key != SCENE.frames[0].key


def test_a_segmenter_draws_what_is_not_annotated() -> None:
    plain = Sample(key="b", frames=SCENE.frames)
    assert not has_mask(audit_with(), plain, "cup")
    audit = audit_with(segmenter=Outliner())
    assert has_mask(audit, plain, "cup")
    _, edit = remove_object(audit, plain, "cup", "drop")
    assert isinstance(edit, HideTokens)
    assert np.array_equal(edit.mask[0], np.eye(4, 6, dtype=bool))


def test_blank_is_black_and_as_large() -> None:
    seen = np.asarray(blank_image(SCENE).frames[0].load())
    assert seen.shape == PIXELS.shape
    assert not seen.any()


def test_an_object_that_is_gone_is_imagined_beside_its_cue(
    audited: Callable[..., Report],
) -> None:
    report = audited(artificial=("drop", "mask", "blank"), k=20, task="hallucination")
    found = {score.feature for score in report.findings}
    assert found == {f"{task}/cup/table" for task in ("hallucination", "drop", "mask")}
    assert "questions about an all-black image" in report.notes["black image"]
    assert {f.kind for f in report.features} == {"hallucination", "drop", "mask"}


def test_dropping_needs_a_model_that_can(setup: Callable[..., Setup]) -> None:
    class Whole(setup().model):  # type: ignore[misc, name-defined]
        capabilities = Capabilities(outputs=frozenset({"text"}))

    with pytest.raises(UserError, match="artificial=mask"):
        setup(model=Whole, artificial=("drop",)).report()
