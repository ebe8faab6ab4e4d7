"""What happens inside the fusion layers while a batch is shown to a model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int8
from torch import Tensor

from cuescope.errors import UserError
from cuescope.types import Edit, Trial
from cuescope_sdk.fusion import TEXT, AverageAttention, AverageTokens

T = TypeVar("T")
ROWS = {"cpu": 256}  # queries at once where a mask is made for them; other devices take more
ROWS_ELSEWHERE = 2048  # GPUs want few large launches


# Means over the visible keys of a block, of some queries (None: of all): (batch, head, row, dim),
# with one row where all queries see the same keys.
Mean = Callable[[Tensor | None], Tensor]


class Visible:
    """The keys that each of `queries` queries sees of `keys` keys.

    `mask` is bool (True is seen) or additive, broadcastable to (batch, head, query, key). `causal`
    without a mask: the queries are the last ones of the keys, and see none that come after them.
    """

    def __init__(
        self, queries: int, keys: int, mask: Tensor | None, causal: bool, device: torch.device
    ) -> None:
        self.queries, self.keys, self.device = queries, keys, device
        # a lone query is the last one: it sees all
        self.causal = causal and mask is None and queries > 1
        additive = mask is not None and mask.dtype != torch.bool
        self.bias = mask if additive else None
        self._mask = mask
        self._seen = mask if mask is None or not additive else _not_hidden(mask)

    def of_samples(self, samples: Tensor) -> "Visible":
        """The same of these samples of a batch."""
        mask = self._mask
        if mask is not None and mask.shape[0] > 1:  # one for all is broadcast
            mask = mask[samples]
        return Visible(self.queries, self.keys, mask, self.causal, self.device)

    @property
    def varies(self) -> bool:
        """Whether two queries may see different keys."""
        return self.causal or (self._seen is not None and self._seen.shape[-2] > 1)

    @property
    def square(self) -> bool:
        """Whether each query sees the keys up to its own, as fused kernels have it."""
        return self.causal and self.queries == self.keys

    def chunks(self, rows: Tensor) -> Sequence[Tensor]:
        """The rows in parts that are small enough for a mask of their own."""
        size = ROWS.get(self.device.type, ROWS_ELSEWHERE) if self.causal else self.queries
        return torch.split(rows, size)

    def end(self, rows: Tensor) -> int:
        """No key from here on is seen by any of the rows."""
        return int(rows.max()) + 1 + self.keys - self.queries if self.causal else self.keys

    def mask(self, rows: Tensor | None, end: int) -> Tensor | None:
        """What a kernel takes for these rows (None: all) and the keys before `end`."""
        if self.causal:
            return self._causal(rows)[..., :end]
        return None if self._mask is None else _of_rows(self._mask, rows)

    def bias_of(self, rows: Tensor | None) -> Tensor | None:
        """The additive mask of these rows."""
        return None if self.bias is None else _of_rows(self.bias, rows)

    def seen_by(self, rows: Tensor | None) -> Bool[Tensor, "#batch #head #row key"]:
        """The keys that these rows see, as a matrix."""
        if self.causal:
            return self._causal(rows)
        if self._seen is None:
            return torch.ones(1, 1, 1, self.keys, dtype=torch.bool, device=self.device)
        return _of_rows(self._seen, rows)

    def counts(self, block: Tensor, rows: Tensor | None) -> Float[Tensor, "#batch #head #row 1"]:
        """How many keys of the block (bool, of the first keys or all) these rows see."""
        if self.causal:
            # a running count, without a matrix
            return block.cumsum(0).float()[self._last(rows)][None, None, :, None]
        return (self.seen_by(rows) & block).sum(-1, keepdim=True, dtype=torch.float32)

    def mean_of(self, states: Float[Tensor, "batch head first dim"], block: Tensor) -> Mean:
        """Means of the block's states over the keys that a query sees, zero where it sees none.

        Both may be of the first keys only, where those asked about see no others.
        """
        if self.causal:
            # float32: long sums drift in half precision
            total = states.float().masked_fill(~block[:, None], 0).cumsum(-2)
            mean = (total / block.cumsum(0).clamp_min(1)[:, None]).to(states.dtype)
            return lambda rows: mean[:, :, self._last(rows)]

        def over(rows: Tensor | None) -> Tensor:
            in_block = self.seen_by(rows)[..., : len(block)] & block
            share = in_block / in_block.sum(-1, keepdim=True).clamp_min(1)
            return (share @ states.float()).to(states.dtype)

        return over

    def _last(self, rows: Tensor | None) -> Tensor:
        """The last key that each row sees, where it sees all before."""
        every = torch.arange(self.queries, device=self.device) if rows is None else rows
        return every + self.keys - self.queries

    def _causal(self, rows: Tensor | None) -> Bool[Tensor, "1 1 row key"]:
        keys = torch.arange(self.keys, device=self.device)
        return (keys <= self._last(rows)[:, None])[None, None]


def _of_rows(matrix: Tensor, rows: Tensor | None) -> Tensor:
    """These rows of a matrix that may have one for all."""
    return matrix if rows is None or matrix.shape[-2] == 1 else matrix[..., rows, :]


def _not_hidden(mask: Tensor) -> Bool[Tensor, "#batch #head #query key"]:
    """An additive mask hides with -inf or with a number next to it."""
    return mask > torch.finfo(mask.dtype).min / 2  # biases on top may move that number a little


# ------------------------------------------------------------------------------------------- state


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
    edit: Edit | None = None
    cross: Int8[Tensor, "batch key"] | None = None
    watch: Watch | None = None

    def edit_at(self, layer: int) -> AverageAttention | AverageTokens | None:
        """The edit, where it is for this layer and names anything."""
        edit = self.edit
        if not isinstance(edit, AverageAttention | AverageTokens):
            return None  # nothing, or an edit that is made elsewhere in the model
        if edit.layers is not None and layer not in edit.layers:
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
            # fewer queries: generation, one new text token at a time
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


# What the running forward was asked to do, None for nothing, and whether edits are made on the
# attention matrix; per thread: two models may answer at once.
active_fusion: ContextVar[Fusion | None] = ContextVar("fusion", default=None)
uses_matrix_form: ContextVar[bool] = ContextVar("by_matrix", default=False)


def use_fusion(fusion: Fusion) -> AbstractContextManager[None]:
    """Every fusion layer that runs within follows `fusion`."""
    return _set(active_fusion, fusion)


def matrix_form() -> AbstractContextManager[None]:
    """Edit the attention matrix itself, which takes memory quadratic in tokens: the reference."""
    return _set(uses_matrix_form, True)


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


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
