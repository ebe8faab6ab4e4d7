"""Changes of what the model makes of a sample: its embedding moves, and no picture does."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from cuescope_interventions.case_by_case import CaseByCase
from cuescope_sdk import Requirements, Trial
from cuescope_sdk.interventions import Case
from cuescope_sdk.models import TowerEdit

if TYPE_CHECKING:  # it imports torch, which listing plugins must not pay for
    from torch import Tensor


class MoveEmbedding(TowerEdit):
    """Something is added to the embedding before anything reads it.

    `bits` are float32 numbers, in units in which the embedding is `norm` long: a tower gives
    embeddings of any length, and what reads them may bring them to 1 first.
    """

    kind: ClassVar[str] = "move-embedding"
    bits: bytes
    norm: float

    @property
    def shift(self) -> Float[np.ndarray, " dim"]:
        """What is added."""
        return np.frombuffer(self.bits, np.float32)

    def hooks(self, tower: Any) -> AbstractContextManager[None]:
        """The tower's own forward pass, and the shift after it."""

        def move(rows: "Tensor") -> "Tensor":
            # a copy: what was read from bytes is read-only
            step = rows.new_tensor(self.shift.copy())
            moved: Tensor = rows + rows.norm(dim=-1, keepdim=True) / self.norm * step
            return moved

        moving: AbstractContextManager[None] = tower.hook_embedding(move)
        return moving


class Inside(CaseByCase):
    """The embedding is moved along the direction that tells the cue, as far as the case says.

    Its placebo moves it as far in another direction: one that tells another cue, or a random one.
    """

    needs = "inside"
    placebo = "other direction"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}), exposes=frozenset({"image-tower"})
    )

    def change(self, case: Case) -> Trial:
        """The sample as it is, with an edit; raises ValueError for a case without a shift."""
        if case.shift is None:
            raise ValueError(f"the case of sample '{case.sample.key}' has no shift")
        bits = case.shift.astype(np.float32).tobytes()
        return Trial(sample=case.sample, edit=MoveEmbedding(bits=bits, norm=case.norm))


class Erase(Inside):
    """What the embedding says of the cue is erased (LEACE; Belrose et al., 2023)."""

    title = "what the embedding says of it is erased"


class Patch(Inside):
    """What the embedding says of the cue is that of a matched sample which shows it.

    Activation patching (Vig et al., 2020; Meng et al., 2022), of one direction.
    """

    title = "samples without it get what the embedding of one with it says of it"
    effect = "inserts"
