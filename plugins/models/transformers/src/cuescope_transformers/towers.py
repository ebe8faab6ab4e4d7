"""The towers of CLIP, SigLIP and SigLIP 2: which modules embed, attend and pool."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import pad

from cuescope_sdk.models import TextTower
from cuescope_sdk.torch import Block, ImageTower, Inputs, Masked, Pooling, additive, split_heads
from cuescope_transformers.loading import OWNER, Loaded
from cuescope_transformers.pixels import as_image

PATCHES = "spatial_shapes"  # beside inputs that are cut into patches already: rows, columns
TOKENS = ("input_ids", "attention_mask")
CLASS_TOKEN = ("clip", "clip_vision_model", "xclip")


def text_tower(loaded: Loaded) -> TextTower:
    """Tokenizer and text encoder of a loaded model; a text beyond the context is cut at its end.

    SigLIP reads the last of 64 places, and was trained on lower-cased text; not every tokenizer
    of its family says so.
    """
    model, tokenizer, siglip = loaded.model, loaded.tokenizer, loaded.kind.startswith("siglip")
    context = model.config.text_config.max_position_embeddings

    @torch.inference_mode()
    def encode(texts: list[str]) -> np.ndarray:
        tokens = tokenizer(  # type: ignore[misc]
            [text.lower() for text in texts] if siglip else texts,
            padding="max_length" if siglip else True,
            truncation=True,
            max_length=context,
            return_tensors="pt",
        )
        wanted = {name: tokens[name].to(loaded.device) for name in tokens if name in TOKENS}
        features = model.get_text_features(**wanted).pooler_output
        return np.asarray(features.float().cpu().numpy())

    bias = getattr(model, "logit_bias", None)
    scale = float(model.logit_scale.float().exp())
    return TextTower(encode, loaded.dim, scale, 0.0 if bias is None else float(bias))


def image_tower(loaded: Loaded) -> ImageTower:
    """The image encoder of a model of single images."""
    vision = vision_of(loaded)
    size, naflex = loaded.vision_config.patch_size, loaded.kind.startswith("siglip2")

    def prepare(frames: Sequence[Image.Image]) -> Inputs:
        return dict(loaded.image_processor(list(frames), return_tensors="pt"))

    def encode(inputs: Inputs) -> Tensor:
        shown = {name: tensor.to(loaded.device) for name, tensor in inputs.items()}
        if loaded.tokenizer is not None:
            return torch.as_tensor(loaded.model.get_image_features(**shown).pooler_output)
        output = loaded.model(**shown)
        projected = getattr(output, "image_embeds", None)
        return torch.as_tensor(output.pooler_output if projected is None else projected)

    return ImageTower(
        name=f"{OWNER}: {loaded.source.title}",
        prepare=prepare,
        canvas=lambda image: canvas(loaded, prepare([image])),
        encode=encode,
        grid=lambda inputs: grid(inputs, size),
        blocks=tuple(block(layer, padded=naflex) for layer in vision.encoder.layers),
        pooling=_pooling(loaded.kind, vision),
        device=loaded.device,
        prefix=int(loaded.kind in CLASS_TOKEN),
    )


def vision_of(loaded: Loaded) -> Any:
    """The module with the embeddings and the encoder of the image tower."""
    return getattr(loaded.model, "vision_model", loaded.model)


def grid(inputs: Inputs, patch_size: int) -> tuple[int, int]:
    """Rows and columns of patches."""
    if PATCHES in inputs:
        rows, cols = inputs[PATCHES][0].tolist()
        return int(rows), int(cols)
    height, width = inputs["pixel_values"].shape[-2:]
    return height // patch_size, width // patch_size


def canvas(loaded: Loaded, inputs: Inputs) -> np.ndarray:
    """The pixels of the first image, rescaling and normalisation undone: uint8 (row, col, 3)."""
    size = loaded.vision_config.patch_size
    if PATCHES in inputs:
        rows, cols = grid(inputs, size)
        patches = inputs["pixel_values"][0, : rows * cols].view(rows, cols, size, size, 3)
        pixels = patches.transpose(1, 2).reshape(rows * size, cols * size, 3)
    else:
        values = inputs["pixel_values"]
        pixels = values.view(-1, *values.shape[-3:])[0].permute(1, 2, 0)
    return as_image(pixels, loaded.image_processor)


def block(layer: Any, own: int = 0, padded: bool = False) -> Block:
    """An encoder layer; it appends `own` tokens, always visible, to those that it is given."""
    attention = layer.self_attn
    heads = attention.num_heads

    def form(visible: Tensor) -> Tensor:
        return additive(pad(visible, (0, own), value=True), attention.q_proj.weight.dtype)

    def project(tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        queries, keys, values = (
            split_heads(part(tokens), heads)
            for part in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        return queries * attention.scale, keys, values

    masked = Masked(layer, "attention_mask", 1, form, padded)
    return Block(masked, attention, project, lambda: attention.out_proj.weight)


def _pooling(kind: str, vision: Any) -> Pooling:
    if kind in CLASS_TOKEN:
        return Pooling("token")
    if kind.startswith("siglip2"):  # its head makes the mask of its attention from this one
        masked = Masked(vision.head, "attention_mask", 1, lambda visible: visible, padded=True)
        return Pooling("attention", masked=masked)
    attention = vision.head.attention
    masked = Masked(attention, "key_padding_mask", 3, lambda visible: ~visible)
    return Pooling("attention", masked=masked)
