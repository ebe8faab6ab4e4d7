"""Sizes of the layers in which a stock model mixes video and text."""

from typing import Any

from torch import nn

from cuescope_sdk.fusion import FusionShape


def fusion_shape(model: Any, layers: int) -> FusionShape:
    """From the configuration of the language side and the modules of one of its blocks."""
    config = model.config.get_text_config()
    heads, dim = config.num_attention_heads, config.hidden_size
    return FusionShape(
        layers=layers,
        heads=heads,
        kv_heads=getattr(config, "num_key_value_heads", None) or heads,
        head_dim=getattr(config, "head_dim", None) or dim // heads,
        dim=dim,
        mlp_multiplications=_mlp_multiplications(blocks(model.get_decoder())[0]),
    )


def blocks(side: Any) -> Any:
    """The blocks of an encoder or decoder, in order."""
    return next(part for part in side.modules() if isinstance(part, nn.ModuleList))


def _mlp_multiplications(block: Any) -> int:
    """Weights of the linear maps beside attention."""
    return sum(
        module.weight.numel()
        for name, module in block.named_modules()
        if isinstance(module, nn.Linear) and "attn" not in name and "attention" not in name
    )
