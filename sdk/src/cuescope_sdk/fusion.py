"""The layers in which a model mixes video and text: their sizes, and the edits that act on them.

QUAG (Rawal et al., 2024), section 2. A model that lists "fusion" in `Capabilities.exposes` is a
`HasFusion`; a method looks at it through a `Readout` of its own.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int8

from cuescope_core.errors import UserError
from cuescope_core.types import Edit, Trial, Value

__all__ = [
    "AverageAttention",
    "AverageTokens",
    "FusionShape",
    "HasAttentionGradients",
    "HasFusion",
    "OTHER",
    "TEXT",
    "VIDEO",
]

# what comes before both modalities (a BOS token), and padding (docs/adr/0011)
OTHER = 0
VIDEO = 1
# template words too: a separator left out would read the frames for them (docs/adr/0011)
TEXT = 2
MODALITIES = {"video": VIDEO, "text": TEXT}
LETTERS = {"V": VIDEO, "T": TEXT}


class AverageAttention(Edit):
    """Row-wise average of attention quadrants (QUAG); `layers` None means every layer."""

    kind: ClassVar[str] = "average-attention"
    quadrants: frozenset[Literal["VV", "VT", "TV", "TT"]]
    layers: tuple[int, ...] | None = None

    @staticmethod
    def sides(quadrant: str) -> tuple[int, int]:
        """The modality of its queries, and that of its keys: "VT" is video looking at text."""
        return LETTERS[quadrant[0]], LETTERS[quadrant[1]]


class AverageTokens(Edit):
    """Keys and values of a modality averaged before projection (QUAG-attention).

    The logit of an average of n tokens has log(n) added (the paper's equation), or is multiplied
    by it (its listing). `layers` None means every layer.
    """

    kind: ClassVar[str] = "average-tokens"
    modalities: frozenset[Literal["video", "text"]]
    # only adding keeps the attention mass; the paper's equation adds, its listing multiplies
    size_term: Literal["add", "multiply"] = "add"
    layers: tuple[int, ...] | None = None


class FusionShape(Value):
    """Sizes of the fusion layers; `mlp_multiplications` are those of a token in a layer."""

    layers: int
    heads: int
    kv_heads: int  # fewer than heads in grouped-query attention
    head_dim: int
    dim: int
    mlp_multiplications: int

    def require_layers(self, owner: str, asked: Iterable[int]) -> None:
        """Raises UserError for a layer that the model, called `owner`, does not have."""
        for layer in asked:
            if not 0 <= layer < self.layers:
                raise UserError(
                    f"{owner} has no fusion layer {layer}",
                    expected=f"layers 0 to {self.layers - 1}",
                )


@runtime_checkable
class HasFusion(Protocol):
    """A model whose fusion layers can be looked at, "fusion" in `Capabilities.exposes`.

    Layers count from 0 at the input; padding is left out of both arrays.
    """

    fusion: FusionShape

    def modalities(
        self,
        trials: Sequence[Trial],
        layer: int,
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """OTHER, VIDEO or TEXT for each query of the layer, and then for each of its keys."""

    def attention(
        self,
        trials: Sequence[Trial],
        layer: int,
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Weights after the softmax, and after the trial's `AverageAttention`."""


@runtime_checkable
class HasAttentionGradients(HasFusion, Protocol):
    """A model that tells what attention does for an answer: "attention-gradients" in `exposes`."""

    def attention_gradients(
        self, trials: Sequence[Trial], answer: str
    ) -> list[Float[np.ndarray, "layer query key"]]:
        """Mean over heads of the weights times their gradient, where that is positive.

        The gradient is that of the log-probability of the answer's first token. Raises UserError
        for a model whose layers attend to another sequence.
        """
