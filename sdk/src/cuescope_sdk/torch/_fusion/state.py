"""State of the fusion layers while a batch is shown to a model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor
from torch.nn.functional import pad

from cuescope_core.types import Edit, Trial
from cuescope_sdk.fusion import TEXT, AverageAttention, AverageTokens
from cuescope_sdk.torch._fusion.shapes import (
    BatchKeyKinds,
    BatchQueryKinds,
    Block,
    FirstStates,
    Rows,
    RowStates,
    Seen,
    SeenByRow,
    Weights,
)

T = TypeVar("T")
# queries at once where a mask is made for them; other devices take more
ROWS = {"cpu": 256}
ROWS_ELSEWHERE = 2048  # GPUs want few large launches
CHECKED_ROWS = 512  # of a mask, at once


# Means over the visible keys of a block, of some queries (None: of all): (batch, head, row, dim),
# with one row where all queries see the same keys.
Mean = Callable[[Tensor | None], Tensor]


class Visible:
    """The keys that each of `queries` queries sees of `keys` keys.

    `mask` is bool (True is seen) or additive, broadcastable to (batch, head, query, key). `causal`
    without a mask: the queries are the last ones of the keys, and see none that come after them.
    `prefix` in place of both: how many of the first keys each query sees, never fewer than the
    query before it.
    """

    def __init__(
        self,
        queries: int,
        keys: int,
        mask: Tensor | None,
        causal: bool,
        device: torch.device,
        prefix: Int[Tensor, " query"] | None = None,
    ) -> None:
        self.queries = queries
        self.keys = keys
        self.device = device
        # a lone query is the last one: it sees all
        causal = causal and mask is None and queries > 1
        # whether each query sees the keys up to its own, as fused kernels have it
        self.square = causal and queries == keys
        if causal:
            prefix = torch.arange(keys - queries + 1, keys + 1, device=device)
        self.prefix = prefix
        additive = mask is not None and mask.dtype != torch.bool
        self.bias = mask if additive else None
        self._mask = mask
        self._seen = mask if mask is None or not additive else _not_hidden(mask)

    def of_samples(self, samples: Tensor) -> "Visible":
        """The same of these samples of a batch."""
        mask = self._mask
        if mask is None or mask.shape[0] == 1:  # one for all is broadcast
            return self
        return Visible(self.queries, self.keys, mask[samples], False, self.device)

    def of_keys(self, kept: Int[Tensor, " kept"]) -> "Visible":
        """Restrict it to these keys, in their order, where no mask says more than `prefix`."""
        prefix = self.prefix
        if prefix is not None:
            # how many of them are before each end
            prefix = torch.searchsorted(kept, prefix)
        return Visible(self.queries, kept.numel(), None, False, self.device, prefix)

    def blind(self, block: Block) -> tuple[int, int]:
        """How many of the first queries see nothing of a block, and the place where it begins.

        None where a mask says what is seen, or where the others are too many: those then need
        masks of their own, which cost as much as half of a causal pass over all.
        """
        if self.prefix is None:
            return 0, 0
        places = block.nonzero()
        first = int(places[0]) if places.numel() else self.keys
        count = int((self.prefix <= first).sum())
        if 2 * (self.queries - count) > self.keys:
            count = 0
        return count, first

    def part(self, first: int, last: int, keys: int) -> "Visible":
        """Restrict it to the queries from `first` to before `last`, and the first `keys` keys."""
        prefix = None if self.prefix is None else self.prefix[first:last]
        part = Visible(last - first, keys, None, False, self.device, prefix)
        part.square = self.square and not first and last == keys
        return part

    @property
    def varies(self) -> bool:
        """True if two queries may see different keys."""
        if self.prefix is not None:
            return True
        return self._seen is not None and self._seen.shape[-2] > 1

    @cached_property
    def aligned(self) -> Int[Tensor, " key"] | None:
        """For each key the query that sees the keys up to it; None where one has no such query."""
        if self.square:
            return torch.arange(self.keys, device=self.device)
        if self.prefix is None or not 0 < self.keys <= self.queries:
            return None
        ends = torch.arange(1, self.keys + 1, device=self.device)
        rows = torch.searchsorted(self.prefix, ends).clamp_max(self.queries - 1)
        if torch.equal(self.prefix[rows], ends):
            return rows
        return None

    def chunks(self, rows: Tensor) -> Sequence[Tensor]:
        """The rows in parts that are small enough for a mask of their own.

        Rows at the ends that all see the same keys, such as those of padding, need none.
        """
        count = rows.numel()
        if not count:
            return []
        if self.prefix is None:
            return [rows]
        ends = self.prefix[rows]
        first = int((ends == ends[0]).sum())
        last = int((ends == ends[-1]).sum())
        if first == count:
            return [rows]
        if first == 1 and bool(ends[0]):  # no kernel takes queries that see nothing
            first = 0
        if last == 1:
            last = 0
        head, between, tail = torch.split(rows, [first, count - first - last, last])
        size = ROWS.get(self.device.type, ROWS_ELSEWHERE)
        parts = [head, *torch.split(between, size), tail]
        return [part for part in parts if part.numel()]

    def end(self, rows: Tensor) -> int:
        """No key from here on is seen by any of the rows."""
        return self.keys if self.prefix is None else int(self.prefix[rows].max())

    def mask(self, rows: Tensor | None, end: int) -> Tensor | None:
        """Mask for a kernel, for these rows (None: all) and the keys before `end`; None: all."""
        if self.prefix is None:
            return None if self._mask is None else _of_rows(self._mask, rows)
        if bool((self._ends(rows) >= end).all()):
            return None
        return self._before(rows)[..., :end]

    def bias_of(self, rows: Tensor | None) -> Tensor | None:
        """The additive mask of these rows."""
        return None if self.bias is None else _of_rows(self.bias, rows)

    def keys_seen(self, rows: Tensor | None) -> SeenByRow:
        """The keys that these rows see, as a matrix."""
        if self.prefix is not None:
            return self._before(rows)
        if self._seen is None:
            return torch.ones(1, 1, 1, self.keys, dtype=torch.bool, device=self.device)
        return _of_rows(self._seen, rows)

    def counts(
        self,
        block: Tensor,
        rows: Tensor | None,
    ) -> Float[Tensor, "#batch #head #row 1"]:
        """How many keys of the block (bool, of the first keys or all) these rows see."""
        if self.prefix is not None:
            # a running count, without a matrix
            before = pad(block.cumsum(0).float(), (1, 0))
            return before[self._ends(rows)][None, None, :, None]
        seen = self.keys_seen(rows) & block
        return seen.sum(-1, keepdim=True, dtype=torch.float32)

    def mean_of(self, states: FirstStates, block: Tensor) -> Mean:
        """Means of the block's states over the keys that a query sees, zero where it sees none.

        Both may be of the first keys only, where those asked about see no others.
        """
        if self.prefix is not None:
            # of the block alone, which may be short: a mean for each number of its keys
            of_block = take(states, block.nonzero().squeeze(1))
            total = at_least_float32(of_block).cumsum(-2)
            number = torch.arange(1, total.shape[2] + 1, device=self.device)
            mean = (total / number[:, None]).to(states.dtype)
            mean = pad(mean, (0, 0, 1, 0))
            count = pad(block.cumsum(0), (1, 0))
            return lambda rows: mean.index_select(2, count[self._ends(rows)])
        exact = at_least_float32(states)  # long sums drift in half precision

        def over(rows: Tensor | None) -> Tensor:
            in_block = self.keys_seen(rows)[..., : len(block)] & block
            count = in_block.sum(-1, keepdim=True).clamp_min(1)
            share = in_block.to(exact.dtype) / count
            return (share @ exact).to(states.dtype)

        return over

    def differs(self, block: Tensor, rows: Tensor) -> bool:
        """True if two of the rows may see different keys of the block; nothing of it is no other.

        It does not where all of the block comes before the rows that see any of it.
        """
        if self.prefix is None:
            return self.varies
        places = block.nonzero().squeeze(1)
        if not places.numel():
            return False
        ends = self.prefix[rows]
        sees_part = (ends > places[0]) & (ends <= places[-1])
        return bool(sees_part.any())

    def whole_mean_of(
        self,
        states: FirstStates,
        block: Tensor,
    ) -> Float[Tensor, "#batch #head 1 dim"]:
        """The mean over the keys of a block that does not differ."""
        if self.prefix is None:
            return self.mean_of(states, block)(None)
        of_block = take(states, block.nonzero().squeeze(1))
        mean = at_least_float32(of_block).mean(-2, keepdim=True)
        return mean.to(states.dtype)

    def _ends(self, rows: Tensor | None) -> Rows:
        """How many of the first keys each row sees."""
        if self.prefix is None:
            raise ValueError("queries that see what a mask says have no end")
        return self.prefix if rows is None else self.prefix[rows]

    def _before(self, rows: Tensor | None) -> Bool[Tensor, "1 1 row key"]:
        keys = torch.arange(self.keys, device=self.device)
        return (keys < self._ends(rows)[:, None])[None, None]


def take(
    states: RowStates, rows: Int[Tensor, " part"]
) -> Float[Tensor, "batch head part dim"]:
    """These rows, which rise: without a copy where they follow one another."""
    together = _together(rows)
    return states.index_select(2, rows) if together is None else states[:, :, together]


def put(out: RowStates, rows: Int[Tensor, " part"], states: Tensor) -> None:
    """Writes these rows, which rise: several times faster where they follow one another."""
    together = _together(rows)
    out[:, :, rows if together is None else together] = states


def _together(rows: Rows) -> slice | None:
    """Rows that follow one another as a slice; None of others."""
    count = rows.numel()  # len() of a tensor takes ten times as long
    if not count:
        return None
    first = int(rows[0])
    end = first + count
    return slice(first, end) if int(rows[-1]) == end - 1 else None


def among(rows: Rows, others: Int[Tensor, " other"], count: int) -> Tensor:
    """Which of the rows are among the others, all of them below `count`."""
    member = torch.zeros(count, dtype=torch.bool, device=rows.device)
    member[others] = True
    return member[rows]


def at_least_float32(states: Tensor) -> Tensor:
    """The states in float32, or in float64 where they are."""
    return states.to(torch.promote_types(states.dtype, torch.float32))


@dataclass(frozen=True, eq=False)
class Padding:
    """A mask that hides keys of padding and, where `causal`, those after each query; nothing else.

    Said of a bool mask by `of`; None of any other.
    """

    seen: Bool[Tensor, "#batch key"]
    causal: bool

    @classmethod
    def of(cls, mask: Tensor | None, queries: int, keys: int) -> "Padding | None":
        """Reads the mask once, some rows at a time."""
        if (
            mask is None
            or mask.dtype != torch.bool
            or mask.ndim != 4
            or mask.shape[1] != 1
        ):
            return None
        if mask.shape[-1] != keys:
            return None
        seen = mask[:, 0, -1]  # the last query sees all that is no padding
        if mask.shape[-2] == 1:
            return cls(seen, False)
        last = torch.arange(keys - queries, keys, device=mask.device)
        places = torch.arange(keys, device=mask.device)
        for start in range(0, queries, CHECKED_ROWS):
            rows = slice(start, start + CHECKED_ROWS)
            causal = seen[:, None] & (places <= last[rows, None])
            if not torch.equal(mask[:, 0, rows], causal):
                return None
        return cls(seen, True)


def _of_rows(matrix: Tensor, rows: Tensor | None) -> Tensor:
    """These rows of a matrix that may have one for all."""
    if rows is None or matrix.shape[-2] == 1:
        return matrix
    return matrix[..., rows, :]


def _not_hidden(mask: Tensor) -> Seen:
    """An additive mask hides with -inf or with a number next to it."""
    # biases on top may move that number a little
    return mask > torch.finfo(mask.dtype).min / 2


# ------------------------------------------------------------------------------------------- state


Watch = Callable[[int, Weights], None]


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
    cross: BatchKeyKinds | None = None
    watch: Watch | None = None
    _paddings: dict[int, tuple[Tensor, Padding | None]] = field(
        default_factory=dict, init=False
    )

    def use(self) -> AbstractContextManager[None]:
        """Every fusion layer that runs within follows it."""
        # by context: stock models reach us by their registers, which carry no argument
        return _set(active_fusion, self)

    @staticmethod
    def active() -> "Fusion | None":
        """State that the running forward follows."""
        return active_fusion.get()

    @staticmethod
    def by_matrix() -> AbstractContextManager[None]:
        """Within it edits are made on the attention matrix, which takes memory quadratic in tokens.

        It is the reference.
        """
        # a video LLM has thousands of tokens, so no audit takes this way (docs/adr/0011)
        return _set(uses_matrix_form, True)

    @staticmethod
    def by_edit(trials: Sequence[Trial]) -> Iterator[tuple[Edit | None, list[int]]]:
        """Each edit, with the indices of the trials that have it."""
        groups: dict[Edit | None, list[int]] = {}
        for index, trial in enumerate(trials):
            groups.setdefault(trial.edit, []).append(index)
        yield from groups.items()

    def padding(self, mask: Tensor | None, queries: int, keys: int) -> Padding | None:
        """Read a mask once: all layers of a forward are given the same one."""
        if mask is None:
            return None
        if id(mask) not in self._paddings:
            # the mask is kept too, or another might take its number
            self._paddings[id(mask)] = (mask, Padding.of(mask, queries, keys))
        return self._paddings[id(mask)][1]

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
        self,
        queries: int,
        keys: int,
        cross: bool,
    ) -> tuple[BatchQueryKinds, BatchKeyKinds]:
        """Sides of queries and keys; cached keys come before the queries of this step.

        Raises ValueError where a cache holds fewer keys than the sequence has tokens.
        """
        modality = self.modality
        count = modality.shape[1]
        if cross and self.cross is not None:
            if queries < count:  # generation, one new text token at a time
                modality = modality[:, :0]
            return _then_text(modality, queries), self.cross
        if keys < count:
            raise ValueError(f"{keys} keys for {count} tokens: a cache has let some go")
        modality = _then_text(modality, keys)
        return modality[:, keys - queries :], modality


def _then_text(
    modality: Int8[Tensor, "batch read"], count: int
) -> Int8[Tensor, "batch count"]:
    """`count` tokens: those that were read, and then text."""
    return pad(modality, (0, count - modality.shape[1]), value=TEXT)


# What the running forward was asked to do, None for nothing, and whether edits are made on the
# attention matrix; per thread: two models may answer at once.
active_fusion: ContextVar[Fusion | None] = ContextVar("fusion", default=None)
uses_matrix_form: ContextVar[bool] = ContextVar("by_matrix", default=False)


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
