"""The attention of stock models, switched to one that edits can reach."""

import inspect
import re
from collections.abc import Set
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
from cuescope_transformers.generative.modules import blocks

NAME = "cuescope"
MERGED = "merged"
# parts of the names of modules or classes: the library marks cross-attention in no other way
CROSS = ("cross", "encoder_attn", "encdec")

CACHES = frozenset(("past_key_values", "past_key_value", "cache_params", "layer_past"))
KEYWORDS = re.compile(r"(\w+)=([\w.]+)")
# what attention is given beside queries, keys and values, and `fused_attention` heeds
PLAIN = frozenset(
    (
        "attention_mask",
        "cu_seq_lens_k",
        "cu_seq_lens_q",
        "dropout",
        "is_causal",
        "max_length_k",
        "max_length_q",
        "position_bias",
        "position_ids",
        "scaling",
        "sliding_window",
    )
)
NAMED = 4  # layers that a refusal names

# weak: what is known of a model goes with it
_positions: "WeakKeyDictionary[nn.Module, tuple[int, bool]]" = WeakKeyDictionary()


def stock_fusion(model: Any) -> int:
    """Switch the fusion layers of a transformers model to `fused_attention`; how many there are.

    Those are the attention modules outside its vision, audio and resampling towers, encoder before
    decoder; the self- and cross-attention of one block share its number. Raises UserError for a
    model of which an edit would reach a part only.
    """
    reason = why_closed(model)
    if reason is not None:
        raise UserError(f"{type(model).__name__}: {reason}")
    # again is harmless: the name is written over by the same
    AttentionInterface.register(NAME, _stock_attention)
    # under a name that has no masks the library would make none
    AttentionMaskInterface.register(NAME, sdpa_mask)
    blocks: dict[str, int] = {}
    for name, module in _fusion_attention(model):
        layer = blocks.setdefault(_block_of(name), len(blocks))
        _positions[module] = (layer, _is_cross(name, module))
        # the model around the layers, which makes the masks, shares their configuration
        module.config._attn_implementation = NAME
    return len(blocks)


def crosses(model: Any) -> bool:
    """Whether a layer attends to another sequence."""
    return any(_is_cross(name, module) for name, module in _fusion_attention(model))


def _is_cross(name: str, module: nn.Module) -> bool:
    words = f"{name} {type(module).__name__}".lower()
    return any(word in words for word in CROSS)


def why_closed(model: Any) -> str | None:
    """Why an edit of attention would not reach all that mixes tokens, by the modules; or None."""
    modules = _fusion_attention(model)
    if not modules:
        return "no attention of it goes through the attention interface of transformers"
    for name, module in modules:
        if reason := _not_ours(module):
            return f"{type(module).__name__} ({_block_of(name)}) {reason}"
    mixers = _other_mixers(model, {name for name, _ in modules})
    if mixers:
        kinds = ", ".join(sorted({type(module).__name__ for _, module in mixers}))
        layers = sorted({_number_of(name) for name, _ in mixers})
        numbers = ", ".join(map(str, layers[:NAMED]))
        more = f" and {len(layers) - NAMED} more" if len(layers) > NAMED else ""
        return f"{kinds} mixes tokens beside attention in layer {numbers}{more}"
    return None


def _not_ours(module: Any) -> str | None:
    """Why `fused_attention` could not stand in for a module's own, after its class's name."""
    if MERGED in type(module).__name__.lower():
        return "takes two sequences of keys for one"
    call = inspect.getsource(type(module).forward).partition("attention_interface(")[2]
    for keyword, value in KEYWORDS.findall(call.partition("**")[0]):
        own = value.removeprefix("self.")
        # a cap or a sink that a configuration leaves out is handed over as None
        if keyword not in PLAIN and (
            own == value or getattr(module, own, None) is not None
        ):
            return f"attends with {keyword}, which averaging does not know"
    return None


def _other_mixers(model: Any, attention: Set[str]) -> list[tuple[str, Any]]:
    """The modules of the decoder that mix tokens, and are no attention that is known.

    Gated delta, state spaces, short convolutions and indexers that choose the keys keep something
    of earlier tokens; a stranger's convolution, recurrence or attention tells by its class.
    """
    decoder = model.get_decoder()
    mixers = []
    for name, module in model.named_modules():
        below = f"{name}."
        around = any(other.startswith(below) for other in attention)
        if name in attention or around or not _keeps(module):
            continue
        mixers.append((name, module))
    inside = set(decoder.modules())
    # a block hands the cache on to what it holds, and keeps nothing itself
    for part in decoder.modules():
        if isinstance(part, nn.ModuleList):
            inside -= set(part)
    innermost = []
    for name, module in mixers:
        # a block is named by what it holds
        holds = any(other.startswith(f"{name}.") for other, _ in mixers)
        if module in inside and not holds:
            innermost.append((name, module))
    named = tuple(f"{name}." for name, _ in innermost)
    layers = set(blocks(decoder).modules())
    for name, module in model.named_modules():
        # what is within a mixer goes by the mixer's name
        if module in layers and _spans(module) and not name.startswith(named):
            innermost.append((name, module))
    return innermost


def _spans(module: nn.Module) -> bool:
    """Whether a module of torch's own reads several positions at once."""
    convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    if isinstance(module, convolutions):
        return max(module.kernel_size) > 1
    return isinstance(module, (nn.RNNBase, nn.MultiheadAttention))


def _keeps(module: nn.Module) -> bool:
    return bool(CACHES & inspect.signature(module.forward).parameters.keys())


def _fusion_attention(model: Any) -> list[tuple[str, Any]]:
    """The attention modules, by name, that are outside the towers."""
    towers = []
    # the modules of a tower carry its configuration, whatever the family calls them
    for name, config in vars(model.config).items():
        tower = name.endswith("_config") and config is not None
        if tower and not name.startswith(("text", "decoder", "encoder")):
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


def _number_of(name: str) -> int:
    """The first number in it: that of the block."""
    numbers = (int(part) for part in name.split(".") if part.isdigit())
    return next(numbers, 0)


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
