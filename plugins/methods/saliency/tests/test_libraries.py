"""The same weights in open_clip and in transformers give the same maps; padding has no part."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch import Tensor

from cuescope_saliency import EXPLAINERS, Settings, explain
from cuescope_sdk import Context, Frame

NAMES = {
    "class_embedding": "embeddings.class_embedding",
    "positional_embedding": "embeddings.position_embedding.weight",
    "conv1.": "embeddings.patch_embedding.",
    "ln_pre.": "pre_layrnorm.",
    "ln_post.": "post_layernorm.",
    "transformer.resblocks.": "encoder.layers.",
    "attn.": "self_attn.",
    "ln_1.": "layer_norm1.",
    "ln_2.": "layer_norm2.",
    "mlp.c_fc.": "mlp.fc1.",
    "mlp.c_proj.": "mlp.fc2.",
}


def convert(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """open_clip's image tower under the names of transformers."""
    renamed = {"visual_projection.weight": tensors["visual.proj"].T.contiguous()}
    for name, tensor in tensors.items():
        if not name.startswith("visual.") or name == "visual.proj":
            continue
        new = name.removeprefix("visual.")
        for old, other in NAMES.items():
            new = new.replace(old, other)
        new = f"vision_model.{new}"
        if "in_proj_" in new:
            for part, rows in zip("qkv", tensor.chunk(3), strict=True):
                renamed[new.replace("in_proj_", f"{part}_proj.")] = rows.clone()
        else:
            renamed[new] = tensor
    return renamed


@pytest.fixture(scope="module")
def both(model: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """One tower in two libraries, with one table of texts."""
    source, folder = Path(model.options.model), tmp_path_factory.mktemp("both") / "clip"
    config = transformers.CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=128,
        num_hidden_layers=3,
        num_attention_heads=2,
        image_size=32,
        patch_size=8,
        projection_dim=16,
        hidden_act="gelu",
    )
    network = transformers.CLIPVisionModelWithProjection(config)
    network.load_state_dict(convert(load_file(source / "open_clip_model.safetensors")))
    network.save_pretrained(folder)
    transformers.CLIPImageProcessor(
        size={"shortest_edge": 32},
        crop_size={"height": 32, "width": 32},
        image_mean=[0.5] * 3,
        image_std=[0.25] * 3,
    ).save_pretrained(folder)
    table = folder / "texts.npz"
    rows = np.random.default_rng(2).normal(size=(2, 16)).astype(np.float32)
    np.savez(table, names=np.array(["bird", "boat"]), embeddings=rows)
    context, options = Context(device="cpu"), {"class_embeddings": str(table)}
    return (
        context.build("model", f"open-clip:{source}", options),
        context.build("model", f"transformers:{folder}", options),
    )


# those draw by image bits
SAME = [name for name in EXPLAINERS if name not in ("m2ib", "random")]


@pytest.mark.parametrize("explainer", SAME)
def test_libraries_agree(both: tuple[Any, Any], frame: Frame, explainer: Any) -> None:
    ours, other = (
        explain(model, frame, "bird", explainer, Settings(rise_masks=40))
        for model in both
    )
    np.testing.assert_allclose(ours, other, atol=2e-5)


def test_padding_has_no_part(tmp_path: Path) -> None:
    """SigLIP 2 pads its patches to a fixed number; how many is no property of the image."""
    size = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    config = transformers.Siglip2VisionConfig(**size, patch_size=8, num_patches=16)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = transformers.Siglip2VisionModel(config)
        for parameter in network.parameters():
            torch.nn.init.normal_(parameter, std=0.2)
    models = []
    np.savez(tmp_path / "t.npz", names=np.array(["bird"]), embeddings=np.eye(1, 32, 3))
    for most in (18, 21):
        folder = tmp_path / str(most)
        network.save_pretrained(folder)
        transformers.Siglip2ImageProcessor(
            patch_size=8, max_num_patches=most
        ).save_pretrained(folder)
        options = {"class_embeddings": str(tmp_path / "t.npz")}
        models.append(
            Context(device="cpu").build("model", f"transformers:{folder}", options)
        )
    pixels = np.random.default_rng(5).integers(0, 256, (16, 72, 3), dtype=np.uint8)
    for explainer in ("grad-cam", "grad-eclip", "maskclip", "clip-surgery"):
        short, long = (
            explain(model, Frame.from_array(pixels), "bird", explainer)  # type: ignore[arg-type]
            for model in models
        )
        np.testing.assert_allclose(short, long, atol=2e-5)
        assert np.ptp(short) > 0
    bits = explain(
        models[1], Frame.from_array(pixels), "bird", "m2ib", Settings(m2ib_steps=3)
    )
    assert bits.shape == short.shape
