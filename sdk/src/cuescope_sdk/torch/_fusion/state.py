"""State of the fusion layers while a batch is shown to a model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from jaxtyping import Float, Int8
from torch import Tensor
from torch.nn.functional import pad

from cuescope_core.types import Edit, Trial
from cuescope_sdk.fusion import TEXT, AverageAttention, AverageTokens

QueryKinds = Int8[Tensor, "batch query"]
KeyKinds = Int8[Tensor, "batch key"]
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
    cross: KeyKinds | None = None
    watch: Watch | None = None

    def use(self) -> AbstractContextManager[None]:
        """Every fusion layer that runs within follows it."""
        # by context: stock models reach us by their registers, which carry no argument
        return _active(self)

    @staticmethod
    def active() -> "Fusion | None":
        """State that the running forward follows."""
        return active_fusion.get()

    @staticmethod
    def by_edit(trials: Sequence[Trial]) -> Iterator[tuple[Edit | None, list[int]]]:
        """Each edit, with the indices of the trials that have it."""
        groups: dict[Edit | None, list[int]] = {}
        for index, trial in enumerate(trials):
            groups.setdefault(trial.edit, []).append(index)
        yield from groups.items()

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
    ) -> tuple[QueryKinds, KeyKinds]:
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


# What the running forward was asked to do, None for nothing; per thread: two models may answer at
# once.
active_fusion: ContextVar[Fusion | None] = ContextVar("fusion", default=None)


@contextmanager
def _active(fusion: Fusion) -> Iterator[None]:
    token = active_fusion.set(fusion)
    try:
        yield
    finally:
        active_fusion.reset(token)
