"""What happens inside the fusion layers while a batch is shown to a model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int8
from torch import Tensor

from cuescope.errors import UserError
from cuescope.types import Edit, Trial
from cuescope_sdk.fusion import TEXT, AverageAttention, AverageTokens

Watch = Callable[[int, Float[Tensor, "batch head query key"]], None]


@dataclass(frozen=True, eq=False)
class Fusion:
    """One forward of a batch: which tokens are what, what is changed, and who looks on.

    `modality` says OTHER, VIDEO or TEXT of every token of the fused sequence (padding is OTHER,
    and hidden by the mask); tokens that a model generates after them are TEXT. `cross` does so for
    the keys of cross-attention, which are another sequence. `watch` gets the layer and its
    weights, after the edit; under `AverageTokens` each key has its part of its average's weight.
    """

    modality: Int8[Tensor, "batch token"]
    edit: AverageAttention | AverageTokens | None = None
    cross: Int8[Tensor, "batch key"] | None = None
    watch: Watch | None = None

    def edit_at(self, layer: int) -> AverageAttention | AverageTokens | None:
        """The edit, where it is for this layer and names anything."""
        edit = self.edit
        if edit is None or not (edit.layers is None or layer in edit.layers):
            return None
        named = edit.modalities if isinstance(edit, AverageTokens) else edit.quadrants
        return edit if named else None

    def sides(
        self, queries: int, keys: int, cross: bool
    ) -> tuple[Int8[Tensor, "batch query"], Int8[Tensor, "batch key"]]:
        """What queries and keys are; cached keys come before the queries of this step.

        Raises ValueError where a cache holds fewer keys than the sequence has tokens.
        """
        own = self.modality
        if cross and self.cross is not None:
            known = own[:, : queries if queries >= own.shape[1] else 0]
            return _then_text(known, queries), self.cross
        if keys < own.shape[1]:
            raise ValueError(f"{keys} keys for {own.shape[1]} tokens: a cache has let some go")
        own = _then_text(own, keys)
        return own[:, keys - queries :], own


def _then_text(known: Int8[Tensor, "batch known"], count: int) -> Int8[Tensor, "batch count"]:
    """`count` tokens: those that are known, and then text."""
    written = known.new_full((known.shape[0], count - known.shape[1]), TEXT)
    return torch.cat([known, written], dim=1)


_active: ContextVar[Fusion | None] = ContextVar("fusion", default=None)
_by_matrix: ContextVar[bool] = ContextVar("by_matrix", default=False)


def active_fusion() -> Fusion | None:
    """What the running forward was asked to do, None for nothing."""
    return _active.get()


def uses_matrix_form() -> bool:
    """Whether edits are made on the attention matrix."""
    return _by_matrix.get()


@contextmanager
def use_fusion(fusion: Fusion) -> Iterator[None]:
    """Every fusion layer that runs within follows `fusion`."""
    token = _active.set(fusion)
    try:
        yield
    finally:
        _active.reset(token)


@contextmanager
def matrix_form() -> Iterator[None]:
    """Edit the attention matrix itself, which takes memory quadratic in tokens: the reference."""
    token = _by_matrix.set(True)
    try:
        yield
    finally:
        _by_matrix.reset(token)


def group_by_edit(trials: Sequence[Trial]) -> Iterator[tuple[Edit | None, list[int]]]:
    """Each edit, with the indices of the trials that have it."""
    groups: dict[Edit | None, list[int]] = {}
    for index, trial in enumerate(trials):
        groups.setdefault(trial.edit, []).append(index)
    yield from groups.items()


def require_layers(owner: str, edit: Edit | None, layers: int) -> None:
    """Raises UserError for an edit of a layer that the model does not have."""
    asked = getattr(edit, "layers", None) or ()
    if outside := [layer for layer in asked if not 0 <= layer < layers]:
        raise UserError(
            f"{owner} has no fusion layer {outside[0]}",
            expected=f"layers 0 to {layers - 1}",
            got=", ".join(map(str, asked)),
        )
