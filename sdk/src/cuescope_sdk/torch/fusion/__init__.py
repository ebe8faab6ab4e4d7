"""QUAG's edits of attention, for models of one's own and for stock transformers models."""

from cuescope_sdk.torch.fusion.attention import fused_attention, fused_self_attention
from cuescope_sdk.torch.fusion.state import Fusion, by_edit, fusing, matrix_form, require_layers
from cuescope_sdk.torch.fusion.stock import stock_fusion

__all__ = [
    "Fusion",
    "by_edit",
    "fused_attention",
    "fused_self_attention",
    "fusing",
    "matrix_form",
    "require_layers",
    "stock_fusion",
]
