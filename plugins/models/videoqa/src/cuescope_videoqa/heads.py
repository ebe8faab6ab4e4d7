"""States cut into attention heads, and put together again."""

from jaxtyping import Float
from torch import Tensor


def split(
    states: Float[Tensor, "batch token inner"], heads: int
) -> Float[Tensor, "batch head token dim"]:
    """The width cut into heads."""
    return states.reshape(*states.shape[:-1], heads, -1).transpose(1, 2)


def merge(states: Float[Tensor, "batch head token dim"]) -> Float[Tensor, "batch token inner"]:
    """The heads side by side."""
    return states.transpose(1, 2).flatten(2)
