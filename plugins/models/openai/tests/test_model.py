"""What a sample becomes as a request, and what the model makes of the answer."""

import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from math import log
from threading import Lock
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_openai import OpenAI
from cuescope_sdk import Frame, Sample, Trial, UserError, generator

Build = Callable[..., Any]
BOTH = frozenset({"logits", "text"})
PIXELS = generator(0, "pixels").integers(0, 256, (6, 10, 3), dtype=np.uint8)
FRAME = Frame.from_array(PIXELS)
YES_NO = Sample(
    key="s", frames=(FRAME,), question="Is there a tree?", choices=("yes", "no")
)


def trial(sample: Sample = YES_NO, **changes: Any) -> Trial:
    """A trial of the sample with other fields, asking for everything."""
    return Trial(sample=replace(sample, **changes), outputs=BOTH)


def parts(server: Any) -> list[dict[str, Any]]:
    """The content of the last message that was sent."""
    content: list[dict[str, Any]] = server.asked[-1]["messages"][-1]["content"]
    return content


def images(server: Any) -> list[Image.Image]:
    """The images of the last message, decoded."""
    urls = [
        part["image_url"]["url"]
        for part in parts(server)
        if part["type"] == "image_url"
    ]
    return [Image.open(BytesIO(b64decode(url.partition(",")[2]))) for url in urls]


def saying(
    text: str, tokens: dict[str, float] | None = None
) -> Callable[[Any], dict[str, Any]]:
    """A brain that always gives this answer; `tokens` are the first word's log-probabilities."""
    choice: dict[str, Any] = {"message": {"content": text}}
    if tokens:
        top = [
            {"token": token, "logprob": logprob} for token, logprob in tokens.items()
        ]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return lambda body: choice


def test_frames_are_sent_as_they_are(server: Any, model: Build) -> None:
    server.brain = saying("Yes")
    dark = Frame.from_array(PIXELS // 2)
    model().respond([trial(frames=(FRAME, dark, FRAME))])
    sent = images(server)
    assert [image.format for image in sent] == ["PNG"] * 3
    for image, pixels in zip(sent, (PIXELS, PIXELS // 2, PIXELS), strict=True):
        np.testing.assert_array_equal(np.asarray(image), pixels)
    assert parts(server)[-1] == {"type": "text", "text": "Is there a tree?"}


def test_frames_are_made_smaller(server: Any, model: Build) -> None:
    server.brain = saying("Yes")
    model(max_side=5, detail="low").respond([trial()])
    (image,) = images(server)
    assert (image.format, image.size) == ("PNG", (5, 3))
    assert parts(server)[0]["image_url"]["detail"] == "low"
    model(max_side=10).respond([trial()])
    assert images(server)[0].size == (10, 6)


def test_a_question_without_frames_is_words_alone(server: Any, model: Build) -> None:
    server.brain = saying("Yes")
    model().respond([trial(frames=())])
    assert server.asked[0]["messages"] == [
        {"role": "user", "content": "Is there a tree?"}
    ]


def test_choices_other_than_yes_and_no_are_listed(server: Any, model: Build) -> None:
    server.brain = saying("(B)")
    (response,) = model().respond(
        [trial(choices=("pine", "oak"), question="Which tree?")]
    )
    listing = "Which tree?\n(A) oak\n(B) pine\nAnswer with the letter."
    assert parts(server)[-1]["text"] == listing
    np.testing.assert_array_equal(response.logits, [0.0, -20.0])
    assert response.text == "(B)"


@pytest.mark.parametrize(("scoring", "listed"), [("letters", True), ("words", False)])
def test_scoring_says_whether_choices_are_listed(
    server: Any, model: Build, scoring: str, listed: bool
) -> None:
    server.brain = saying("yes")
    model(scoring=scoring).respond([trial()])
    assert ("(A) no" in parts(server)[-1]["text"]) is listed


def test_log_probabilities_become_logits(server: Any, model: Build) -> None:
    server.brain = saying("No.", {"No": log(0.6), "Yes": log(0.3), "no": log(0.05)})
    (response,) = model().respond([trial()])
    np.testing.assert_allclose(np.exp(response.logits), [0.3, 0.65], rtol=1e-5)
    assert server.asked[0]["logprobs"] is True
    assert server.asked[0]["top_logprobs"] == 20


def test_a_server_that_refuses_log_probabilities_answers_in_words(
    server: Any, model: Build
) -> None:
    server.brain = saying("No.")
    server.fail(
        422,
        {"detail": "Unsupported fields in the request: {'logprobs', 'top_logprobs'}"},
    )
    one = model(concurrency=1)
    first, second = one.respond([trial(), trial(question="Is there a house?")])
    np.testing.assert_array_equal(first.logits, [-20.0, 0.0])
    np.testing.assert_array_equal(second.logits, [-20.0, 0.0])
    assert ["logprobs" in body for body in server.asked] == [True, False, False]
    one.respond([trial()])
    model().respond([trial()])
    assert len(server.asked) == 3


def test_an_answer_that_names_no_choice_is_told(server: Any, model: Build) -> None:
    server.brain = lambda body: {
        "message": {"content": None, "refusal": "I'd rather not."}
    }
    with pytest.warns(UserWarning, match="1 of 1 answers name no choice"):
        (response,) = model().respond([trial()])
    np.testing.assert_allclose(np.exp(response.logits), [0.5, 0.5])
    assert response.text == "I'd rather not."


def test_one_request_gives_text_and_logits(server: Any, model: Build) -> None:
    server.brain = saying("Yes")
    (text,) = model().respond([Trial(sample=YES_NO, outputs=frozenset({"text"}))])
    (logits,) = model().respond([Trial(sample=YES_NO)])
    assert (text.text, text.logits, logits.text) == ("Yes", None, None)
    assert logits.prediction == 0
    assert len(server.asked) == 1


def test_equal_pixels_are_one_question_whatever_their_key(
    server: Any, model: Build
) -> None:
    server.brain = saying("Yes")
    same = FRAME.derive("nothing", lambda image: image)
    model().respond([trial(), trial(frames=(same,)), trial(key="other", label="no")])
    assert len(server.asked) == 1
    model().respond(
        [trial(frames=(Frame.from_array(PIXELS + 1),)), trial(frames=(FRAME, FRAME))]
    )
    model(max_side=5).respond([trial()])
    model(detail="low").respond([trial()])
    assert len(server.asked) == 5


def test_a_prompt_stands_around_the_question(server: Any, model: Build) -> None:
    server.brain = saying("Yes")
    prompted: OpenAI = model(
        prompt="Look. {question} Say yes or no.", question="Any cat?"
    )
    prompted.respond([trial(frames=(), question=None), trial(frames=())])
    said = {body["messages"][0]["content"] for body in server.asked}
    assert said == {
        "Look. Any cat? Say yes or no.",
        "Look. Is there a tree? Say yes or no.",
    }


def test_an_open_question_has_no_log_probabilities(server: Any, model: Build) -> None:
    wanted = Trial(sample=replace(YES_NO, choices=()), outputs=frozenset({"text"}))
    (response,) = model().respond([wanted])
    assert response.text == "You said: Is there a tree?"
    assert "logprobs" not in server.asked[0]


def test_few_images_are_in_memory_at_once(server: Any, model: Build) -> None:
    server.brain, server.delay = saying("Yes"), 0.05
    lock, loading, most = Lock(), [0], [0]

    def load(number: int) -> Image.Image:
        with lock:
            loading[0] += 1
            most[0] = max(most[0], loading[0])
        time.sleep(0.02)
        with lock:
            loading[0] -= 1
        return Image.new("RGB", (8, 8), (number, 0, 0))

    frames = [
        Frame(key=str(number), loader=partial(load, number)) for number in range(20)
    ]
    model(concurrency=20).respond([trial(frames=(frame,)) for frame in frames])
    assert most[0] == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": None}, "has no question"),
        ({"choices": tuple(map(str, range(27)))}, "more choices than letters"),
    ],
)
def test_what_cannot_be_asked_is_told_beforehand(
    server: Any, model: Build, changes: dict[str, Any], words: str
) -> None:
    asked = [trial(), trial(**changes)]
    for tell in (model().require_answerable, model().respond):
        with pytest.raises(UserError, match=words):
            tell(asked)
    assert server.asked == []


def test_frames_that_no_server_takes(
    server: Any, model: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope_openai.requests.MAX_REQUEST", 1000)
    with pytest.raises(UserError, match=r"too large.*at most 1,000 bytes.*max_side"):
        model().respond([trial(frames=(FRAME,) * 9)])
    assert server.asked == []
