"""What vLLM and SGLang write and take, field by field as their own protocols have it.

vllm/entrypoints/openai/chat_completion/protocol.py and
sglang/srt/entrypoints/openai/protocol.py; neither engine runs here.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Frame, HideTokens, Sample, Trial, UserError, generator
from cuescope_sdk.fusion import AverageAttention

Build = Callable[..., Any]
PIXELS = generator(0, "engines").integers(0, 256, (6, 10, 3), dtype=np.uint8)
BOATS = Sample(
    key="s",
    frames=(Frame.from_array(PIXELS),),
    question="What floats?",
    choices=("raft", "barge", "kayak (small)"),
)
# vLLM has -9999 for what cannot be
TOKENS = (("B", -0.105), (" A", -2.996), ("C", -9999.0))


def token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def logprobs(*before: str) -> dict[str, Any]:
    """The answer's position, behind positions of reasoning."""
    content = [{**token(text, -0.01), "top_logprobs": []} for text in before]
    top = [token(text, logprob) for text, logprob in TOKENS]
    content.append({**top[0], "top_logprobs": top})
    content.append({**token("<|im_end|>", -0.001), "top_logprobs": []})
    return {"content": content}


def of_vllm(scores: Mapping[str, Any] | None = None, **message: Any) -> dict[str, Any]:
    whole = {
        "role": "assistant",
        "content": "B",
        "refusal": None,
        "annotations": None,
        "audio": None,
        "function_call": None,
        "reasoning": None,
        **message,
    }
    return {
        "index": 0,
        "message": whole,
        "logprobs": scores or logprobs(),
        "finish_reason": "stop",
        "stop_reason": None,
        "token_ids": None,
        "routed_experts": None,
    }


def of_sglang() -> dict[str, Any]:
    return {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": "B",
            "reasoning_content": None,
            "tool_calls": None,
        },
        "logprobs": logprobs(),
        "finish_reason": "stop",
        "matched_stop": 151645,
    }


def ask(model: Any, sample: Sample = BOATS) -> Any:
    outputs = frozenset({"logits", "text"})
    [response] = model.respond([Trial(sample=sample, outputs=outputs)])
    return response


@pytest.mark.parametrize("choice", [of_vllm(), of_sglang()], ids=["vllm", "sglang"])
def test_the_tokens_of_an_engine_are_log_probabilities_of_choices(
    server: Any, model: Build, choice: dict[str, Any]
) -> None:
    server.brain = lambda body: choice
    response = ask(model())
    # letters by the alphabet: B is the kayak
    assert response.logits.argmax() == 2
    np.testing.assert_allclose(response.logits[[1, 2]], [-2.996, -0.105], atol=1e-3)
    assert np.isfinite(response.logits).all()
    assert response.text == "B"


def test_what_a_model_thought_before_is_not_its_answer(
    server: Any, model: Build
) -> None:
    # with a reasoning parser the tokens of the thought come first, and the content is the answer
    scores = logprobs("A", " raft", "?", "\n")
    server.brain = lambda body: of_vllm(scores, reasoning="A raft?")
    np.testing.assert_array_equal(ask(model()).logits, [-20.0, -20.0, 0.0])


@pytest.mark.parametrize(
    ("guided", "fields"),
    [
        ("vllm", {"structured_outputs": {"choice": ["A", "B", "C"]}}),
        ("sglang", {"regex": "(A|B|C)"}),
        (None, {}),
    ],
)
def test_a_server_is_told_the_answers_that_it_may_give(
    server: Any, model: Build, guided: str | None, fields: dict[str, Any]
) -> None:
    server.brain = lambda body: of_vllm()
    ask(model(guided=guided))
    [body] = server.asked
    assert {name: body.get(name) for name in fields} == fields
    assert ("regex" in body, "structured_outputs" in body) == (
        guided == "sglang",
        guided == "vllm",
    )
    # every option that enters an answer enters the fingerprint
    prints = {model(guided=way).fingerprint for way in (None, "vllm", "sglang")}
    assert len(prints) == 3


FILM = tuple(
    Frame.from_array(generator(seed, "film").integers(0, 256, (6, 10, 3), np.uint8))
    for seed in (1, 2, 1)
)


@pytest.mark.parametrize("choice", [of_vllm(), of_sglang()], ids=["vllm", "sglang"])
def test_frames_of_a_sample_are_images_in_one_message(
    server: Any, model: Build, choice: dict[str, Any]
) -> None:
    server.brain = lambda body: choice
    assert ask(model(), replace(BOATS, frames=FILM)).logits.argmax() == 2
    [message] = server.asked[0]["messages"]
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["image_url"] * 3 + ["text"]


def test_a_video_goes_as_vllm_takes_it(server: Any, model: Build) -> None:
    """As vLLM's MediaConnector and VideoMediaIO take it apart."""
    server.brain = lambda body: of_vllm()
    ask(model(video="vllm"), replace(BOATS, frames=FILM))
    [message] = server.asked[0]["messages"]
    video, text = message["content"]
    assert (video["type"], text["type"]) == ("video_url", "text")
    spec, data = video["video_url"]["url"].removeprefix("data:").split(",", 1)
    assert spec.split(";", 1) == ["video/jpeg", "base64"]
    shown = [Image.open(BytesIO(b64decode(frame))) for frame in data.split(",")]
    assert [frame.size for frame in shown] == [(10, 6)] * 3
    pixels = [np.asarray(frame, np.int16) for frame in shown]
    np.testing.assert_array_equal(pixels[0], pixels[2])
    assert np.abs(pixels[0] - pixels[1]).mean() > 20
    # a single frame is an image
    ask(model(video="vllm"))
    assert server.asked[1]["messages"][0]["content"][0]["type"] == "image_url"
    with pytest.raises(ValueError, match="SGLang is shown images"):
        model(video="vllm", guided="sglang")


@pytest.mark.parametrize("frames", ["first", "last"])
def test_what_begins_alike_is_asked_in_turn(
    server: Any, model: Build, frames: str
) -> None:
    """Many questions of an image, and one question of many images, for a cache of prefixes."""
    server.brain = lambda body: of_vllm()
    trials = [
        Trial(
            sample=replace(
                BOATS, key=f"{question}{number}", frames=(frame,), question=question
            )
        )
        for question in ("What floats?", "What sinks?")
        for number, frame in enumerate(FILM[:2])
    ]
    model(frames=frames, concurrency=1).respond(trials)
    contents = [body["messages"][0]["content"] for body in server.asked]
    begins = [str(content[0]) for content in contents]
    assert begins[0] == begins[1] != begins[2] == begins[3]
    first = {"first": "image_url", "last": "text"}[frames]
    assert {content[0]["type"] for content in contents} == {first}


def test_answers_that_were_kept_stay_those_of_the_usual_layout(model: Build) -> None:
    prints = {
        model(**given).fingerprint
        for given in (
            {},
            {"frames": "first"},
            {"video": None},
            {"frames": "last"},
            {"video": "vllm"},
        )
    }
    assert len(prints) == 3


@pytest.mark.parametrize(
    "edit",
    [
        HideTokens.from_mask(np.ones((1, 6, 10), bool)),
        AverageAttention(quadrants=frozenset({"VT"})),
    ],
)
def test_no_edit_reaches_a_server(server: Any, model: Build, edit: Any) -> None:
    """A method that needs one is refused by the plan; a trial with one, before anything is sent."""
    served = model()
    assert edit.kind not in served.capabilities.edits
    with pytest.raises(UserError):
        served.respond([Trial(sample=BOATS, edit=edit)])
    assert not server.asked


def test_choices_in_words_are_no_expressions(server: Any, model: Build) -> None:
    server.brain = lambda body: {"message": {"content": "raft"}}
    ask(model(guided="sglang", scoring="words"))
    assert server.asked[0]["regex"] == r"(raft|barge|kayak \(small\))"


@pytest.mark.parametrize(
    "body",
    [
        {
            "error": {
                "message": "logprobs are off",
                "type": "BadRequestError",
                "code": 400,
            }
        },
        {
            "object": "error",
            "message": "logprobs are off",
            "type": "BadRequest",
            "code": 400,
        },
    ],
    ids=["vllm", "sglang"],
)
def test_an_engine_that_refuses_log_probabilities_is_asked_without(
    server: Any, model: Build, body: dict[str, Any]
) -> None:
    server.brain = lambda _: {"message": {"role": "assistant", "content": "B"}}
    server.fail(400, body)
    np.testing.assert_array_equal(ask(model()).logits, [-20.0, -20.0, 0.0])
    assert ["logprobs" in asked for asked in server.asked] == [True, False]


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "at most 16 image(s) may be given", "code": 400}},
        {"object": "error", "message": "at most 16 image(s) may be given", "code": 400},
    ],
    ids=["vllm", "sglang"],
)
def test_an_engines_own_words_are_told(
    server: Any, model: Build, body: dict[str, Any]
) -> None:
    server.fail(400, body)
    with pytest.raises(UserError, match="at most 16 image"):
        ask(model())
