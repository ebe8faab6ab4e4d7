"""The attention of stock models, switched to one that edits can reach."""

import inspect
from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import (
    create_position_bias_mask,
    sdpa_attention_forward,
)
from transformers.masking_utils import sdpa_mask

from cuescope_sdk import UserError
from cuescope_sdk.torch import Fusion, fused_attention

NAME = "cuescope"
MERGED = "merged"
# parts of the names of modules or classes: the library marks cross-attention in no other way
CROSS = ("cross", "encoder_attn", "encdec")

# weak: what is known of a model goes with it
_positions: "WeakKeyDictionary[nn.Module, tuple[int, bool]]" = WeakKeyDictionary()


def stock_fusion(model: Any) -> int:
    """Switch the fusion layers of a transformers model to `fused_attention`; how many there are.

    Those are the attention modules outside its vision, audio and resampling towers, encoder before
    decoder; the self- and cross-attention of one block share its number. Raises UserError for a
    model whose attention does not go through the library's interface.
    """
    # again is harmless: the name is written over by the same
    AttentionInterface.register(NAME, _stock_attention)
    # under a name that has no masks the library would make none
    AttentionMaskInterface.register(NAME, sdpa_mask)
    modules = _fusion_attention(model)
    title = type(model).__name__
    if not modules:
        raise UserError(
            f"{title}: no attention that can be edited",
            expected="a model that calls the attention interface of transformers",
        )
    for _, module in modules:
        kind = type(module).__name__
        if MERGED in kind.lower():
            raise UserError(
                f"{title}: {kind} takes two sequences of keys for one",
                expected="self- and cross-attention apart",
            )
    blocks: dict[str, int] = {}
    for name, module in modules:
        layer = blocks.setdefault(_block_of(name), len(blocks))
        words = f"{name} {type(module).__name__}".lower()
        cross = any(word in words for word in CROSS)
        _positions[module] = (layer, cross)
        # the model around the layers, which makes the masks, shares their configuration
        module.config._attn_implementation = NAME
    return len(blocks)


def _fusion_attention(model: Any) -> list[tuple[str, Any]]:
    """The attention modules, by name, that are outside the towers."""
    towers = []
    # the modules of a tower carry its configuration, whatever the family calls them
    for name, config in vars(model.config).items():
        if name.endswith("_config") and not name.startswith(
            ("text", "decoder", "encoder")
        ):
            towers.append(type(config))
    below_towers: tuple[str, ...] = ()
    attention = []
    for name, module in model.named_modules():
        if name.startswith(below_towers):
            continue
        config = getattr(module, "config", None)
        if type(config) in towers:
            below_towers += (f"{name}.",)
        elif config is not None and _calls_interface(type(module)):
            attention.append((name, module))
    return attention


def _calls_interface(cls: type) -> bool:
    forward: Any = getattr(cls, "forward", None)
    try:
        return "ALL_ATTENTION_FUNCTIONS" in inspect.getsource(forward)
    # TypeError: it has no forward, or one that is not written in Python
    except (OSError, TypeError):
        return False


def _block_of(name: str) -> str:
    """The name up to its last number: the block that a module is in."""
    parts = name.split(".")
    last = max(
        (index for index, part in enumerate(parts) if part.isdigit()), default=-1
    )
    return ".".join(parts[: last + 1])


def _stock_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """What the library's attention modules call under our name."""
    position = _positions.get(module)
    if Fusion.active() is None or position is None:
        return sdpa_attention_forward(
            module,
            query,
            key,
            value,
            attention_mask,
            **kwargs,
        )
    causal = kwargs.get("is_causal")
    if causal is None:
        causal = getattr(module, "is_causal", True)
    # as the library's own sdpa does
    causal = bool(causal) and query.shape[2] > 1 and attention_mask is None
    bias = kwargs.get("position_bias")
    if bias is not None:
        attention_mask = create_position_bias_mask(
            bias, attention_mask, causal, query, key
        )
    layer, cross = position
    mixed = fused_attention(
        query,
        key,
        value,
        layer=layer,
        mask=attention_mask,
        causal=causal,
        scaling=kwargs.get("scaling"),
        cross=cross,
    )
    # laid out as by the library's own function, whose place it takes
    return mixed.transpose(1, 2).contiguous(), None
