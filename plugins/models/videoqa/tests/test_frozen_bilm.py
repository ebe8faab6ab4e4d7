"""FrozenBiLM against the library's DeBERTa-v2, its prompts, and its ways to answer."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
import videoqa_published as published
from safetensors.torch import save_file
from torch import Tensor
from videoqa_samples import ANSWERS, SAMPLES, WORDS, asked, video

from cuescope_sdk import Context, Frame, Trial, UserError
from cuescope_videoqa import FrozenBiLM

QUESTION = "does the man open the door ?"
PROMPT = [
    "[CLS]",
    "question",
    ":",
    *QUESTION.split(),
    "answer",
    ":",
    "[MASK]",
    ".",
    "[SEP]",
]
FEATURES = 5


def numbers(words: list[str]) -> Tensor:
    return torch.tensor([[WORDS.index(word) if word in WORDS else 1 for word in words]])


def stock(biased: bool, tensors: dict[str, Tensor]) -> Any:
    """The library's model with those of the tensors that it has."""
    config = transformers.DebertaV2Config(
        **published.deberta_config(biased), legacy=False
    )
    model = transformers.DebertaV2ForMaskedLM(config).eval()
    model.load_state_dict({name: tensors[name] for name in model.state_dict()})
    return model


def drawn(adapters: bool = True) -> dict[str, Tensor]:
    tensors = published.drawn(published.frozen_bilm())
    for name, tensor in tensors.items():
        if "adapter.up" in name and not adapters:
            tensor.zero_()
    return tensors


def answer_rows(tensors: dict[str, Tensor], answers: tuple[str, ...]) -> Tensor:
    words = tensors["deberta.embeddings.word_embeddings.weight"]
    return torch.stack(
        [words[numbers(answer.split())[0]].mean(0) for answer in answers]
    )


def embedded(
    tensors: dict[str, Tensor], model: Any, features: Tensor, biased: bool
) -> tuple[Tensor, Tensor]:
    """Embeddings of [video; prompt] before the norm, and the mask, as the authors put them."""
    words = tensors["deberta.embeddings.word_embeddings.weight"][numbers(PROMPT)]
    padded = torch.zeros(1, FEATURES, published.CLIP)
    padded[0, : len(features)] = features
    weight, bias = (
        tensors[f"deberta.embeddings.linear_video.{n}"] for n in ("weight", "bias")
    )
    states = torch.cat([padded @ weight.T + bias, words], dim=1)
    mask = torch.ones(1, states.shape[1])
    mask[0, len(features) : FEATURES] = 0
    return states, mask


def plugin(
    place: Path, folder: str, tensors: dict[str, Tensor], **changes: Any
) -> FrozenBiLM:
    path = place / "own.pth"
    torch.save({"model": tensors}, path)
    chosen = {
        "checkpoint": path,
        "text_encoder": str(place / folder),
        "video_features": FEATURES,
        "features": place / "clip.pth",
        **changes,
    }
    model = FrozenBiLM(FrozenBiLM.Options(**chosen), Context(device="cpu"))
    model.open_weights()  # the next call writes another checkpoint to the same file
    return model


@torch.no_grad()
def test_without_adapters_and_video_it_is_the_stock_model(place: Path) -> None:
    tensors = drawn(adapters=False)
    model = stock(True, tensors)
    # the places of the video are there, and masked
    states, mask = embedded(tensors, model, torch.zeros(0, published.CLIP), True)
    logits = model(inputs_embeds=states, attention_mask=mask).logits[0]
    at_mask = (
        logits[FEATURES + PROMPT.index("[MASK]")]
        - tensors["lm_predictions.lm_head.bias"]
    )
    own = plugin(place, "biased", tensors)
    found = own.respond([Trial(sample=asked("", QUESTION))])[0].logits
    expected = at_mask[[WORDS.index("yes"), WORDS.index("no")]]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("biased", [True, False])
def test_with_video_and_mask_decoder(biased: bool, place: Path) -> None:
    """From the stock layers: where places are not in the input, the last one decodes twice."""
    tensors = drawn(adapters=False)
    model = stock(biased, tensors)
    features = torch.load(place / "clip.pth")["one"]
    states, mask = embedded(tensors, model, features, biased)
    hidden = model.deberta(
        inputs_embeds=states, attention_mask=mask, output_hidden_states=True
    ).hidden_states
    last = hidden[-1]
    if not biased:
        encoder, keys = model.deberta.encoder, hidden[-2]
        last = (
            keys
            + tensors["deberta.embeddings.position_embeddings.weight"][: keys.shape[1]]
        )
        for _ in range(2):
            last = encoder.layer[-1](
                keys,
                encoder.get_attention_mask(mask),
                query_states=last,
                rel_embeddings=encoder.get_rel_embedding(),
            )[0]
    head = model.lm_predictions.lm_head
    state = head.LayerNorm(head.transform_act_fn(head.dense(last)))
    at_mask = state[0, FEATURES + PROMPT.index("[MASK]")]
    own = plugin(place, "biased" if biased else "deberta", tensors)
    choices = ("yes", "no")
    found = own.respond([Trial(sample=asked("one", QUESTION, choices))])[0].logits
    np.testing.assert_allclose(
        found, answer_rows(tensors, choices) @ at_mask, atol=2e-5
    )


def test_adapters_and_video_matter(place: Path) -> None:
    sample = asked("one", QUESTION)
    with_them, without = (
        plugin(place, "deberta", drawn(adapters))
        .respond([Trial(sample=sample)])[0]
        .logits
        for adapters in (True, False)
    )
    assert np.abs(with_them - without).max() > 0.01
    model = plugin(place, "deberta", drawn())
    blind = model.respond([Trial(sample=asked("", QUESTION))])[0].logits
    assert np.abs(with_them - blind).max() > 0.01


@torch.no_grad()
def test_choices_are_asked_for_one_by_one(place: Path) -> None:
    """Other choices than yes and no: the logit of yes over no in a prompt for each."""
    model = plugin(place, "deberta", drawn())
    sample = asked("one", "what is it ?", ("dog", "red ball"))
    found = model.respond([Trial(sample=sample)])[0].logits
    network = model.runner.network
    texts = [prompt.text for prompt in network.prompts(sample)]
    assert texts[1] == "Question: What is it ? Is it 'Red ball'? [MASK]."
    states = network(network.collate(network.prompts(sample)))
    yes, no = answer_rows(drawn(), ("yes", "no"))
    np.testing.assert_allclose(
        found, [state @ (yes - no) for state in states], atol=1e-5
    )
    plain = plugin(place, "deberta", drawn(), multiple_choice="vocabulary")
    assert [prompt.text for prompt in plain.runner.network.prompts(sample)] == [
        "Question: What is it ? Answer: [MASK]."
    ]


def test_without_suffix_the_end_token_is_hidden(place: Path) -> None:
    with_end, without = (
        plugin(place, "deberta", drawn(), suffix=suffix) for suffix in (".", "")
    )
    trial = Trial(sample=asked("", QUESTION))
    counts = [
        len(model.modalities([trial], 0)[0]) // 2 for model in (with_end, without)
    ]
    assert counts == [len(PROMPT), len(PROMPT) - 2]


def test_answers_are_means_of_their_words(place: Path) -> None:
    """With the bias of their words added where asked for."""
    path = place / "answers.json"
    none, mean = (
        plugin(place, "deberta", drawn(), answers=path, answer_bias=bias)
        for bias in ("none", "mean")
    )
    trial = Trial(sample=asked("one", QUESTION, ("yes", "no")))
    bias = drawn()["lm_predictions.lm_head.bias"]
    expected = bias[[WORDS.index("yes"), WORDS.index("no")]]
    difference = mean.respond([trial])[0].logits - none.respond([trial])[0].logits
    np.testing.assert_allclose(difference, expected, atol=1e-5)
    opened = Trial(sample=asked("one", QUESTION, ()), outputs=frozenset({"text"}))
    assert none.respond([opened])[0].text in ANSWERS


def test_frozen_weights_come_from_the_language_model(place: Path) -> None:
    """Published checkpoints hold only what was trained; the folder has the rest."""
    whole = drawn()
    trained = {
        n: t
        for n, t in whole.items()
        if "adapter" in n or "LayerNorm" in n or "linear_video" in n
    }
    frozen = {
        n: t
        for n, t in whole.items()
        if n not in trained and not n.startswith("answer_")
    }
    frozen = {n: t.clone() for n, t in frozen.items()}
    folder = place / "with-weights"
    folder.mkdir()
    for file in (place / "deberta").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    save_file(frozen, folder / "model.safetensors")
    trials = [Trial(sample=sample) for sample in SAMPLES]
    one = plugin(place, "deberta", whole).respond(trials)
    other = plugin(place, "with-weights", trained).respond(trials)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.logits, second.logits)
    with pytest.raises(
        UserError, match=r"tensors of the model and no other, got .* missing"
    ):
        plugin(place, "deberta", trained)


@torch.no_grad()
def test_frames_go_through_clip(place: Path) -> None:
    """Without a file of features: the same as its own CLIP's features in a file."""
    folder = place / "clip"
    vision = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 1,
        "image_size": 16,
        "num_attention_heads": 2,
        "patch_size": 8,
        "projection_dim": published.CLIP,
    }
    torch.manual_seed(0)
    clip = transformers.CLIPVisionModelWithProjection(
        transformers.CLIPVisionConfig(**vision)
    )
    clip.eval().save_pretrained(folder)
    size = {"height": 16, "width": 16}
    processor = transformers.CLIPImageProcessor(
        size={"shortest_edge": 16}, crop_size=size
    )
    processor.save_pretrained(folder)
    frames = video("four", 3)
    pixels = processor([frame.load() for frame in frames], return_tensors="pt")[
        "pixel_values"
    ]
    torch.save({"four": clip(pixels).image_embeds}, place / "computed.pth")
    trial = Trial(sample=asked("four", QUESTION))
    live = plugin(place, "deberta", drawn(), features=None, vision=str(folder))
    filed = plugin(place, "deberta", drawn(), features=place / "computed.pth")
    one, other = (model.respond([trial])[0].logits for model in (live, filed))
    np.testing.assert_allclose(one, other, atol=1e-5)
    noise = Frame.from_array(np.full((20, 20, 3), 90, dtype=np.uint8))
    changed = trial.sample.with_frames((noise, *frames[1:]), "changed")
    assert np.abs(live.respond([Trial(sample=changed)])[0].logits - one).max() > 1e-4


def test_a_prompt_without_its_mask_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope_videoqa.frozen_bilm.TEXT_TOKENS", 6)
    model = plugin(place, "deberta", drawn())
    with pytest.raises(UserError, match="one mask within 6 tokens, got 0"):
        model.respond([Trial(sample=asked("", QUESTION))])


def test_configuration_that_cannot_be_read(place: Path) -> None:
    folder = place / "broken"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({**published.deberta_config(True), "num_attention_heads": 5})
    )
    with pytest.raises(UserError, match="the configuration in broken cannot be read"):
        plugin(place, "broken", drawn())
