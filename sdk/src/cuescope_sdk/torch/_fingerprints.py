"""What a fingerprint is taken of: the bytes of weights."""

from collections.abc import Iterable
from hashlib import file_digest
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cuescope.digest import digest


def tensor_bytes(tensor: Tensor) -> np.ndarray:
    """The bytes of a tensor of any dtype, as uint8."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return np.asarray(flat.view(torch.uint8).numpy())


def files_digest(files: Iterable[Path]) -> str:
    """Digest of the bytes of files, in order, read a piece at a time."""
    found = []
    for file in files:
        with file.open("rb") as opened:
            found.append(file_digest(opened, "sha256").hexdigest())  # 2 GB a second
    return digest(found)
