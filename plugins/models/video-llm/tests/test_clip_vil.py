"""CLIP-ViL from a file in the authors' layout, names and shapes written out."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers

from cuescope_sdk import Context, Frame, Sample, Trial, UserError, generator
from cuescope_video_llm import ClipViL, ClipViLOptions

DIM, INNER, WIDTH, WORDS = (
    8,
    12,
    4,
    ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "what", "who", "is", "it"),
)
ANSWERS = ("cup", "dog", "yes", "no")
BODY = "lxrt_encoder.model.bert"
SPREAD = (
    "running_var",
    "orm.weight",
    "bn1.weight",
    "bn2.weight",
    "bn3.weight",
    "downsample.1.weight",
)
Shapes = dict[str, tuple[int, ...]]


def linear(name: str, inner: int, outer: int) -> Shapes:
    return {f"{name}.weight": (outer, inner), f"{name}.bias": (outer,)}


def norm(name: str, dim: int) -> Shapes:
    return {f"{name}.weight": (dim,), f"{name}.bias": (dim,)}


def batch_norm(name: str, dim: int) -> Shapes:
    more: Shapes = {f"{name}.running_mean": (dim,), f"{name}.running_var": (dim,)}
    return norm(name, dim) | more | {f"{name}.num_batches_tracked": ()}


def resnet(name: str) -> Shapes:
    shapes: Shapes = {f"{name}.conv1.weight": (WIDTH // 2, 3, 3, 3)}
    shapes |= {f"{name}.conv2.weight": (WIDTH // 2, WIDTH // 2, 3, 3)}
    shapes |= {f"{name}.conv3.weight": (WIDTH, WIDTH // 2, 3, 3)}
    for number, dim in ((1, WIDTH // 2), (2, WIDTH // 2), (3, WIDTH)):
        shapes |= batch_norm(f"{name}.bn{number}", dim)
    inner = WIDTH
    for layer in range(1, 5):
        width = WIDTH * 2 ** (layer - 1)
        for block in range(2 if layer == 1 else 1):
            part = f"{name}.layer{layer}.{block}"
            shapes |= {f"{part}.conv1.weight": (width, inner, 1, 1)}
            shapes |= {f"{part}.conv2.weight": (width, width, 3, 3)}
            shapes |= {f"{part}.conv3.weight": (4 * width, width, 1, 1)}
            shapes |= batch_norm(f"{part}.bn1", width) | batch_norm(
                f"{part}.bn2", width
            )
            shapes |= batch_norm(f"{part}.bn3", 4 * width)
            if block == 0:
                shapes |= {f"{part}.downsample.0.weight": (4 * width, inner, 1, 1)}
                shapes |= batch_norm(f"{part}.downsample.1", 4 * width)
            inner = 4 * width
    return shapes | {f"{name}.attnpool.positional_embedding": (5, inner)}


def clip_vil() -> Shapes:
    """`BEST.pth` of their VQA: the encoder under its name, and the head."""
    embeddings, encoder = f"{BODY}.embeddings", f"{BODY}.encoder"
    shapes: Shapes = {
        f"{embeddings}.word_embeddings.weight": (len(WORDS), DIM),
        f"{embeddings}.position_embeddings.weight": (24, DIM),
        f"{embeddings}.token_type_embeddings.weight": (2, DIM),
        f"{encoder}.visual_model.text_projection": (6, 6),
        f"{encoder}.visual_model.logit_scale": (),
    }
    shapes |= norm(f"{embeddings}.LayerNorm", DIM)
    shapes |= linear(f"{encoder}.visn_fc.visn_fc", 32 * WIDTH, DIM)
    shapes |= norm(f"{encoder}.visn_fc.visn_layer_norm", DIM)
    shapes |= linear(f"{encoder}.visn_fc.box_fc", 4, DIM)
    for n in range(2):
        layer = f"{encoder}.layer.{n}"
        for part in ("query", "key", "value"):
            shapes |= linear(f"{layer}.attention.self.{part}", DIM, DIM)
        shapes |= linear(f"{layer}.attention.output.dense", DIM, DIM)
        shapes |= norm(f"{layer}.attention.output.LayerNorm", DIM)
        shapes |= linear(f"{layer}.intermediate.dense", DIM, INNER)
        shapes |= linear(f"{layer}.output.dense", INNER, DIM)
        shapes |= norm(f"{layer}.output.LayerNorm", DIM)
    shapes |= resnet(f"{encoder}.visual_model.visual") | linear(
        f"{BODY}.pooler.dense", DIM, DIM
    )
    shapes |= linear("logit_fc.0", DIM, 2 * DIM) | norm("logit_fc.2", 2 * DIM)
    return shapes | linear("logit_fc.3", 2 * DIM, len(ANSWERS))


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a user gives: the files as somebody has them who downloaded them."""
    folder = tmp_path_factory.mktemp("clip-vil")
    random = torch.Generator().manual_seed(1)
    state = {
        name: torch.zeros(shape, dtype=torch.long)
        if name.endswith("tracked")
        else torch.rand(shape, generator=random) * 0.8
        - 0.4
        + float(name.endswith(SPREAD))
        for name, shape in clip_vil().items()
    }
    torch.save(state, folder / "BEST.pth")
    (folder / "trainval_label2ans.json").write_text(json.dumps(ANSWERS))
    ids = {word: index for index, word in enumerate(WORDS)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    fast: Any = transformers.BertTokenizerFast
    fast(tokenizer_object=backend, vocab=ids).save_pretrained(folder / "words")
    return {
        "checkpoint": str(folder / "BEST.pth"),
        "answers": str(folder / "trainval_label2ans.json"),
        "tokenizer": str(folder / "words"),
        "head_dim": 4,
    }


def built(given: dict[str, Any]) -> ClipViL:
    return ClipViL(ClipViLOptions(**given), Context(device="cpu"))


def sample(frames: int = 2, choices: tuple[str, ...] = ("cup", "dog")) -> Sample:
    colours = generator(2, "pictures").integers(0, 256, (frames, 1, 1, 3))
    pixels = (colours * np.linspace(0.5, 1, 50)[None, None, :, None]).astype(np.uint8)
    pixels = np.repeat(pixels, 30, axis=1)
    shown = tuple(map(Frame.from_array, pixels))
    return Sample(key="one", frames=shown, question="what is it", choices=choices)


def test_a_video_is_answered_by_the_mean_of_its_frames(options: dict[str, Any]) -> None:
    model, asked = built(options), sample()
    whole, *parts = (
        model.network.logits(replace(asked, frames=frames))
        for frames in (asked.frames, asked.frames[:1], asked.frames[1:])
    )
    assert np.allclose(whole, np.mean(parts, axis=0), atol=1e-5)
    assert not np.allclose(*parts)
    assert not np.allclose(whole, model.network.logits(replace(asked, question="who")))
    [answer] = model.respond([Trial(sample=asked)])
    assert answer.logits is not None
    assert np.allclose(answer.logits, whole[:2])
    words = frozenset({"text"})
    [answer] = model.respond([Trial(sample=replace(asked, choices=()), outputs=words)])
    assert answer.text == ANSWERS[int(whole.argmax())]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda t: t.pop("logit_fc.2.bias"), "1 missing, the first logit_fc.2.bias"),
        (
            lambda t: t.update({"extra.weight": torch.zeros(2)}),
            "1 that fit nowhere, the first extra.weight, shape (2,)",
        ),
        (
            lambda t: t.update({"logit_fc.2.bias": torch.zeros(5)}),
            "1 misshapen, the first logit_fc.2.bias, shape (5,) instead of (16,)",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    damage: Callable[[dict[str, Any]], Any],
    said: str,
    options: dict[str, Any],
    tmp_path: Path,
) -> None:
    state = torch.load(options["checkpoint"], weights_only=True)
    damage(state)
    torch.save(state, tmp_path / "damaged.pth")
    with pytest.raises(UserError) as told:
        built(options | {"checkpoint": str(tmp_path / "damaged.pth")}).open_weights()
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_answers_and_choices_must_be_its_own(
    options: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "three.json").write_text('["a", "b", "c"]')
    with pytest.raises(
        UserError, match="expected 4, as many as the checkpoint has classes"
    ):
        built(options | {"answers": str(tmp_path / "three.json")}).open_weights()
    with pytest.raises(
        UserError, match="has the choice 'a cat': expected one of the 4 answers"
    ):
        built(options).respond([Trial(sample=sample(choices=("cup", "a cat")))])
