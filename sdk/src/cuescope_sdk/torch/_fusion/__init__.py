"""QUAG's edits of attention, for models of one's own and for stock transformers models."""

from cuescope_sdk.torch._fusion.attention import fused_attention, fused_self_attention, stock_fusion
from cuescope_sdk.torch._fusion.state import (
    Fusion,
    group_by_edit,
    matrix_form,
    require_layers,
    use_fusion,
)

__all__ = [
    "Fusion",
    "group_by_edit",
    "fused_attention",
    "fused_self_attention",
    "use_fusion",
    "matrix_form",
    "require_layers",
    "stock_fusion",
]
