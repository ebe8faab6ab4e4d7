"""What model plugins share on torch: image towers, edits of attention, weights, devices."""

from cuescope_sdk.torch._ahead import LoadedAhead
from cuescope_sdk.torch._arrays import to_array
from cuescope_sdk.torch._checkpoint import Checkpoint, read_state, state_of
from cuescope_sdk.torch._devices import (
    files_digest,
    quiet,
    resolve_device,
    resolve_dtype,
)
from cuescope_sdk.torch._fusion.attention import (
    fused_attention,
    fused_self_attention,
    stock_fusion,
)
from cuescope_sdk.torch._fusion.state import (
    Fusion,
    Watch,
    group_by_edit,
    matrix_form,
    require_layers,
    use_fusion,
)
from cuescope_sdk.torch._held import HELD, network_digest, placed, require_evaluation
from cuescope_sdk.torch._hiding import encode_visible
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
    without_mask,
)
from cuescope_sdk.torch._language_models import causal_builder
from cuescope_sdk.torch._pretrained import (
    Pretrained,
    Source,
    config_content,
    find_pretrained,
    find_source,
    require_vocabulary,
    tokenizer_content,
    weight_files,
)
from cuescope_sdk.torch._strangers import (
    OWN_CODE,
    ask_nobody,
    fault_of,
    named_values,
    read_weights,
    refuse_kernels,
    require_stored_tensors,
    unreadable_weights,
)

__all__ = [
    "Block",
    "Checkpoint",
    "Fusion",
    "HELD",
    "ImageTower",
    "Inputs",
    "LoadedAhead",
    "Masked",
    "OWN_CODE",
    "Pooling",
    "Pretrained",
    "Source",
    "Watch",
    "additive",
    "ask_nobody",
    "causal_builder",
    "config_content",
    "encode_visible",
    "fault_of",
    "files_digest",
    "find_pretrained",
    "find_source",
    "fused_attention",
    "fused_self_attention",
    "group_by_edit",
    "hook_input",
    "hook_output",
    "matrix_form",
    "named_values",
    "network_digest",
    "placed",
    "quiet",
    "read_state",
    "read_weights",
    "refuse_kernels",
    "require_evaluation",
    "require_layers",
    "require_stored_tensors",
    "require_vocabulary",
    "resolve_device",
    "resolve_dtype",
    "split_heads",
    "state_of",
    "stock_fusion",
    "to_array",
    "tokenizer_content",
    "unreadable_weights",
    "use_fusion",
    "weight_files",
    "without_mask",
]
