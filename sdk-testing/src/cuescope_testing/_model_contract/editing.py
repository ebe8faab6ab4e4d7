"""Contract of models that open their image tower to edits with hooks of their own."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from cuescope_sdk import Edit, Trial
from cuescope_sdk.models import TowerEdit
from cuescope_testing._contract import ContractViolation, NotApplicable, expect
from cuescope_testing._model_contract.setting import TOLERANCE, ModelSetting, distance

# each is asked under several edits
SAMPLES = 3


class Unchanged(TowerEdit):
    """Hooks that do nothing."""

    kind: ClassVar[str] = "contract-unchanged"

    def hooks(self, tower: Any) -> AbstractContextManager[None]:
        """None at all."""
        return nullcontext()


class WithoutAttention(TowerEdit):
    """The first block's attention gives zeros."""

    kind: ClassVar[str] = "contract-without-attention"

    def hooks(self, tower: Any) -> AbstractContextManager[None]:
        """Hooks that give what the attention returns, times zero."""
        from cuescope_sdk.torch import hook_output

        # times zero keeps shape, dtype and device
        return hook_output(tower.blocks[0].attention, lambda output: output * 0)


class ModelTakesTowerEdits(ModelSetting):
    """`TowerEdit`, of models that expose "image-tower"."""

    def tower_trials(self, edit: Edit | None) -> list[Trial]:
        """A few trials with the edit; raises NotApplicable where no tower or block is open."""
        tower: Any = getattr(self.exposing("image-tower"), "image_tower", None)
        if tower is None:
            raise ContractViolation("`image_tower`, which it exposes", got="none")
        if not tower.blocks:
            raise NotApplicable("asks about blocks, and this network has none")
        return self.trials(edit=edit)[:SAMPLES]

    def test_carries_out_tower_edits(self) -> None:
        """Answer inside `edit.hooks(self.image_tower)`, whose blocks answer, an edit at a time."""
        plain = self.model.respond(self.tower_trials(None))
        unchanged = self.model.respond(self.tower_trials(Unchanged()))
        self.expect_near(
            plain, unchanged, "the plain answers under hooks that do nothing"
        )
        edited = self.model.respond(self.tower_trials(WithoutAttention()))
        # every sample must change, and by more than rounding
        nearest = min(map(distance, plain, edited))
        differ = nearest > TOLERANCE[self.dtype]
        expect(differ, "others without the first attention", got=f"{nearest:.2g} away")
        edits = (None, WithoutAttention(), Unchanged())
        by_edit = [self.tower_trials(edit) for edit in edits]
        # in turn, so that neighbours have other edits
        mixed = [trial for trials in zip(*by_edit, strict=True) for trial in trials]
        self.expect_as_alone(mixed, "each trial answered under its own edit")
