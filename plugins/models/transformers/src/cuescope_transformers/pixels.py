"""Pixels as a network sees them, taken back from what its image processor made of them."""

from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from torch import Tensor, tensor


def as_image(
    values: Float[Tensor, "height width 3"], processor: Any
) -> UInt8[np.ndarray, "height width 3"]:
    """The values before they were rescaled and normalised."""
    if processor.do_normalize:
        values = values * tensor(processor.image_std) + tensor(processor.image_mean)
    if processor.do_rescale:
        values = values / processor.rescale_factor
    return np.asarray(values.round().clamp(0, 255).byte().numpy())
