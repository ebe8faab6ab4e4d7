"""Shared parts of models on torch: image towers, edits of attention, weights, devices."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.torch._ahead import LoadedAhead as LoadedAhead
    from cuescope_sdk.torch._arrays import to_array as to_array
    from cuescope_sdk.torch._checkpoint import Checkpoint as Checkpoint
    from cuescope_sdk.torch._devices import (
        files_digest as files_digest,
        quiet as quiet,
        resolve_device as resolve_device,
        resolve_dtype as resolve_dtype,
    )
    from cuescope_sdk.torch._fusion.attention import (
        fused_attention as fused_attention,
        fused_self_attention as fused_self_attention,
    )
    from cuescope_sdk.torch._fusion.state import Fusion as Fusion
    from cuescope_sdk.torch._held import (
        network_digest as network_digest,
        place_of as place_of,
    )
    from cuescope_sdk.torch._image_tower import (
        Block as Block,
        ImageTower as ImageTower,
        Inputs as Inputs,
        Masked as Masked,
        Pooling as Pooling,
        additive as additive,
        hook_input as hook_input,
        hook_output as hook_output,
        split_heads as split_heads,
    )
    from cuescope_sdk.torch._pretrained import (
        Pretrained as Pretrained,
        Source as Source,
        causal_builder as causal_builder,
        require_beside as require_beside,
        shard_files as shard_files,
        tokenizer_content as tokenizer_content,
    )
    from cuescope_sdk.torch._strangers import (
        fault_of as fault_of,
        named_values as named_values,
        refuse_larger_networks as refuse_larger_networks,
        require_plain_config as require_plain_config,
    )
    from cuescope_sdk.torch._templates import render_chat as render_chat

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._ahead": ["LoadedAhead"],
        "._arrays": ["to_array"],
        "._checkpoint": ["Checkpoint"],
        "._devices": ["files_digest", "quiet", "resolve_device", "resolve_dtype"],
        "._fusion.attention": ["fused_attention", "fused_self_attention"],
        "._fusion.state": ["Fusion"],
        "._held": ["network_digest", "place_of"],
        "._image_tower": [
            "Block",
            "ImageTower",
            "Inputs",
            "Masked",
            "Pooling",
            "additive",
            "hook_input",
            "hook_output",
            "split_heads",
        ],
        "._pretrained": [
            "Pretrained",
            "Source",
            "causal_builder",
            "require_beside",
            "shard_files",
            "tokenizer_content",
        ],
        "._strangers": [
            "fault_of",
            "named_values",
            "refuse_larger_networks",
            "require_plain_config",
        ],
        "._templates": ["render_chat"],
    },
)
