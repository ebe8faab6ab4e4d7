"""Each dial does what it says, by the annotated scene; and the reasoner looks, or does not."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Context, Frame, Sample, Trial, UserError
from cuescope_sdk.grounding import SCENE, Judgement, SceneVerifier
from cuescope_shape_world.scripted import (
    Scripted,
    ScriptedOptions,
    Step,
    listed_choices,
)
from cuescope_shape_world.statements import is_true

Drawn = Callable[..., tuple[Sample, ...]]
COUNT = 60  # videos, of seven steps


def scripted(**options: Any) -> Scripted:
    return Scripted(ScriptedOptions(**options), Context())


def text(model: Scripted, sample: Sample) -> str:
    [found] = model.respond([Trial(sample=sample, outputs=frozenset({"text"}))])
    return found.text or ""


def judged(model: Scripted, samples: Sequence[Sample]) -> list[list[list[Judgement]]]:
    """The judgements of each claim, by sample and step."""
    traces = [model.reason(sample)[0] for sample in samples]
    cases = [
        (sample, step.claims)
        for sample, steps in zip(samples, traces, strict=True)
        for step in steps
    ]
    found = iter(SceneVerifier().judge(cases))
    return [[next(found) for _ in steps] for steps in traces]


def grounded(model: Scripted, samples: Sequence[Sample]) -> np.ndarray:
    """Share of supported claims, by sample and step."""
    shares = [
        [np.mean([one.verdict == "supported" for one in step]) for step in steps]
        for steps in judged(model, samples)
    ]
    return np.array(shares)


# ------------------------------------------------------------------------------------ the dials


def test_by_default_all_is_true(drawn: Drawn) -> None:
    samples = drawn(count=COUNT)
    model = scripted()
    assert (grounded(model, samples) == 1).all()
    assert [model.reason(sample)[1] for sample in samples] == [s.label for s in samples]


def test_grounding_is_the_share_of_true_claims(drawn: Drawn) -> None:
    dials = np.linspace(0.1, 1, 4)
    measured = [
        grounded(scripted(grounding=dial), drawn(count=COUNT)).mean() for dial in dials
    ]
    # Steps of one claim and more: at most as spread as 420 single claims.
    bound = 3.5 * np.sqrt(dials * (1 - dials) / (7 * COUNT))
    assert (np.abs(measured - dials) <= bound).all()
    assert np.corrcoef(dials, measured)[0, 1] > 0.99
    assert np.polyfit(dials, measured, 1)[0] == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("dial", [0.0, 0.25, 0.6, 1.0])
def test_hallucination_is_the_share_of_steps_with_one_false_claim(
    drawn: Drawn, dial: float
) -> None:
    model = scripted(hallucination=dial, grounding=0.1)
    false = [
        sum(one.verdict == "unsupported" for one in step)
        for steps in judged(model, drawn(count=COUNT))
        for step in steps
    ]
    assert set(false) <= {0, 1}
    assert np.mean(false) == pytest.approx(
        dial, abs=3.5 * np.sqrt(0.25 / len(false)) * (0 < dial < 1)
    )


def test_decay_falls_evenly_from_the_first_step_to_the_last(drawn: Drawn) -> None:
    by_step = grounded(scripted(grounding=0.9, decay=0.6), drawn(count=COUNT)).mean(
        axis=0
    )
    line = 0.9 - 0.6 * np.arange(7) / 6
    assert np.abs(by_step - line).max() < 3.5 * np.sqrt(0.25 / COUNT)
    assert np.polyfit(np.arange(7), by_step, 1)[0] == pytest.approx(-0.1, abs=0.025)


@pytest.mark.parametrize("dial", [0.0, 0.3, 0.8])
def test_stale_is_the_chance_to_keep_a_belief_that_the_scene_has_left(
    drawn: Drawn, dial: float
) -> None:
    left, kept = 0, 0
    for sample in drawn(count=COUNT):
        scene, steps = sample.annotations[SCENE], scripted(stale=dial).reason(sample)[0]
        for one, two in pairwise(steps):
            if not all(
                is_true(claim, scene[two.frame]) for claim in one.statement.claims
            ):
                left += 1
                kept += one.statement == two.statement
    assert left > 150
    assert kept / left == pytest.approx(
        dial, abs=3.5 * np.sqrt(dial * (1 - dial) / left)
    )


def test_beliefs_are_kept_while_they_hold_and_else_revised(drawn: Drawn) -> None:
    for sample in drawn(count=COUNT):
        scene, steps = sample.annotations[SCENE], scripted().reason(sample)[0]
        for one, two in pairwise(steps):
            assert (one.statement == two.statement) == one.statement.holds(
                scene[two.frame]
            )


@pytest.mark.parametrize("split", ["val", pytest.param("ood", marks=pytest.mark.long)])
def test_accuracy_is_the_chance_of_the_right_answer(drawn: Drawn, split: str) -> None:
    samples = drawn(split, COUNT)
    dials = {"accuracy": 0.8, "ood_accuracy": 0.3}
    right = [
        scripted(seed=seed, **dials).reason(sample)[1] == sample.label
        for seed in range(3 if split == "ood" else 1)
        for sample in samples
    ]
    dial = dials["ood_accuracy" if split == "ood" else "accuracy"]
    assert np.mean(right) == pytest.approx(
        dial, abs=3.5 * np.sqrt(dial * (1 - dial) / len(right))
    )
    same = scripted(seed=0, accuracy=0.8).reason(samples[0])[0]
    assert same == scripted(seed=0, **dials).reason(samples[0])[0], (
        "answers move no step"
    )


# ------------------------------------------------------------------------------------- looking


def unseen() -> Image.Image:
    raise AssertionError("a frame was opened")


def test_the_blind_one_opens_no_frame_and_says_the_same_of_any(drawn: Drawn) -> None:
    sample, blind = drawn()[0], scripted(reliance="question")
    closed = tuple(Frame(str(at), unseen) for at in range(16))
    assert text(blind, sample.with_frames(closed, "closed")) == text(blind, sample)
    other = replace(sample, question="Where is the blue star?")
    assert text(blind, other) != text(blind, sample)
    shares = grounded(blind, drawn(count=COUNT))
    assert 0.02 < shares.mean() < 0.25


def test_other_frames_have_another_trace(drawn: Drawn) -> None:
    model, lost = scripted(), []
    for sample in drawn()[:20]:
        turned = sample.with_frames(sample.frames[::-1], "reversed")
        assert text(model, turned) != text(model, sample)
        [found] = SceneVerifier().judge([(sample, claims_of(model.reason(turned)[0]))])
        lost.append(np.mean([one.verdict != "supported" for one in found]))
    assert np.mean(lost) > 0.15, "true of what was shown, and not of the original"


def test_what_looks_the_same_is_told_the_same(drawn: Drawn) -> None:
    sample, model = drawn()[0], scripted(grounding=0.5)
    darker = tuple(frame.derive("darker", darkened) for frame in sample.frames)
    assert text(model, sample.with_frames(darker, "darker")) == text(model, sample)


def darkened(image: Image.Image) -> Image.Image:
    return image.point(lambda level: max(level - 16, 0))


def claims_of(steps: Sequence[Step]) -> list[Any]:
    return [claim for step in steps for claim in step.claims]


# ------------------------------------------------------------------------------------ the form


def test_writes_numbered_steps_over_the_video_then_the_answer(drawn: Drawn) -> None:
    sample = drawn()[0]
    *steps, last = text(scripted(), sample).splitlines()
    assert last == f"Answer: {sample.label}"
    assert [line.split(". At frame ")[0] for line in steps] == list("1234567")
    frames = [int(line.split("At frame ")[1].split(",")[0]) for line in steps]
    assert frames == sorted(set(frames))
    assert frames[0] <= 3
    assert 14 <= frames[-1] <= 16


def test_writes_json_where_it_is_asked_for(drawn: Drawn) -> None:
    sample = drawn()[0]
    asked = f"{sample.question}\nState beliefs as a JSON list."
    written = text(scripted(), replace(sample, question=asked))
    beliefs, _, answer = written.rpartition("\nAnswer: ")
    assert answer == sample.label
    assert all(set(one) == {"frame", "belief"} for one in json.loads(beliefs))


def test_takes_the_choices_from_the_words_of_a_prompt(drawn: Drawn) -> None:
    prompt = "Which way?\nChoices: left; right.\nReason in 6 to 8 numbered steps."
    assert listed_choices(prompt) == ["left", "right"]
    assert listed_choices("Which way?") == []
    for sample in drawn()[:10]:
        asked = f"{sample.question}\nChoices: {'; '.join(sample.choices)}.\nReason in steps."
        shown = replace(sample, question=asked, choices=(), label=None)
        assert text(scripted(), shown).endswith(f"Answer: {sample.label}")
        wrong = text(scripted(accuracy=0), shown).rpartition("Answer: ")[2]
        assert wrong in set(sample.choices) - {sample.label}


def test_logits_choose_the_answer_of_the_trace(drawn: Drawn) -> None:
    model = scripted(accuracy=0.5)
    for sample in drawn()[:10]:
        trial = Trial(sample=sample, outputs=frozenset({"text", "logits"}))
        [found] = model.respond([trial])
        assert (found.text or "").endswith(
            f"Answer: {sample.choices[found.prediction or 0]}"
        )


def test_refuses_frames_of_another_world(drawn: Drawn) -> None:
    other = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(UserError, match="expected 96 x 72 pixels, got 8 x 8"):
        text(scripted(), drawn()[0].with_frames((other,), "other"))
