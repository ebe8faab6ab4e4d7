"""What a fingerprint is taken of: the bytes of weights."""

import numpy as np
import torch
from torch import Tensor


def tensor_bytes(tensor: Tensor) -> np.ndarray:
    """The bytes of a tensor of any dtype, as uint8."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return np.asarray(flat.view(torch.uint8).numpy())
