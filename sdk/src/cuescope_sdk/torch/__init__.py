"""What model plugins share on torch: image towers, edits of attention, weights, devices."""

from cuescope_sdk.torch._devices import resolve_device, resolve_dtype
from cuescope_sdk.torch._fingerprints import files_digest, tensor_bytes
from cuescope_sdk.torch._fusion.attention import fused_attention, fused_self_attention
from cuescope_sdk.torch._fusion.state import (
    Fusion,
    Watch,
    group_by_edit,
    matrix_form,
    require_layers,
    use_fusion,
)
from cuescope_sdk.torch._fusion.stock import stock_fusion
from cuescope_sdk.torch._hiding import encode_visible
from cuescope_sdk.torch._hub_folders import Source, find_source, weight_files
from cuescope_sdk.torch._image_tower import (
    Block,
    HasImageTower,
    ImageTower,
    Inputs,
    Masked,
    Pooling,
    additive,
    split_heads,
)
from cuescope_sdk.torch._pretrained import Pretrained, find_pretrained
from cuescope_sdk.torch._pretrained_files import (
    config_content,
    load_part,
    require_tensors,
    require_vocabulary,
    tokenizer_content,
)
from cuescope_sdk.torch._quiet import quiet
from cuescope_sdk.torch._tokens import hook_input, hook_output, without_mask

__all__ = [
    "resolve_device",
    "resolve_dtype",
    "files_digest",
    "tensor_bytes",
    "fused_attention",
    "fused_self_attention",
    "Fusion",
    "Watch",
    "group_by_edit",
    "matrix_form",
    "require_layers",
    "use_fusion",
    "stock_fusion",
    "encode_visible",
    "Source",
    "find_source",
    "weight_files",
    "Block",
    "HasImageTower",
    "ImageTower",
    "Inputs",
    "Masked",
    "Pooling",
    "additive",
    "split_heads",
    "Pretrained",
    "find_pretrained",
    "config_content",
    "load_part",
    "require_tensors",
    "require_vocabulary",
    "tokenizer_content",
    "quiet",
    "hook_input",
    "hook_output",
    "without_mask",
]
