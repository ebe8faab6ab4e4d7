"""What model plugins share on torch: image towers, edits of attention, weights, devices."""

# torch costs seconds: no module that an entry point names may import this door (docs/adr/0002)
from cuescope_sdk.torch._ahead import LoadedAhead
from cuescope_sdk.torch._arrays import to_array
from cuescope_sdk.torch._checkpoint import Checkpoint
from cuescope_sdk.torch._devices import (
    files_digest,
    quiet,
    resolve_device,
    resolve_dtype,
)
from cuescope_sdk.torch._fusion.attention import fused_attention, fused_self_attention
from cuescope_sdk.torch._fusion.state import Fusion
from cuescope_sdk.torch._held import network_digest, place_of
from cuescope_sdk.torch._image_tower import (
    Block,
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    additive,
    hook_input,
    hook_output,
    split_heads,
)
from cuescope_sdk.torch._pretrained import (
    Pretrained,
    Source,
    causal_builder,
    require_beside,
    shard_files,
    tokenizer_content,
)
from cuescope_sdk.torch._strangers import (
    fault_of,
    named_values,
    refuse_larger_networks,
    require_plain_config,
)
from cuescope_sdk.torch._templates import render_chat

__all__ = [
    "Block",
    "Checkpoint",
    "Fusion",
    "ImageTower",
    "Inputs",
    "LoadedAhead",
    "Masked",
    "Pooling",
    "Pretrained",
    "Source",
    "additive",
    "causal_builder",
    "fault_of",
    "files_digest",
    "fused_attention",
    "fused_self_attention",
    "hook_input",
    "hook_output",
    "named_values",
    "network_digest",
    "place_of",
    "quiet",
    "refuse_larger_networks",
    "render_chat",
    "require_beside",
    "require_plain_config",
    "resolve_device",
    "resolve_dtype",
    "shard_files",
    "split_heads",
    "to_array",
    "tokenizer_content",
]
