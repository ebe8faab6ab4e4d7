"""open_clip's towers: which modules embed, attend and pool, for its own and for timm's ViTs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import timm
import torch
from PIL import Image
from timm.layers.pos_embed_sincos import apply_rot_embed_cat
from torch import Tensor
from torch.nn.functional import linear

from cuescope_open_clip.held import HeldModel
from cuescope_open_clip.loading import StockModel
from cuescope_sdk.models import PromptTower, TextTower
from cuescope_sdk.torch import (
    Block,
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    additive,
    quiet,
    split_heads,
    to_array,
)

CONVOLUTIONS = "its image tower is convolutional and has no tokens; take a ViT"


def text_tower(model: StockModel | HeldModel) -> TextTower:
    """Tokenizer and text encoder; the first text opens the weights."""

    @torch.inference_mode()
    def encode(texts: list[str]) -> np.ndarray:
        tokenizer: Any = model.tokenizer
        tokens = tokenizer(texts).to(model.device)
        return to_array(model.network.encode_text(tokens))

    def prompts() -> PromptTower:
        tokenizer: Any = model.tokenizer
        # CustomTextCLIP keeps its text tower apart, CLIP is one itself
        tower = getattr(model.network, "text", model.network)
        words = getattr(tower, "token_embedding", None)
        if words is None:  # a tower of transformers in open_clip's network
            words = tower.transformer.get_input_embeddings()
        return PromptTower(
            tokenize=lambda texts: {"input_ids": tokenizer(texts).to(model.device)},
            embedding=words,
            encode=lambda inputs: model.network.encode_text(
                inputs["input_ids"]
            ).float(),
            scale=model.logit_scale,
            bias=model.logit_bias,
        )

    return TextTower(encode, model.dim, model.logit_scale, model.logit_bias, prompts)


def image_tower(model: StockModel | HeldModel) -> ImageTower:
    """The image encoder with its blocks; a network without tokens has none. Opens the weights."""
    network = model.network
    blocks, pooling, prefix, grid = _anatomy(network.visual)

    def prepare(frames: Any) -> Inputs:
        images = [model.preprocess(frame) for frame in frames]
        return {"image": torch.stack(images)}

    def encode(inputs: Inputs) -> Tensor:
        images = inputs["image"].to(model.device, model.dtype)
        features = network.encode_image(images)
        return torch.as_tensor(features).flatten(
            1
        )  # CoCa's contrastive query has an axis

    return ImageTower(
        name=model.name,
        prepare=prepare,
        canvas=lambda image: _canvas(model, image),
        encode=encode,
        grid=lambda inputs: grid,
        blocks=blocks,
        pooling=pooling,
        device=model.device,
        prefix=prefix,
        drops=getattr(getattr(network.visual, "trunk", None), "rope", None) is None,
    )


def why_closed(model: StockModel | HeldModel) -> str | None:
    """Why the tokens of the image tower cannot be reached, or None; the weights stay closed."""
    if isinstance(model, HeldModel):
        return None if has_tokens(model.network.visual) else CONVOLUTIONS
    vision = model.configuration.get("vision_cfg", {})
    name = vision.get("timm_model_name")
    if name is None:
        # stages of a ResNet
        return CONVOLUTIONS if isinstance(vision.get("layers"), list) else None
    with torch.device("meta"), quiet():
        trunk = timm.create_model(name, pretrained=False)
    return None if has_tokens(SimpleNamespace(trunk=trunk)) else CONVOLUTIONS


def has_tokens(visual: Any) -> bool:
    """Whether an image tower is a transformer of open_clip's own, or one of timm's."""
    trunk = getattr(visual, "trunk", None)
    of_timm = hasattr(trunk, "blocks") and hasattr(trunk, "patch_embed")
    return hasattr(visual, "transformer") or of_timm


def _canvas(model: StockModel | HeldModel, image: Image.Image) -> np.ndarray:
    """The preprocessed image with its normalisation undone: the very pixels, uint8."""
    mean, std = model.normalisation
    pixels = model.preprocess(image) * std.view(3, 1, 1) + mean.view(3, 1, 1)
    # rounded first: byte() would make 254 of 254.9999
    levels = (pixels * 255).round().clamp(0, 255).byte()
    return to_array(levels.permute(1, 2, 0))


def _anatomy(visual: Any) -> tuple[tuple[Block, ...], Pooling, int, tuple[int, int]]:
    """Blocks, pooling, number of prefix tokens, and grid."""
    if not has_tokens(visual):
        return (), Pooling("token"), 0, (0, 0)
    if hasattr(visual, "transformer"):
        stock = tuple(map(stock_block, visual.transformer.resblocks))
        return stock, _stock_pooling(visual), 1, tuple(visual.grid_size)
    trunk: Any = visual.trunk
    blocks = tuple(_timm_block(trunk, number) for number in range(len(trunk.blocks)))
    grid = trunk.patch_embed.grid_size
    return blocks, _timm_pooling(trunk), trunk.num_prefix_tokens, grid


# ------------------------------------------------------------------------ open_clip's own ViT


def stock_block(block: Any) -> Block:
    """A residual block of open_clip's own transformer."""
    attention = block.attn
    heads = attention.num_heads

    def form(visible: Tensor) -> Tensor:
        # torch's MultiheadAttention takes a mask for each head, all heads of an image in a row
        mask = additive(visible, torch.float32)
        tokens = visible.shape[1]
        return mask.expand(-1, heads, tokens, -1).reshape(-1, tokens, tokens)

    def project(tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        projected = linear(tokens, attention.in_proj_weight, attention.in_proj_bias)
        queries, keys, values = (
            split_heads(part, heads) for part in projected.chunk(3, dim=-1)
        )
        if hasattr(
            attention, "ln_q"
        ):  # open_clip's custom attention, with or without norms
            queries = attention.ln_q(queries)
            keys = attention.ln_k(keys)
        return queries * queries.shape[-1] ** -0.5, keys, values

    # CustomResidualAttentionBlock.forward(x, attn_mask), ResidualAttentionBlock(q, k, v, attn_mask)
    position = 1 if hasattr(block, "ln_attn") else 3
    masked = Masked(block, "attn_mask", position, form)
    return Block(masked, attention, project, lambda: attention.out_proj.weight)


def _stock_pooling(visual: Any) -> Pooling:
    if visual.attn_pool is not None:
        pool = visual.attn_pool
        # CoCa's parallel poolers: the embedding is what the contrastive one gives
        if visual.attn_pool_type == "parallel" and visual.attn_pool_contrastive:
            pool = visual.attn_pool_contrastive
        attention = pool.attn
        # torch's mask is of what is not seen
        masked = Masked(attention, "key_padding_mask", 3, lambda visible: ~visible)
        return Pooling("attention", masked=masked)
    if visual.pool_type != "avg":
        return Pooling("token")
    # the mean is taken of normed tokens, or of what the last block gives and normed afterwards
    if visual.final_ln_after_pool:
        return Pooling("average", module=visual.transformer.resblocks[-1])
    return Pooling("average", module=visual.ln_post)


# --------------------------------------------------------------------------------- timm's ViT


def _timm_block(trunk: Any, number: int) -> Block:
    """A block of a ViT, or of an EVA or PE, whose queries and keys are turned by their places."""
    block = trunk.blocks[number]
    attention = block.attn
    heads = attention.num_heads

    def form(visible: Tensor) -> Tensor:
        return additive(visible, attention.proj.weight.dtype)

    def project(tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        parts = [split_heads(part, heads) for part in _projected(attention, tokens)]
        queries = attention.q_norm(parts[0])
        keys = attention.k_norm(parts[1])
        if getattr(trunk, "rope", None) is not None:
            queries, keys = (_turned(trunk, number, part) for part in (queries, keys))
        return queries * attention.scale, keys, parts[2]

    # of EVA the positions stand before the mask
    position = 1 if not hasattr(trunk, "rope") else 2
    masked = Masked(block, "attn_mask", position, form)
    return Block(masked, attention, project, lambda: attention.proj.weight)


def _projected(attention: Any, tokens: Tensor) -> tuple[Tensor, ...]:
    """Queries, keys and values, (image, token, dim) each."""
    if attention.qkv is None:
        names = ("q_proj", "k_proj", "v_proj")
        return tuple(getattr(attention, name)(tokens) for name in names)
    projected = attention.qkv(tokens)
    if getattr(attention, "q_bias", None) is not None:
        biases = (attention.q_bias, attention.k_bias, attention.v_bias)
        projected = projected + torch.cat(biases)
    return tuple(projected.chunk(3, dim=-1))


def _turned(trunk: Any, layer: int, heads: Tensor) -> Tensor:
    """Queries or keys of the patches after their rotary positions."""
    angles = trunk.rope.get_embed(shape=trunk.patch_embed.grid_size)
    if getattr(trunk, "rope_mixed", False):
        angles = angles[layer]
    attention = trunk.blocks[layer].attn
    first = attention.num_prefix_tokens
    # a short sequence is a look at sizes alone
    if heads.shape[2] <= first:
        return heads
    # a word of newer timm alone
    half = {"half": True} if getattr(attention, "rotate_half", False) else {}
    turned = apply_rot_embed_cat(heads[:, :, first:], angles, **half)
    return torch.cat([heads[:, :, :first], turned], dim=2)


def _timm_pooling(trunk: Any) -> Pooling:
    pool = trunk.attn_pool
    if pool is not None:
        dtype = pool.kv.weight.dtype
        masked = Masked(pool, "attn_mask", 1, lambda visible: additive(visible, dtype))
        # timm may leave class and register tokens out of the keys of its pooler
        whole = getattr(trunk, "pool_include_prefix", True)
        first = 0 if whole else trunk.num_prefix_tokens
        return Pooling("attention", masked=masked, first=first)
    if trunk.global_pool == "token":
        return Pooling("token")
    return Pooling("average", module=trunk.norm)
