"""timm's ViTs in open_clip: what is reached in them, and why others stay closed.

A trunk is opened by what its modules say of themselves, not by its name: a ViT, EVA or PE of the
next release needs no line here, and what is built in another way is refused before it is asked.
"""

import inspect
from typing import Any

import torch
from timm.layers.pos_embed_sincos import apply_rot_embed_cat
from torch import Tensor, nn

from cuescope_sdk.torch import Block, Masked, Pooling, additive, split_heads

# of which queries, keys and values are known here
ATTENTION = ("Attention", "AttentionRope", "EvaAttention")
POOLS = ("token", "avg", "map")


def why_closed(trunk: Any) -> str | None:
    """Why the tokens of a trunk cannot be reached, or None; it may lie on the meta device."""
    reason = _why_no_vit(trunk) or _why_not_pooled(trunk)
    if reason is None:
        faults = filter(None, map(_why_block_closed, trunk.blocks))
        reason = next(faults, None)
    if reason is None:
        return None
    return f"its image tower, timm's {type(trunk).__name__}, {reason}; take a plain ViT"


def _why_no_vit(trunk: Any) -> str | None:
    embed = getattr(trunk, "patch_embed", None)
    blocks = getattr(trunk, "blocks", None)
    if embed is None or not isinstance(blocks, nn.Module):
        return "is no row of blocks over patches"
    proj = getattr(embed, "proj", None)
    if not isinstance(proj, nn.Conv2d) or proj.kernel_size != proj.stride:
        return "cuts no patches that stand apart"
    grid = getattr(embed, "grid_size", None)
    told = hasattr(trunk, "num_prefix_tokens") and hasattr(trunk, "norm")
    if grid is None or not told:
        return "does not tell where its patches stand"
    return None


def _why_not_pooled(trunk: Any) -> str | None:
    if hasattr(trunk, "head_dist"):
        return "reads a token of distillation beside the class token"
    pool = getattr(trunk, "attn_pool", None)
    kind = getattr(trunk, "global_pool", None)
    whole = getattr(trunk, "pool_include_prefix", False)
    pooled = hasattr(pool, "kv") if pool is not None else kind in POOLS
    if not pooled or (pool is None and kind == "avg" and whole):
        return f"pools its tokens by '{kind}'"
    return None


def _why_block_closed(block: Any) -> str | None:
    """A block needs a mask, and heads of which each weight can be made again."""
    attention = getattr(block, "attn", None)
    kind = type(attention).__name__
    if kind not in ATTENTION:
        other = "no attention of its own" if attention is None else kind
        return f"attends by {other}"
    if "attn_mask" not in inspect.signature(block.forward).parameters:
        return f"takes no mask in its {type(block).__name__}"
    if getattr(attention, "num_kv_groups", 1) > 1:
        return "shares keys among heads"
    if getattr(attention, "gate", None) is not None:
        return "gates what its heads answer"
    return None


def block_of(trunk: Any, number: int) -> Block:
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

    names = list(inspect.signature(block.forward).parameters)
    # of EVA the positions stand before the mask
    masked = Masked(block, "attn_mask", names.index("attn_mask"), form)
    norm = getattr(attention, "norm", None)
    inner = None if isinstance(norm, nn.Identity) else norm
    return Block(masked, attention, project, lambda: attention.proj.weight, inner)


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


def pooling_of(trunk: Any) -> Pooling:
    """How the trunk makes one row of its tokens."""
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
