"""The bytes that a fingerprint is taken of."""

import numpy as np
import pytest
import torch

from cuescope_sdk.torch._devices import tensor_bytes


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_tensor_bytes_tell_values_of_any_dtype_and_rank_apart(dtype: torch.dtype) -> None:
    scalar = torch.tensor(3, dtype=dtype)
    assert tensor_bytes(scalar).size == scalar.element_size()
    assert not np.array_equal(tensor_bytes(scalar), tensor_bytes(scalar + 1))
    transposed = torch.arange(6, dtype=dtype).reshape(2, 3).T
    assert np.array_equal(tensor_bytes(transposed), tensor_bytes(transposed.contiguous()))
