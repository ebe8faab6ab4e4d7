"""BioViL-T from files as published, against its equations by hand; pictures are made small."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
import transformers
from biovil_published import (
    DIM,
    IMAGE_FILE,
    LAYERS,
    WIDTH,
    State,
    image_state,
    write_folder,
)
from torch import Tensor
from torch.nn.functional import gelu, layer_norm
from torchvision.models.resnet import BasicBlock, ResNet

import cuescope_biovil.loading
from cuescope_biovil import BioViLT
from cuescope_sdk import Context, Frame, Sample, Trial, UserError
from cuescope_testing import ModelContract

CROP, SIDE = 64, 2
PROMPTS = ("pneumonia is better", "pneumonia is worse")
BOTH = frozenset({"logits", "embedding"})


@pytest.fixture(autouse=True, scope="module")
def _small() -> Iterator[None]:
    """The network is convolutional: the same on small pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuescope_biovil.loading, "RESIZE", 72)
        patch.setattr(cuescope_biovil.loading, "CROP", CROP)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("hub") / "BiomedVLP-BioViL-T")


def build(folder: Path, **options: Any) -> BioViLT:
    return BioViLT(BioViLT.Options(model=str(folder), **options), Context(device="cpu"))


class TestContract(ModelContract):
    plugin = BioViLT
    device = "cpu"
    data_options: ClassVar[dict[str, Any]] = {"frames": 2}
    count = 4

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folder: Path) -> None:
        cls.options = {"model": str(folder)}
        cls.other_options = {**cls.options, "logit_scale": 2.0}


# ------------------------------------------------------------------------------------- by hand


def x_rays() -> tuple[Frame, ...]:
    """Of the size and range that the network sees, so that nothing is resized or stretched."""
    grey = np.random.default_rng(3).integers(0, 256, (2, 72, 72), dtype=np.uint8)
    grey[:, 0, :2] = 0, 255
    return tuple(
        Frame.from_array(np.repeat(image[..., None], 3, axis=2)) for image in grey
    )


def places() -> Tensor:
    """Sines and cosines of row and column, which count from 1 and end at 2 pi."""
    half, rows = WIDTH // 2, []
    for row in range(1, SIDE + 1):
        for col in range(1, SIDE + 1):
            numbers = []
            for at in (row, col):
                angle = at / (SIDE + 1e-6) * 2 * math.pi
                for index in range(half):
                    value = angle / 10_000 ** (2 * (index // 2) / half)
                    numbers.append(math.cos(value) if index % 2 else math.sin(value))
            rows.append(numbers)
    return torch.tensor(rows)


def pool(state: State, current: Tensor, previous: Tensor) -> Tensor:
    """What changed at each place (place, width), a head at a time."""
    names = {
        n.removeprefix("encoder.vit_pooler."): t
        for n, t in state.items()
        if "vit_pooler" in n
    }
    where = torch.cat(
        [places() + names["type_embed"][0], places() + names["type_embed"][1]]
    )
    tokens = torch.cat([current, previous])
    for layer in range(LAYERS):
        own = {
            n.removeprefix(f"blocks.{layer}."): t
            for n, t in names.items()
            if n.startswith(f"blocks.{layer}.")
        }

        def norm(name: str, values: Tensor, own: State = own) -> Tensor:
            weight, bias = own[f"{name}.weight"], own[f"{name}.bias"]
            return layer_norm(values, (WIDTH,), weight, bias, eps=1e-6)

        seen, heads = norm("norm1", tokens) + where, []
        for head in range(8):
            part = slice(WIDTH // 8 * head, WIDTH // 8 * (head + 1))
            query, key, value = (
                seen @ own[f"attn.proj_{p}.weight"][part].T for p in "qkv"
            )
            heads.append((query @ key.T / (WIDTH // 8) ** 0.5).softmax(dim=1) @ value)
        tokens = (
            tokens
            + torch.cat(heads, 1) @ own["attn.proj.weight"].T
            + own["attn.proj.bias"]
        )
        hidden = gelu(
            norm("norm2", tokens) @ own["mlp.fc1.weight"].T + own["mlp.fc1.bias"]
        )
        tokens = tokens + hidden @ own["mlp.fc2.weight"].T + own["mlp.fc2.bias"]
    weight, bias = names["norm_post.weight"], names["norm_post.bias"]
    return layer_norm(tokens[: SIDE**2], (WIDTH,), weight, bias, eps=1e-6)


@torch.inference_mode()
def embed_images(state: State, frames: tuple[Frame, ...]) -> np.ndarray:
    """From one image, or from the earlier and the current one."""
    network = ResNet(BasicBlock, [1, 1, 1, 1]).eval()
    network.load_state_dict(
        {
            n.removeprefix("encoder.encoder."): t
            for n, t in state.items()
            if ".encoder." in n
        }
    )
    stem = [network.conv1, network.bn1, network.relu, network.maxpool]
    patches = []
    for frame in frames:
        pixels = np.asarray(frame.load())[4 : 4 + CROP, 4 : 4 + CROP] / 255
        values = torch.from_numpy(pixels).float().permute(2, 0, 1)[None]
        for part in (
            *stem,
            network.layer1,
            network.layer2,
            network.layer3,
            network.layer4,
        ):
            values = part(values)
        flat = values[0].flatten(1).T
        patches.append(flat @ state["encoder.backbone_to_vit.weight"][:, :, 0, 0].T)
    changed = state["encoder.missing_previous_emb"][0, :, 0, 0].expand(SIDE**2, -1)
    if len(frames) == 2:
        changed = pool(state, patches[1], patches[0])
    both = torch.cat([patches[-1], changed], dim=1)
    own = {
        n.removeprefix("projector.model."): t
        for n, t in state.items()
        if "projector" in n
    }
    hidden = both @ own["0.weight"][:, :, 0, 0].T
    hidden = (hidden - own["1.running_mean"]) / (own["1.running_var"] + 1e-5).sqrt()
    hidden = (hidden * own["1.weight"] + own["1.bias"]).relu()
    embedding = (hidden @ own["3.weight"][:, :, 0, 0].T + own["3.bias"]).mean(dim=0)
    return (embedding / embedding.norm()).numpy()


def embed_texts(folder: Path, ids: list[list[int]]) -> np.ndarray:
    """transformers' own CXR-BERT body with the same weights, and the head by hand."""
    state = torch.load(folder / "pytorch_model.bin", weights_only=True)
    config = transformers.BertConfig(**json.loads((folder / "config.json").read_text()))
    body = transformers.BertForMaskedLM(config).eval()
    missing = body.load_state_dict(state, strict=False).missing_keys
    assert not missing
    rows = []
    for of_text in ids:
        with torch.inference_mode():
            first = body.bert(torch.tensor([of_text])).last_hidden_state[0, 0]
        own = {
            n.removeprefix("cls_projection_head."): t
            for n, t in state.items()
            if "projection" in n
        }
        hidden = gelu(
            own["dense_to_hidden.weight"] @ first + own["dense_to_hidden.bias"]
        )
        norm = own["LayerNorm.weight"], own["LayerNorm.bias"]
        hidden = layer_norm(hidden, (DIM,), *norm, eps=1e-12)
        row = own["dense_to_output.weight"] @ hidden + own["dense_to_output.bias"]
        rows.append(row / row.norm())
    return torch.stack(rows).numpy()


@pytest.mark.parametrize("count", [1, 2])
def test_images_and_texts_are_compared_by_their_equations(
    folder: Path, count: int
) -> None:
    model, frames = build(folder), x_rays()[:count]
    sample = Sample(key="pair", frames=frames, choices=PROMPTS)
    [answer] = model.respond([Trial(sample=sample, outputs=BOTH)])
    image = embed_images(image_state(), frames)
    np.testing.assert_allclose(answer.embedding, image, atol=3e-6)
    # [CLS] pneumonia is better [SEP]: numbers of vocab.txt
    texts = embed_texts(folder, [[2, 5, 6, 7, 3], [2, 5, 6, 8, 3]])
    np.testing.assert_allclose(answer.logits, texts @ image, atol=3e-6)
    np.testing.assert_allclose(
        model.embed_texts(["Pneumonia is better.", PROMPTS[1]]), texts, atol=3e-6
    )


def test_the_order_of_the_images_and_each_labels_own_prompts_count(
    folder: Path,
) -> None:
    model = build(folder, templates="pneumonia-progression")
    labels = ("improving", "worsening")
    samples = [
        Sample(key=f"{n}", frames=frames, choices=labels)
        for n, frames in enumerate((x_rays(), x_rays()[::-1]))
    ]
    answers = model.respond([Trial(sample=sample, outputs=BOTH) for sample in samples])
    assert np.abs(answers[0].logits - answers[1].logits).max() > 1e-3
    words = "better cleared decreased decreasing improved improving reduced resolved resolving"
    rows = model.embed_texts(
        [f"pneumonia is {word}" for word in (*words.split(), "smaller")]
    )
    mean = rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0))
    np.testing.assert_allclose(
        answers[0].logits[0], mean @ answers[0].embedding, atol=1e-6
    )
    with pytest.raises(
        UserError, match=r"none for 'stable': expected one of improving, worsening"
    ):
        model.embed_choices(["stable"])


# -------------------------------------------------------------------------------------- refusals


def respoil(file: str, change: Callable[[State], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        state = torch.load(folder / file, weights_only=True)
        change(state)
        torch.save(state, folder / file)

    return spoil


QUERY = "encoder.vit_pooler.blocks.1.attn.proj_q.weight"
HEAD = "cls_projection_head.dense_to_output.bias"
SPOILT: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (
        respoil(IMAGE_FILE, lambda s: s.pop(QUERY)),
        f"1 missing, the first {QUERY}",
    ),
    "missing at once": (
        respoil(IMAGE_FILE, lambda s: s.pop("encoder.backbone_to_vit.weight")),
        "expected a tensor 'encoder.backbone_to_vit.weight', got none of this name",
    ),
    "extra": (
        respoil(
            IMAGE_FILE, lambda s: s.update({"classifier.fc.weight": torch.zeros(2)})
        ),
        "1 that fit nowhere, the first classifier.fc.weight, shape (2,)",
    ),
    "misshapen": (
        respoil(IMAGE_FILE, lambda s: s.update({QUERY: torch.zeros(3, 3)})),
        f"1 misshapen, the first {QUERY}, shape (3, 3) instead of (32, 32)",
    ),
    "text missing": (
        respoil("pytorch_model.bin", lambda s: s.pop(HEAD)),
        f"of the model and no other, got 1 missing, the first {HEAD}",
    ),
    "no image model": (
        lambda f: (f / IMAGE_FILE).unlink(),
        f"lacks a file: expected {IMAGE_FILE}",
    ),
    "no vocabulary": (
        lambda f: (f / "vocab.txt").unlink(),
        "expected tokenizer.json or vocab.txt",
    ),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_files_that_do_not_fit_are_refused(fault: str, tmp_path: Path) -> None:
    spoil, words = SPOILT[fault]
    spoil(write_folder(tmp_path / "spoilt"))

    def open_both_towers() -> None:
        model = build(tmp_path / "spoilt")
        model.open_weights()
        model.embed_texts(["pneumonia"])

    with pytest.raises(UserError) as caught:
        open_both_towers()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_than_two_images_are_refused(folder: Path) -> None:
    sample = Sample(key="three", frames=x_rays() + x_rays()[:1], choices=PROMPTS)
    with pytest.raises(
        UserError, match=r"1 or 2 frames a sample, got 3\. Take a data set of pair"
    ):
        build(folder).respond([Trial(sample=sample)])
