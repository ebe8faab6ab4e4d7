"""Tensors as numpy has them."""

import numpy as np
from torch import Tensor


def to_array(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor, on the CPU; float32 where they are no integers."""
    numbers = tensor.detach().cpu()
    if numbers.is_floating_point():
        numbers = numbers.float()
    return np.asarray(numbers.numpy())
