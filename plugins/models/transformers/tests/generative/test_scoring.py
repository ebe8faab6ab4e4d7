"""Choices as continuations: few rows, and the log-probabilities that a whole forward gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, strategies as st

from cuescope_sdk import Edit, Trial
from cuescope_sdk.fusion import AverageAttention
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM
from cuescope_transformers.generative.readouts import log_probability, rows_to_feed

Build = Callable[..., TransformersVLM]
MakeTrial = Callable[..., Trial]
ANSWERS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple), min_size=1
)


def test_answers_of_one_token_share_a_row() -> None:
    assert rows_to_feed([(1,), (2,), (3,)]) == {(): [0, 1, 2]}
    assert rows_to_feed([(1,), (2, 3), (2, 4, 5), (6, 7)]) == {
        (2, 4): [2, 1, 0],
        (6,): [3],
    }


@given(ANSWERS)
def test_every_answer_is_served_once_by_a_row_that_feeds_it(answers: list[Any]) -> None:
    rows = rows_to_feed(answers)
    served = sorted(index for of in rows.values() for index in of)
    assert served == list(range(len(answers)))
    for row, of in rows.items():
        assert all(
            row[: len(answers[index]) - 1] == answers[index][:-1] for index in of
        )
        assert not any(other != row and other[: len(row)] == row for other in rows)


def test_log_probability_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])) + 7
    assert log_probability((2, 1), logits) == pytest.approx(np.log(0.5 * 0.8), abs=1e-6)
    assert log_probability((0,), logits) == pytest.approx(np.log(0.2), abs=1e-6)


@pytest.mark.parametrize("kind", ["internvl", "idefics3", "llava-next-video"])
def test_answers_of_several_tokens_against_one_whole_forward(
    build: Build, trial: MakeTrial, kind: str
) -> None:
    """The prompt with each answer behind it, through the library's own forward, by hand."""
    choices = ("yes", "the red ball", "the dog", "ball of the dog", "the red dog")
    plugin, shown = build(kind), trial(3, choices=choices)
    found = plugin.respond([shown])[0].logits
    with quiet():
        network = transformers.AutoModelForImageTextToText.from_pretrained(
            plugin.options.model
        )
    inputs = batch_of(plugin, shown)
    prompt = inputs["input_ids"].shape[1]
    for choice, score in zip(choices, found, strict=True):
        answer = plugin._model.tokenizer(
            choice, add_special_tokens=False, return_tensors="pt"
        )
        tokens = torch.cat([inputs["input_ids"], answer["input_ids"]], dim=1)
        whole = {
            **inputs,
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
        }
        with torch.inference_mode():
            steps = network.eval()(**whole).logits[0, prompt - 1 : -1].log_softmax(-1)
        wanted = steps.gather(1, answer["input_ids"][0][:, None]).sum()
        assert score == pytest.approx(float(wanted), abs=2e-5)


def batch_of(plugin: TransformersVLM, shown: Trial) -> dict[str, torch.Tensor]:
    """The tensors of one trial, checked against the library elsewhere."""
    from cuescope_transformers.generative.batches import batches, rows_of

    [(_, batch)] = batches(plugin._model, rows_of(plugin._model, [shown]))
    return batch.inputs


def test_letters_are_scored_with_the_choices_listed(
    build: Build, trial: MakeTrial
) -> None:
    letters = build("internvl", scoring="letters")
    choices = ("red ball", "the dog")
    found = letters.respond([trial(2, "what is it", choices=choices)])[0].logits
    listed = "what is it\n(A) red ball\n(B) the dog\nAnswer with the letter."
    spelt = build("internvl").respond([trial(2, listed, choices=("A", "B"))])[0].logits
    np.testing.assert_allclose(found, spelt, atol=1e-6)
    others = letters.respond([trial(2, "what is it", choices=("the dog", "red ball"))])[
        0
    ].logits
    assert np.abs(np.subtract(found, others)).max() > 1e-3


def test_text_is_greedy_and_ends_with_the_answer(
    build: Build, trial: MakeTrial
) -> None:
    """Token by token the one that scores highest as the next choice."""
    plugin = build("qwen2-vl", max_new_tokens=3)
    tokenizer = plugin._model.tokenizer
    text = plugin.respond([trial(2, outputs=frozenset({"text"}))])[0].text
    assert text
    words = [
        w for w in tokenizer.get_vocab() if tokenizer.convert_tokens_to_ids(w) >= 5
    ]
    plain = [w for w in words if not w.startswith("<")]
    said: list[str] = []
    for _ in text.split():
        choices = tuple(" ".join([*said, word]) for word in plain)
        best = plugin.respond([trial(2, choices=choices)])[0].prediction
        said.append(plain[best or 0])
    assert text.split() == said


@pytest.mark.parametrize(
    "edit", [None, AverageAttention(quadrants=frozenset({"VT", "TV"}))]
)
def test_half_precision_is_near(
    build: Build, trial: MakeTrial, edit: Edit | None
) -> None:
    trials = [trial(3, edit=edit), trial(3, "is it moving", edit=edit)]
    exact, half = (
        [one.logits for one in build("qwen2.5-vl", dtype=dtype).respond(trials)]
        for dtype in ("float32", "bfloat16")
    )
    assert 0 < np.abs(np.subtract(exact, half)).max() < 0.5


@pytest.mark.parametrize(
    ("kind", "frames"),
    [
        ("qwen2-vl", 1),
        pytest.param("qwen2.5-vl", 1, marks=pytest.mark.long),
        ("llava-onevision", 3),
        pytest.param("idefics3", 1, marks=pytest.mark.long),
    ],
)
def test_many_questions_of_one_image_look_at_it_once(
    build: Build,
    trial: MakeTrial,
    kind: str,
    frames: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answers are those of questions that each look by themselves; of an edit all do."""
    words = (
        "what",
        "is it moving",
        "is the dog east of the red ball",
        "what is it ?",
        "is it red",
    )
    both = frozenset({"logits", "text"})
    asked = [trial(frames, question, outputs=both) for question in words]
    alone = [build(kind, reuse_prefix=False).respond([one])[0] for one in asked]
    plugin = build(kind)
    rows: list[int] = []  # of each run, that bring their frames along
    generate = plugin._model.network.generate

    def spy(**given: Any) -> Any:
        rows.append(len(given["input_ids"]) if "pixel" in str(list(given)) else 0)
        return generate(**given)

    monkeypatch.setattr(plugin._model.network, "generate", spy)
    other = trial(frames, "what", first=5, outputs=both)
    together = plugin.respond([*asked, other])[:-1]
    assert sum(rows) == 2 * 2  # the image and the other one, for logits and for texts
    for one, shared in zip(alone, together, strict=True):
        np.testing.assert_allclose(shared.logits, one.logits, atol=1e-5)
        assert shared.text == one.text
    rows.clear()
    edit = AverageAttention(quadrants=frozenset({"VT"}))
    plugin.respond([trial(frames, question, edit=edit) for question in words])
    plugin.respond([*asked, trial(frames, "what", edit=edit)])
    assert all(rows)


def test_many_answers_of_one_trial_are_halved_where_memory_does_not_suffice(
    build: Build, folder_of: Any, trial: MakeTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = ("red ball", "the dog", "what is", "ball of", "dog is", "it is")
    asked = [trial(1, choices=choices)]
    [whole] = build("qwen2-vl", reuse_prefix=False).respond(asked)
    plugin = build("qwen2-vl", reuse_prefix=False, max_new_tokens=2)
    generate = plugin._model.network.generate
    rows: list[int] = []

    def small(**given: Any) -> Any:
        rows.append(len(given["input_ids"]))
        if rows[-1] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return generate(**given)

    monkeypatch.setattr(plugin._model.network, "generate", small)
    with pytest.raises(torch.OutOfMemoryError):  # the engine divides these
        plugin.respond([*asked, trial(1, "what")])
    rows.clear()
    with pytest.warns(UserWarning, match="rows at once"):
        [halved] = plugin.respond(asked)
    assert rows == [6, 4, 2, 2, 2]
    np.testing.assert_allclose(halved.logits, whole.logits, atol=1e-5)
