"""`HideTokens` on the kinds of image tower that open_clip builds, scaled down."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hiding_checks
import numpy as np
import pytest
import timm
import torch

from cuescope_open_clip import OpenCLIP
from cuescope_sdk import Frame, HideTokens, Sample, Trial, UserError
from cuescope_sdk.models import tokens_under
from cuescope_sdk.torch import ImageTower, hook_input, hook_output

SMALL = {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8}
COCA = {"attentional_pool": True, "attn_pooler_heads": 2, "attn_pooler_queries": 4}
AVERAGE = {"pool_type": "avg"}
QUICK = {"quick_gelu": True}
ROWS = {
    "ViT-B-32": {"vision_cfg": {**SMALL, "image_size": 96, "patch_size": 32}},
    "ViT-B-16": {"vision_cfg": {**SMALL, "image_size": 64, "patch_size": 16}},
    "ViT-L-14": {
        "vision_cfg": {**SMALL, "image_size": 42, "patch_size": 14, "layers": 3}
    },
    "not-square": {"vision_cfg": {**SMALL, "image_size": [24, 40]}},
    "quickgelu": {"vision_cfg": SMALL, **QUICK},
    "average-of-normed": {"vision_cfg": {**SMALL, **AVERAGE}},
    "norm-of-average": {
        "vision_cfg": {**SMALL, **AVERAGE, "final_ln_after_pool": True}
    },
    "custom-blocks": {
        "vision_cfg": {**SMALL, "qk_norm": True, "scale_attn_inner": True}
    },
    "coca": {"vision_cfg": {**SMALL, **COCA}},
    "coca-parallel": {
        "embed_dim": 32,
        "vision_cfg": {**SMALL, **COCA, "attentional_pool": "parallel"},
    },
    "coca-cascade": {
        "embed_dim": 32,
        "vision_cfg": {**SMALL, **COCA, "attentional_pool": "cascade"},
    },
    "siglip": {"timm": "vit_base_patch16_siglip_224", "timm_pool": "map"},
    "siglip-average": {"timm": "vit_base_patch16_siglip_gap_224", "timm_pool": "avg"},
    "registers": {"timm": "vit_base_patch16_reg4_gap_256", "timm_pool": "avg"},
    "timm-token": {"timm": "vit_base_patch16_224", "timm_pool": "token"},
    "eva01": {"timm": "eva_giant_patch14_224", "timm_pool": "token"},
    "eva02": {"timm": "eva02_base_patch16_clip_224", "timm_pool": "token"},
    "pe-core": {"timm": "vit_pe_core_tiny_patch16_384", "timm_pool": "map"},
    "eva02-norms-after": {
        "timm": "eva02_enormous_patch14_clip_224",
        "timm_pool": "token",
    },
    "dinov3": {"timm": "vit_small_patch16_dinov3", "timm_pool": "avg"},
}
EMBEDDING = frozenset({"embedding"})
NO_TOKENS = {"layers": [1, 1, 1, 1], "width": 8, "patch_size": None, "image_size": 32}
SCALED = {"img_size": 32, "patch_size": 8, "embed_dim": 32, "depth": 2, "num_heads": 2}


def configuration(name: str) -> dict[str, Any]:
    """What open_clip_config.json says of the vision tower."""
    row = dict(ROWS[name])
    if "timm" not in row:
        return row
    tower = {
        "image_size": 32,
        "timm_model_name": row["timm"],
        "timm_pool": row["timm_pool"],
    }
    return {"vision_cfg": {**tower, "timm_proj": "linear"}}


@pytest.fixture(scope="module")
def towers(
    write_folder: Callable[..., Path],
    build: Callable[..., OpenCLIP],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], ImageTower]]:
    """`towers(name)`: the image tower of the plugin; timm's models are built in small."""
    root, built = tmp_path_factory.mktemp("towers"), {}

    def tower(name: str) -> ImageTower:
        if name not in built:
            folder = write_folder(root / name, **configuration(name))
            built[name] = build(model=str(folder)).image_tower
        return built[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timm, "create_model", partial(timm.create_model, **SCALED))
        yield tower


# of each way to pool and to lay tokens one
SHORT = {
    "not-square",
    "norm-of-average",
    "custom-blocks",
    "coca",
    "coca-cascade",
    "siglip",
    "registers",
    "eva02",
}


@pytest.mark.parametrize(
    "check", hiding_checks.CHECKS, ids=lambda check: check.__name__
)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in SHORT else pytest.mark.long)
        for name in ROWS
    ],
)
def test_every_architecture_hides(
    towers: Callable[[str], ImageTower],
    name: str,
    check: hiding_checks.Check,
    frames: tuple[Frame, ...],
) -> None:
    check(towers(name), frames[:4])


@pytest.mark.parametrize("name", ROWS)
def test_every_tower_says_its_layers_and_heads(
    towers: Callable[[str], ImageTower], name: str
) -> None:
    tower = towers(name)
    assert (tower.layers, tower.heads) == (3 if name == "ViT-L-14" else 2, 2)


@pytest.mark.parametrize("name", ROWS)
def test_heads_make_what_the_attention_answers(
    towers: Callable[[str], ImageTower], name: str, frames: tuple[Frame, ...]
) -> None:
    """What explainers rest on: weights, values, inner norm and projection, but for a bias."""
    tower = towers(name)
    block = tower.block(-1)
    [given, answered] = [], []
    with (
        torch.no_grad(),
        hook_input(block.attention, given.append),
        hook_output(block.attention, answered.append),
    ):
        tower.encode(tower.prepare([frames[0].load()]))
        queries, keys, values = block.project(given[0])
        weights = (queries @ keys.mT).softmax(dim=-1)
        joined = (weights @ values).transpose(1, 2).flatten(2)
        if block.inner_norm is not None:
            joined = block.inner_norm(joined)
        rest = answered[0] - joined @ block.out_weight().T
    # the bias is the same for each token
    assert (rest - rest[:, :1]).abs().max() < 1e-5
    assert answered[0].std() > 1e-3


def test_a_mask_in_pixels_hides_the_patches_it_touches(
    build: Callable[..., OpenCLIP], frames: tuple[Frame, ...]
) -> None:
    """A 40 x 52 frame is cropped to its middle 40 x 40, then cut into 4 x 4 patches."""
    model = build()
    pixels, patches = np.zeros((1, 40, 52), bool), np.zeros((1, 4, 4), bool)
    pixels[:, 2:7, 8:14], patches[:, 0, 0] = True, True
    answers = [answer(model, frames[0], mask) for mask in (pixels, patches, ~patches)]
    assert np.array_equal(answers[0], answers[1])
    assert not np.allclose(answers[0], answers[2], atol=1e-3)
    np.testing.assert_array_equal(tokens_under(model, frames[0], pixels[0]), patches[0])
    with pytest.raises(
        UserError, match=r"expected 40 x 52 \(rows x columns\), got 4 x 4"
    ):
        tokens_under(model, frames[0], patches[0])


def test_a_network_without_tokens_says_so(
    build: Callable[..., OpenCLIP],
    write_folder: Callable[..., Path],
    tmp_path: Path,
    frames: tuple[Frame, ...],
) -> None:
    model = build(model=str(write_folder(tmp_path / "resnet", vision_cfg=NO_TOKENS)))
    assert model.respond(
        [Trial(sample=Sample(key="one", frames=frames[:1]), outputs=EMBEDDING)]
    )
    assert "image-tower" not in model.capabilities.exposes
    with pytest.raises(UserError, match="its image tower is convolutional"):
        answer(model, frames[0], np.ones((1, 4, 4), bool))
    with pytest.raises(UserError, match="no image tokens"):
        model.patch_features(frames[:1])


def answer(model: OpenCLIP, frame: Frame, mask: np.ndarray) -> np.ndarray:
    sample = Sample(key="one", frames=(frame,))
    trial = Trial(sample=sample, edit=HideTokens.from_mask(mask), outputs=EMBEDDING)
    [response] = model.respond([trial])
    assert response.embedding is not None
    return response.embedding
