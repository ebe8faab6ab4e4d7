"""Which tokens of a prompt are video, which text, and which neither."""

from collections.abc import Set
from typing import Any

import torch
from jaxtyping import Bool, Int, Int8
from torch import Tensor

from cuescope_sdk.fusion import OTHER, TEXT, VIDEO

NAMES = ("image_token_id", "image_token_index", "video_token_id", "video_token_index")


def placeholders(config: Any, processor: Any) -> frozenset[int]:
    """Ids of the tokens whose place visual tokens take: as the configuration says, or else the
    processor, whose image token may be the one before them."""
    for owner in (config, processor):
        found = {getattr(owner, name, None) for name in NAMES}
        if told := frozenset(token for token in found if isinstance(token, int)):
            return told
    return frozenset()


def cross_layers(config: Any) -> frozenset[int]:
    """The layers whose keys are the visual tokens (Mllama), beside a sequence of text alone."""
    return frozenset(getattr(config.get_text_config(), "cross_attention_layers", None) or ())


def modalities(
    tokens: Int[Tensor, "row token"],
    mask: Int[Tensor, "row token"],
    visual: Set[int],
    special: Set[int],
    causal: bool = True,
) -> Int8[Tensor, "row token"]:
    """VIDEO for placeholders, TEXT for all others: a separator reads what is around it.

    Padding, where `mask` is 0, is OTHER; so are special tokens that open the sequence (BOS) of a
    `causal` model, for they see neither.
    """
    found = torch.full_like(tokens, TEXT, dtype=torch.int8)
    found[among(tokens, visual)] = VIDEO
    found[mask == 0] = OTHER
    if causal:
        opening = (mask == 0) | among(tokens, special - visual)
        found[opening.cumprod(dim=1).bool()] = OTHER
    return found


def crossed(
    cross_mask: Int[Tensor, "row token image tile"], patches: int
) -> Int8[Tensor, "row key"]:
    """The keys of Mllama's cross-attention: `patches` a tile, OTHER in tiles that nobody sees."""
    seen = cross_mask.any(dim=1).flatten(1).repeat_interleave(patches, dim=1)
    return torch.where(seen, VIDEO, OTHER).to(torch.int8)


def among(tokens: Int[Tensor, "*shape"], ids: Set[int]) -> Bool[Tensor, "*shape"]:
    """Which tokens are one of the ids."""
    return torch.isin(tokens, torch.tensor(sorted(ids), device=tokens.device, dtype=tokens.dtype))
