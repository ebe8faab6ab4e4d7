"""What model plugins share on torch: image towers, edits of attention, weights, devices."""

from cuescope_sdk.torch._ahead import LoadedAhead as LoadedAhead
from cuescope_sdk.torch._devices import (
    files_digest as files_digest,
    quiet as quiet,
    resolve_device as resolve_device,
    resolve_dtype as resolve_dtype,
)
from cuescope_sdk.torch._filling import load_state_strictly as load_state_strictly
from cuescope_sdk.torch._fusion.attention import (
    fused_attention as fused_attention,
    fused_self_attention as fused_self_attention,
    stock_fusion as stock_fusion,
)
from cuescope_sdk.torch._fusion.state import (
    Fusion as Fusion,
    Watch as Watch,
    group_by_edit as group_by_edit,
    matrix_form as matrix_form,
    require_layers as require_layers,
    use_fusion as use_fusion,
)
from cuescope_sdk.torch._held import (
    HELD as HELD,
    HeldPretrained as HeldPretrained,
    hold_pretrained as hold_pretrained,
    network_digest as network_digest,
    normalisation as normalisation,
    placed as placed,
    preprocess_digest as preprocess_digest,
    require_evaluation as require_evaluation,
)
from cuescope_sdk.torch._hiding import encode_visible as encode_visible
from cuescope_sdk.torch._image_tower import (
    Block as Block,
    HasImageTower as HasImageTower,
    ImageTower as ImageTower,
    Inputs as Inputs,
    Masked as Masked,
    Pooling as Pooling,
    additive as additive,
    hook_input as hook_input,
    hook_output as hook_output,
    split_heads as split_heads,
    without_mask as without_mask,
)
from cuescope_sdk.torch._pretrained import (
    Pretrained as Pretrained,
    Source as Source,
    config_content as config_content,
    find_pretrained as find_pretrained,
    find_source as find_source,
    require_vocabulary as require_vocabulary,
    tokenizer_content as tokenizer_content,
    weight_files as weight_files,
)
from cuescope_sdk.torch._strangers import (
    OWN_CODE as OWN_CODE,
    ask_nobody as ask_nobody,
    fault_of as fault_of,
    named_values as named_values,
    read_weights as read_weights,
    refuse_kernels as refuse_kernels,
    require_stored_tensors as require_stored_tensors,
    unreadable_weights as unreadable_weights,
)
