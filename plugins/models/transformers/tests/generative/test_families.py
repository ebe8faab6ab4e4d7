"""Edits and plain answers on a stock model of each family, through the user's own call."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from jaxtyping import Float

from cuescope_sdk import Edit, Response, Trial
from cuescope_sdk.fusion import AverageAttention, AverageTokens
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM

Build = Callable[..., TransformersVLM]
MakeTrial = Callable[..., Trial]
VIDEO = (
    "qwen2-vl",
    "qwen2.5-vl",
    "llava-next-video",
    "llava-onevision",
    "internvl",
    "smolvlm",
)
IMAGES = ("idefics3", "mllama", "paligemma", "gemma3")
SINGLE = ("florence2", "blip-2")
FAMILIES = (*VIDEO, *IMAGES, *SINGLE)
BOTH = frozenset({"logits", "text"})
LONGER = "is the red ball moving east of the dog ?"
NOTHING = AverageAttention(quadrants=frozenset())
CROSSMODAL = AverageAttention(quadrants=frozenset({"VT", "TV"}))
EDITS: dict[str, Edit] = {
    "crossmodal": CROSSMODAL,
    "unimodal": AverageAttention(quadrants=frozenset({"VV", "TT"})),
    "a layer": AverageAttention(
        quadrants=frozenset({"VV", "VT", "TV", "TT"}), layers=(0,)
    ),
    "tokens": AverageTokens(modalities=frozenset({"video", "text"})),
    "video tokens": AverageTokens(
        modalities=frozenset({"video"}), size_term="multiply"
    ),
}
# of each way to mix: tokens in a row of a video, of tiles, by cross-attention, with a prefix that
# sees itself, and by an encoder
SHORT = ("qwen2-vl", "internvl", "mllama", "paligemma", "florence2")
every_family = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(name, marks=() if name in SHORT else pytest.mark.long)
        for name in FAMILIES
    ],
)
some_families = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(name, marks=() if name in SHORT[::2] else pytest.mark.long)
        for name in FAMILIES
    ],
)


def mixed(trial: MakeTrial, kind: str, edit: Edit | None = None) -> list[Trial]:
    """Prompts of different lengths, numbers of frames, no frames and no question."""
    asked: dict[str, Any] = {"edit": edit, "outputs": BOTH}
    if kind in SINGLE:
        return [
            trial(1, **asked),
            trial(1, LONGER, first=3, **asked),
            trial(1, None, **asked),
        ]
    return [
        trial(4, **asked),
        trial(4, LONGER, first=4, **asked),
        trial(3, None, **asked),
        trial(1, **asked),
        *([trial(0, **asked)] if kind != "blip-2" else []),
    ]


def farthest(one: list[Response], other: list[Response]) -> float:
    """Largest difference of two lists of logits."""
    pairs = zip(one, other, strict=True)
    return max(float(np.abs(np.subtract(a.logits, b.logits)).max()) for a, b in pairs)


def texts(responses: list[Response]) -> list[str | None]:
    """What was said."""
    return [response.text for response in responses]


@every_family
def test_logits_are_the_librarys_own(build: Build, trial: MakeTrial, kind: str) -> None:
    """Against a forward of a model that this package never touched."""
    plugin = build(kind)
    shown = trial(1 if kind in SINGLE else 4, choices=("yes", "no", "dog"))
    folder = plugin.options.model
    with quiet():
        network = transformers.AutoModelForImageTextToText.from_pretrained(
            folder
        ).eval()
        processor = transformers.AutoProcessor.from_pretrained(folder)
        inputs = by_hand(processor, kind, shown)
    if kind == "florence2":  # its answers begin with these two
        inputs["decoder_input_ids"] = torch.tensor([[3, 2]])
    with torch.inference_mode():
        last = network(**inputs).logits[0, -2:]
    expected = last.log_softmax(-1)
    ids = processor.tokenizer.convert_tokens_to_ids(["yes", "no", "dog"])
    wanted = expected[-1, ids] + (expected[0, 2] if kind == "florence2" else 0)
    found = plugin.respond([shown])[0].logits
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)


def by_hand(processor: Any, kind: str, shown: Trial) -> dict[str, torch.Tensor]:
    """What the library makes of the trial, without this package."""
    images, question = (
        [frame.load() for frame in shown.sample.frames],
        shown.sample.question,
    )
    medium = "video" if kind in VIDEO else "image"
    parts: list[dict[str, str]] = [{"type": medium}] * (
        1 if kind in VIDEO else len(images)
    )
    match kind:
        case "paligemma":
            prompt = "<image>" * len(images) + f"answer en {question}"
        case "florence2":
            prompt = question
        case "blip-2":
            prompt = f"Question: {question} Answer:"
        case _:
            talk = [
                {
                    "role": "user",
                    "content": [*parts, {"type": "text", "text": question}],
                }
            ]
            prompt = processor.apply_chat_template(talk, add_generation_prompt=True)
    told = {"text": [prompt], "return_tensors": "pt"}
    if kind in VIDEO:
        clip = np.stack([np.asarray(image) for image in images])
        told |= {"videos": [clip], "do_sample_frames": False}
        told |= {
            "video_metadata": [
                {
                    "total_num_frames": 4,
                    "fps": 1.0,
                    "duration": 4.0,
                    "frames_indices": [0, 1, 2, 3],
                }
            ]
        }
    else:
        told |= {"images": [images]}
    if kind == "qwen2-vl":
        told |= {"cap_pixels_per_frame": False}
    made = processor(**told)
    unused = (
        "labels",
        *(() if kind in ("paligemma", "gemma3") else ("token_type_ids",)),
    )
    return {name: value for name, value in made.items() if name not in unused}


@every_family
def test_an_empty_edit_changes_nothing(
    build: Build, trial: MakeTrial, kind: str
) -> None:
    plugin = build(kind)
    plain = plugin.respond(mixed(trial, kind))
    for edit in (NOTHING, AverageTokens(modalities=frozenset())):
        edited = plugin.respond(mixed(trial, kind, edit))
        assert farthest(plain, edited) < 2e-5
        assert texts(plain) == texts(edited)


@some_families
def test_an_edit_changes_answers(build: Build, trial: MakeTrial, kind: str) -> None:
    plugin = build(kind)
    plain = plugin.respond(mixed(trial, kind))
    for edit in EDITS.values():
        edited = plugin.respond(mixed(trial, kind, edit))
        assert farthest(edited, plain) > 1e-3


@every_family
@pytest.mark.parametrize("name", ["none", "crossmodal"])
def test_a_batch_is_its_samples_one_by_one(
    build: Build, trial: MakeTrial, kind: str, name: str
) -> None:
    plugin, trials = build(kind), mixed(trial, kind, EDITS.get(name))
    together = plugin.respond(trials)
    alone = [plugin.respond([one])[0] for one in trials]
    assert farthest(together, alone) < 1e-5
    assert texts(together) == texts(alone)


@every_family
def test_an_answer_is_read_step_by_step(
    build: Build, trial: MakeTrial, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cached keys under an edit are what they are when every step starts from the prompt."""
    plugin = build(kind)
    fields = {"outputs": BOTH, "choices": ("the top dog", "red ball", "yes")}
    count = 1 if kind in SINGLE else 3
    trials = [
        trial(count, edit=EDITS[name], **fields) for name in ("crossmodal", "tokens")
    ]
    cached = plugin.respond(trials)
    network = plugin._model.network
    generate = network.generate

    def afresh(**given: Any) -> Any:
        given.pop("past_key_values", None)
        return generate(**{**given, "use_cache": False})

    monkeypatch.setattr(network, "generate", afresh)
    again = plugin.respond(trials)
    assert farthest(cached, again) < 1e-5
    assert texts(cached) == texts(again)


@every_family
def test_attention_is_averaged_in_its_quadrants(
    build: Build, trial: MakeTrial, kind: str
) -> None:
    """Read off the first layer with fusion, against the definition written out in loops."""
    plugin, layer = build(kind), 1 if kind == "mllama" else 0
    trials = [mixed(trial, kind)[0], mixed(trial, kind)[1]]
    crossing = AverageAttention(quadrants=frozenset({"VT", "TV"}), layers=(layer,))
    edited = [replace(one, edit=crossing) for one in trials]
    told = plugin.modalities(trials, layer)
    plain, averaged = plugin.attention(trials, layer), plugin.attention(edited, layer)
    for sides, before, after in zip(told, plain, averaged, strict=True):
        queries, keys = np.split(sides, [before.shape[1]])
        np.testing.assert_allclose(before.sum(-1), 1, atol=1e-5)
        np.testing.assert_allclose(after, crossed_out(before, queries, keys), atol=1e-6)
        assert np.abs(after - before).max() > 1e-3


def crossed_out(
    weights: Float[np.ndarray, "head query key"], queries: np.ndarray, keys: np.ndarray
) -> Float[np.ndarray, "head query key"]:
    """VT and TV averaged, row by row, over the keys that a query sees."""
    result = weights.copy()
    for head, query in np.ndindex(weights.shape[:2]):
        for one, other in ((1, 2), (2, 1)):
            seen = (keys == other) & (weights[head, query] > 0)
            if queries[query] == one and seen.any():
                result[head, query, seen] = weights[head, query, seen].mean()
    return result


@pytest.mark.parametrize(
    ("kind", "video"),
    [
        ("qwen2-vl", 2 * 4 * 2),
        ("qwen2.5-vl", 2 * 4 * 2),
        ("llava-next-video", 4 * 4),
        ("llava-onevision", 4 * 4 + 1),
        ("internvl", 4 * 4),
        ("idefics3", 4 * 4),
        ("smolvlm", 4 * 4),
        ("mllama", 4 * 2 * 17),
        ("paligemma", 4 * 16),
        ("gemma3", 4 * 4),
        ("florence2", 5),
        ("blip-2", 4),
    ],
)
def test_tokens_are_told_apart(
    build: Build, trial: MakeTrial, kind: str, video: int
) -> None:
    """As many visual tokens as frames and patches make; the question's words are text."""
    short, longer = (one for one in mixed(trial, kind)[:2])
    layer = 1 if kind == "mllama" else 0
    counts = [
        np.bincount(of, minlength=3)
        for of in build(kind).modalities([short, longer], layer)
    ]
    sides = 1 if kind == "mllama" else 2
    assert [count[1] for count in counts] == [sides * video] * 2
    assert counts[1][2] - counts[0][2] == sides * (10 - 3)


def test_prompts_are_padded_where_answers_do_not_follow(
    build: Build, trial: MakeTrial
) -> None:
    from cuescope_transformers.generative.batches import batches, rows_of

    for kind, place in (("internvl", 0), ("paligemma", 0), ("florence2", -1)):
        plugin = build(kind)
        pair = [mixed(trial, kind)[index] for index in (0, 1)]
        [(_, batch)] = batches(plugin._model, rows_of(plugin._model, pair))
        mask = batch.inputs["attention_mask"]
        assert mask[0, place] == 0
        assert mask[0, -1 - place] == mask[1, place] == 1
