"""The towers of CLIP, SigLIP and their like: which modules embed, attend and pool."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor
from torch.nn.functional import pad

from cuescope_sdk.models import PromptTower, TextTower
from cuescope_sdk.torch import (
    Block,
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    additive,
    split_heads,
    to_array,
)
from cuescope_transformers.loading import ContrastiveModel

# beside inputs that are cut into patches already: rows, columns
PATCHES = "spatial_shapes"
TOKENS = ("input_ids", "attention_mask")


def text_tower(model: ContrastiveModel) -> TextTower:
    """Tokenizer and text encoder; a text beyond the context is cut at its end.

    The first text opens the weights.
    """
    tokenizer: Any = model.tokenizer
    shape = model.shape
    context = text_context(model)

    def tokenize(texts: list[str]) -> dict[str, Tensor]:
        # SigLIP reads the last of 64 places, and was trained on lower-cased text; not every
        # tokenizer of its family says so
        if shape.lower:
            texts = [text.lower() for text in texts]
        tokens = tokenizer(
            texts,
            padding="max_length" if shape.pads else True,
            truncation=True,
            max_length=context,
            return_tensors="pt",
        )
        return {
            name: tokens[name].to(model.files.device)
            for name in tokens
            if name in TOKENS
        }

    @torch.inference_mode()
    def encode(texts: list[str]) -> np.ndarray:
        inputs = tokenize(texts)
        return to_array(text_features(model, inputs))

    def prompts() -> PromptTower:
        network = model.files.network
        return PromptTower(
            tokenize=tokenize,
            embedding=network.get_input_embeddings(),
            encode=lambda inputs: text_features(model, inputs).float(),
            scale=model.logit_scale,
            bias=model.logit_bias,
        )

    return TextTower(encode, model.dim, model.logit_scale, model.logit_bias, prompts)


def text_context(model: ContrastiveModel) -> int:
    """Most tokens of a text."""
    text = model.files.config.text_config
    places = int(text.max_position_embeddings)
    # RoBERTa counts its places from the one behind padding
    return places - text.pad_token_id - 1 if model.kind == "altclip" else places


def text_features(model: ContrastiveModel, inputs: Mapping[str, Tensor]) -> Tensor:
    """What the library compares with images, not normalised: (text, dim)."""
    network = model.files.network
    if model.kind == "blip":
        states = network.text_encoder(**inputs).last_hidden_state
        return torch.as_tensor(network.text_proj(states[:, 0]))
    return torch.as_tensor(network.get_text_features(**inputs).pooler_output)


def image_features(model: ContrastiveModel, inputs: Inputs) -> Tensor:
    """What the library compares with texts, not normalised: (image, dim)."""
    network = model.files.network
    if model.kind == "blip":
        states = network.vision_model(**inputs).last_hidden_state
        return torch.as_tensor(network.vision_proj(states[:, 0]))
    if model.tokenizer is not None:
        return torch.as_tensor(network.get_image_features(**inputs).pooler_output)
    # an image tower alone: its forward pass is the tower itself
    output = network(**inputs)
    # CLIP's tower projects what it pools, SigLIP's does not
    projected = getattr(output, "image_embeds", None)
    return torch.as_tensor(output.pooler_output if projected is None else projected)


def image_tower(model: ContrastiveModel) -> ImageTower:
    """The image encoder of a model of single images. Opens the weights."""
    closed = model.shape.closed is not None
    naflex = model.kind.startswith("siglip2")
    blocks: tuple[Block, ...] = ()
    if not closed:
        blocks = tuple(block(layer, padded=naflex) for layer in layers_of(model))

    def grid_of(inputs: Inputs) -> tuple[int, int]:
        return (0, 0) if closed else grid(inputs, model.vision_config.patch_size)

    def prepare(frames: Sequence[Image.Image]) -> Inputs:
        return dict(model.image_processor(list(frames), return_tensors="pt"))

    def encode(inputs: Inputs) -> Tensor:
        inputs = {
            name: tensor.to(model.files.device) for name, tensor in inputs.items()
        }
        return image_features(model, inputs)

    return ImageTower(
        name=model.files.title,
        prepare=prepare,
        canvas=lambda image: canvas(model, prepare([image])),
        encode=encode,
        grid=grid_of,
        blocks=blocks,
        pooling=Pooling("token") if closed else _pooling(model),
        device=model.files.device,
        prefix=model.shape.prefix,
    )


def vision_of(model: ContrastiveModel) -> Any:
    """The module with the embeddings and the encoder of the image tower."""
    return getattr(model.files.network, "vision_model", model.files.network)


def layers_of(model: ContrastiveModel) -> Any:
    """The residual blocks of the image encoder."""
    encoder = vision_of(model).encoder
    return encoder.layer if model.kind == "tipsv2" else encoder.layers


def grid(inputs: Inputs, patch_size: int) -> tuple[int, int]:
    """Rows and columns of patches."""
    if PATCHES in inputs:
        rows, cols = inputs[PATCHES][0].tolist()
        return int(rows), int(cols)
    height, width = inputs["pixel_values"].shape[-2:]
    return height // patch_size, width // patch_size


def canvas(model: ContrastiveModel, inputs: Inputs) -> np.ndarray:
    """The pixels of the first image, rescaling and normalisation undone: uint8 (row, col, 3)."""
    values = inputs["pixel_values"]
    if PATCHES in inputs:
        size = model.vision_config.patch_size
        rows, cols = grid(inputs, size)
        # what follows is padding
        patches = values[0, : rows * cols].view(rows, cols, size, size, 3)
        pixels = patches.transpose(1, 2).reshape(rows * size, cols * size, 3)
    else:
        first = values.view(-1, *values.shape[-3:])[0]
        pixels = first.permute(1, 2, 0)
    return as_image(pixels, model.image_processor)


def as_image(
    values: Float[Tensor, "height width 3"], processor: Any
) -> UInt8[np.ndarray, "height width 3"]:
    """The values before they were rescaled and normalised."""
    if processor.do_normalize:
        std = torch.tensor(processor.image_std)
        mean = torch.tensor(processor.image_mean)
        values = values * std + mean
    if processor.do_rescale:
        values = values / processor.rescale_factor
    # rounded first: byte() cuts decimals off
    return to_array(values.round().clamp(0, 255).byte())


def block(layer: Any, appended: int = 0, padded: bool = False) -> Block:
    """An encoder layer; it appends tokens, always visible, to those that it is given."""
    attention = layer.attention if hasattr(layer, "attention") else layer.self_attn
    heads = getattr(attention, "num_heads", None) or attention.num_attention_heads
    # CLIP's names, or those of TIPSv2
    scale = getattr(attention, "scale", None) or attention.scaling
    out = getattr(attention, "out_proj", None) or attention.o_proj

    def form(visible: Tensor) -> Tensor:
        # X-CLIP's layers append a message token after the mask was made
        visible = pad(visible, (0, appended), value=True)
        return additive(visible, attention.q_proj.weight.dtype)

    def project(tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        queries = split_heads(attention.q_proj(tokens), heads)
        keys = split_heads(attention.k_proj(tokens), heads)
        values = split_heads(attention.v_proj(tokens), heads)
        return queries * scale, keys, values

    masked = Masked(layer, "attention_mask", 1, form, padded)
    return Block(masked, attention, project, lambda: out.weight)


def _pooling(model: ContrastiveModel) -> Pooling:
    vision = vision_of(model)
    if model.shape.pools_token:
        return Pooling("token")
    # SigLIP 2's head makes its own mask from one of True and False; SigLIP's head takes none, but
    # the attention in it, which is torch's, does
    if model.kind.startswith("siglip2"):
        masked = Masked(
            vision.head,
            "attention_mask",
            1,
            lambda visible: visible,
            padded=True,
        )
        return Pooling("attention", masked=masked)
    attention = vision.head.attention
    # torch's mask is of what is not seen
    masked = Masked(attention, "key_padding_mask", 3, lambda visible: ~visible)
    return Pooling("attention", masked=masked)
