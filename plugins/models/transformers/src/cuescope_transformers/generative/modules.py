"""What the modules of a network say of it: arguments, blocks, the side that reads words, sizes."""

import inspect
from typing import Any

from torch import nn

from cuescope_sdk import UserError
from cuescope_sdk.fusion import FusionShape


def arguments(function: Any) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def blocks(side: Any) -> Any:
    # the first list of modules is that of the layers
    return next(part for part in side.modules() if isinstance(part, nn.ModuleList))


def language_side(network: Any) -> Any:
    """The module that reads words and frames together."""
    # where there is an encoder, it is the side that frames enter
    if network.config.is_encoder_decoder:
        return network.get_encoder()
    return network.get_decoder()


def fusion_shape(network: Any, layers: int) -> FusionShape:
    """From the configuration of the language side and the modules of one of its blocks.

    Raises UserError for a model of another make.
    """
    try:
        return _fusion_shape(network, layers)
    except (AttributeError, StopIteration) as reason:
        raise UserError(
            f"the sizes of its layers cannot be read ({reason})"
        ) from reason


def _fusion_shape(network: Any, layers: int) -> FusionShape:
    config = network.config.get_text_config()
    # a configuration may have one for each layer, and refuse to speak for all
    first, *_ = getattr(config, "per_layer_config", None) or [config]
    heads = first.num_attention_heads
    dim = first.hidden_size
    weights = 0  # of the linear maps beside attention
    for name, module in blocks(network.get_decoder())[0].named_modules():
        if (
            isinstance(module, nn.Linear)
            and "attn" not in name
            and "attention" not in name
        ):
            weights += module.weight.numel()
    return FusionShape(
        layers=layers,
        heads=heads,
        # without grouped queries each head has keys of its own
        kv_heads=getattr(first, "num_key_value_heads", None) or heads,
        # some models' heads are wider than their share
        head_dim=getattr(first, "head_dim", None) or dim // heads,
        dim=dim,
        mlp_multiplications=weights,
    )
