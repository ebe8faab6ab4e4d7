"""Stock transformers models: their fusion layers, through the library's attention interface.

`ALL_ATTENTION_FUNCTIONS` and `ALL_MASK_ATTENTION_FUNCTIONS` are the library's own registers of what
a model's attention modules call; no file or method of a model is touched.
"""

import inspect
from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from cuescope.errors import UserError
from cuescope_sdk.torch._fusion.attention import fused_attention
from cuescope_sdk.torch._fusion.state import active_fusion

NAME = "cuescope"
MERGED = "merged"
CROSS = ("cross", "encoder_attn", "encdec")

_places: "WeakKeyDictionary[nn.Module, tuple[int, bool]]" = WeakKeyDictionary()


def stock_fusion(model: Any) -> int:
    """Switch the fusion layers of a transformers model to `fused_attention`; how many there are.

    Those are the attention modules outside its vision, audio and resampling towers, encoder before
    decoder; the self- and cross-attention of one block share its number. Raises UserError for a
    model whose attention does not go through the library's interface.
    """
    _register()
    modules = _fusion_attention(model)
    title = type(model).__name__
    if not modules:
        raise UserError(
            f"{title}: no attention that can be edited",
            expected="a model that calls the attention interface of transformers",
        )
    if merged := [type(m).__name__ for _, m in modules if MERGED in type(m).__name__.lower()]:
        raise UserError(
            f"{title}: {merged[0]} takes two sequences of keys for one",
            expected="self- and cross-attention apart",
        )
    blocks: dict[str, int] = {}
    for name, module in modules:
        layer = blocks.setdefault(_block_of(name), len(blocks))
        cross = any(word in f"{name} {type(module).__name__}".lower() for word in CROSS)
        _places[module] = (layer, cross)
        module.config._attn_implementation = NAME
    for part in model.modules():  # masks are made by the model around the layers
        config = getattr(part, "config", None)
        if config is not None and any(config is module.config for _, module in modules):
            config._attn_implementation = NAME
    return len(blocks)


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, _stock_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)


def _fusion_attention(model: Any) -> list[tuple[str, Any]]:
    """The attention modules, by name, that are outside the towers."""
    towers = [
        type(config)
        for name, config in vars(model.config).items()
        if name.endswith("_config") and not name.startswith(("text", "decoder", "encoder"))
    ]
    outside: list[str] = []
    found = []
    for name, module in model.named_modules():
        if any(name.startswith(f"{tower}.") for tower in outside):
            continue
        config = getattr(module, "config", None)
        if type(config) in towers:
            outside.append(name)
        elif config is not None and _calls_interface(type(module)):
            found.append((name, module))
    return found


def _calls_interface(cls: type) -> bool:
    forward = getattr(cls, "forward", None)
    try:
        return "ALL_ATTENTION_FUNCTIONS" in inspect.getsource(forward) if forward else False
    except (OSError, TypeError):
        return False


def _block_of(name: str) -> str:
    """The name up to its last number: the block that a module is in."""
    parts = name.split(".")
    last = max((place for place, part in enumerate(parts) if part.isdigit()), default=-1)
    return ".".join(parts[: last + 1])


def _stock_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """What the library's attention modules call under our name."""
    from transformers.integrations.sdpa_attention import (
        create_position_bias_mask,
        sdpa_attention_forward,
    )

    place = _places.get(module)
    if active_fusion() is None or place is None:
        return sdpa_attention_forward(
            module,
            query,
            key,
            value,
            attention_mask,
            dropout=dropout,
            scaling=scaling,
            is_causal=is_causal,
            position_bias=position_bias,
            **kwargs,
        )
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = bool(causal) and query.shape[2] > 1 and attention_mask is None
    if position_bias is not None:
        attention_mask = create_position_bias_mask(
            position_bias, attention_mask, causal, query, key
        )
    layer, cross = place
    mixed = fused_attention(
        query,
        key,
        value,
        layer=layer,
        mask=attention_mask,
        causal=causal,
        scaling=scaling,
        cross=cross,
    )
    return mixed.transpose(1, 2).contiguous(), None
