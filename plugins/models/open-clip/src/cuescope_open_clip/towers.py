"""open_clip's towers: which modules embed, attend and pool, for its own and for timm's ViTs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from open_clip.model import _build_vision_tower
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import linear

from cuescope_open_clip import of_timm
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
    fault_of,
    quiet,
    split_heads,
    to_array,
)

# what makes weights no softmax of products, or heads no means of values, and its module
SCALED = {"scaled_cosine_attn": "logit_scale", "scale_heads": "head_scale"}
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
        # CoCa's contrastive query has an axis
        return torch.as_tensor(features).flatten(1)

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
        return _why_closed(model.network.visual)
    vision = model.configuration.get("vision_cfg", {})
    if vision.get("timm_model_name") is None:
        # stages of a ResNet
        if isinstance(vision.get("layers"), list):
            return CONVOLUTIONS
        return _why_scaled([key for key in SCALED if vision.get(key)])
    # nothing is fetched to look at modules
    vision = {**vision, "timm_model_pretrained": False}
    with torch.device("meta"), quiet():
        try:
            return of_timm.why_closed(_build_vision_tower(model.dim, vision).trunk)
        # a stranger's configuration fails in any way it likes
        except Exception as error:
            return f"its image tower cannot be built ({fault_of(error)})"


def _why_closed(visual: Any) -> str | None:
    trunk = getattr(visual, "trunk", None)
    if trunk is not None:
        return of_timm.why_closed(trunk)
    if not hasattr(visual, "transformer"):
        return CONVOLUTIONS
    attention = visual.transformer.resblocks[0].attn
    return _why_scaled(
        [
            key
            for key, part in SCALED.items()
            if getattr(attention, part, None) is not None
        ]
    )


def _why_scaled(keys: Sequence[str]) -> str | None:
    return f"its blocks attend with {' and '.join(keys)}" if keys else None


def _canvas(model: StockModel | HeldModel, image: Image.Image) -> np.ndarray:
    """The preprocessed image with its normalisation undone: the very pixels, uint8."""
    mean, std = model.normalisation
    pixels = model.preprocess(image) * std.view(3, 1, 1) + mean.view(3, 1, 1)
    # rounded first: byte() would make 254 of 254.9999
    levels = (pixels * 255).round().clamp(0, 255).byte()
    return to_array(levels.permute(1, 2, 0))


def _anatomy(visual: Any) -> tuple[tuple[Block, ...], Pooling, int, tuple[int, int]]:
    """Blocks, pooling, number of prefix tokens, and grid."""
    if _why_closed(visual) is not None:
        return (), Pooling("token"), 0, (0, 0)
    if hasattr(visual, "transformer"):
        stock = tuple(map(stock_block, visual.transformer.resblocks))
        return stock, _stock_pooling(visual), 1, tuple(visual.grid_size)
    trunk: Any = visual.trunk
    blocks = tuple(
        of_timm.block_of(trunk, number) for number in range(len(trunk.blocks))
    )
    grid = trunk.patch_embed.grid_size
    return blocks, of_timm.pooling_of(trunk), trunk.num_prefix_tokens, grid


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
        # open_clip's custom attention, with or without norms
        if hasattr(attention, "ln_q"):
            queries = attention.ln_q(queries)
            keys = attention.ln_k(keys)
        return queries * queries.shape[-1] ** -0.5, keys, values

    # CustomResidualAttentionBlock.forward(x, attn_mask), ResidualAttentionBlock(q, k, v, attn_mask)
    position = 1 if hasattr(block, "ln_attn") else 3
    masked = Masked(block, "attn_mask", position, form)
    norm = getattr(attention, "ln_inner", None)
    inner = None if isinstance(norm, nn.Identity) else norm
    return Block(masked, attention, project, lambda: attention.out_proj.weight, inner)


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
