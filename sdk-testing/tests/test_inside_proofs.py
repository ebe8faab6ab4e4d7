"""Every check of the contracts of edits and readouts catches one that is bad in just that way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from jaxtyping import Float

from cuescope_sdk import Readout, Trial, UserError
from cuescope_sdk.models import TowerEdit
from cuescope_testing import EditContract, FakeTower, ReadoutContract

from .contract_proofs import failed


class Silence(TowerEdit):
    """A block's attention is weaker by a share."""

    kind: ClassVar[str] = "silence"
    layer: int
    share: float = 1.0

    @contextmanager
    def hooks(self, tower: Any) -> Iterator[None]:
        from cuescope_sdk.torch import hook_output

        attention = tower.block(self.layer).attention
        with hook_output(attention, lambda output: output * (1 - self.share)):
            yield


class Deaf(Silence):
    """Changes a copy."""

    @contextmanager
    def hooks(self, tower: Any) -> Iterator[None]:
        tower.block(self.layer)
        yield


class Staying(Silence):
    """Never takes its hook away, and each one adds to the others."""

    @contextmanager
    def hooks(self, tower: Any) -> Iterator[None]:
        attention = tower.block(self.layer).attention
        attention.register_forward_hook(lambda module, args, output: output * 0.9)
        yield


class Blunt(Silence):
    """Knows no share."""

    @contextmanager
    def hooks(self, tower: Any) -> Iterator[None]:
        whole = Silence(layer=self.layer)
        with whole.hooks(tower):
            yield


class Indexing(Silence):
    """Looks its block up as a list does."""

    @contextmanager
    def hooks(self, tower: Any) -> Iterator[None]:
        if self.layer >= len(tower.blocks):
            raise IndexError("tuple index out of range")
        with super().hooks(tower):
            yield


class Loose(Silence):
    """Parameters beside its fields."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = TowerEdit.__hash__


class Leaky(FakeTower):
    """The first edit of a batch is that of all."""

    def respond(self, trials: Sequence[Trial]) -> list[Any]:
        first = next(iter(trials)).edit
        return [self.answer(replace(trial, edit=first)) for trial in trials]


def edits_of(edit: type[Silence], **facts: Any) -> type[EditContract]:
    parts: dict[str, Any] = {
        "edits": (edit(layer=0), edit(layer=1)),
        "nothing": edit(layer=0, share=0.0),
        "beyond": edit(layer=2),
    }
    return type("Contract", (EditContract,), parts | facts)


class Norms(Readout):
    """The mean size of each token after a block."""

    name: ClassVar[str] = "norms"
    gives: ClassVar[Any] = Float[np.ndarray, " token"]
    layer: int

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        from cuescope_sdk.torch import hook_output

        rows = []
        for trial in trials:
            tokens: list[Any] = []
            block = model.image_tower.block(self.layer).module
            with hook_output(block, tokens.append):
                model.embed(trial)
            rows.append(tokens[0][0].norm(dim=-1).numpy())
        return rows


class Blind(Norms):
    """Numbers of the weights alone."""

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        model.image_tower.block(self.layer)
        return [np.ones(3)] * len(trials)


class Undefined(Norms):
    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        return [row * np.nan for row in super().read(model, trials)]


class Trusting(Norms):
    """Accepts whatever a cache holds."""

    gives: ClassVar[Any] = np.ndarray


class Centred(Norms):
    """Less the mean of all that was asked together."""

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        rows = super().read(model, trials)
        return [row - np.mean(rows, axis=0) for row in rows]


class Meddling(Norms):
    """Leaves a hook that changes answers."""

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        rows = super().read(model, trials)
        block = model.image_tower.block(self.layer).module
        block.register_forward_hook(lambda module, args, output: output * 1.1)
        return rows


class Cheating(Norms):
    """Reads the label."""

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        labelled = [float(trial.sample.label is not None) for trial in trials]
        pairs = zip(super().read(model, trials), labelled, strict=True)
        return [row + more for row, more in pairs]


class Wrapping(Norms):
    """Takes any layer."""

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        layer = self.layer % model.image_tower.layers
        return Norms(layer=layer).read(model, trials)


class Same(Norms):
    """Is equal to none."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = Readout.__hash__


def readouts_of(readout: type[Norms]) -> type[ReadoutContract]:
    parts: dict[str, Any] = {
        "readouts": (readout(layer=0), readout(layer=1)),
        "beyond": readout(layer=2),
    }
    return type("Contract", (ReadoutContract,), parts)


class TestSilence(EditContract):
    edits = (Silence(layer=0), Silence(layer=1))
    nothing = Silence(layer=0, share=0.0)
    beyond = Silence(layer=2)


class TestNorms(ReadoutContract):
    readouts = (Norms(layer=0), Norms(layer=-1))
    beyond = Norms(layer=-3)


LEAVES = "test_leaves_the_model_as_it_was"
BY_ITSELF = "test_reads_each_trial_by_itself"
EDITS = [
    ("test_travels_to_workers", edits_of(Loose), set()),
    ("test_has_an_effect", edits_of(Deaf), set()),
    (LEAVES, edits_of(Staying), {"test_does_not_leak_in_a_batch"}),
    (LEAVES, edits_of(Blunt), set()),
    ("test_does_not_leak_in_a_batch", edits_of(Silence, model=Leaky), set()),
    ("test_refuses_what_is_not_there", edits_of(Indexing), set()),
]
READOUTS = [
    ("test_travels_to_workers", Same, set()),
    ("test_brings_finite_numbers_for_each_trial", Undefined, {BY_ITSELF}),
    ("test_brings_finite_numbers_for_each_trial", Trusting, set()),
    (BY_ITSELF, Centred, set()),
    (BY_ITSELF, Meddling, set()),
    (BY_ITSELF, Cheating, set()),
    ("test_sees_what_is_shown", Blind, set()),
    ("test_refuses_what_is_not_there", Wrapping, set()),
]


def test_every_check_is_proved() -> None:
    assert set(EditContract.checks()) == {check for check, *_ in EDITS}
    assert set(ReadoutContract.checks()) == {check for check, *_ in READOUTS}


@pytest.mark.parametrize(("check", "contract", "others"), EDITS)
def test_check_catches_its_bad_edit(
    check: str, contract: type[EditContract], others: set[str]
) -> None:
    assert failed(contract) == {check, *others}


@pytest.mark.parametrize(("check", "readout", "others"), READOUTS)
def test_check_catches_its_bad_readout(
    check: str, readout: type[Norms], others: set[str]
) -> None:
    assert failed(readouts_of(readout)) == {check, *others}


def test_a_tower_says_how_large_it_is() -> None:
    tower = TestSilence.build_model().image_tower  # type: ignore[attr-defined]
    assert (tower.layers, tower.heads) == (2, 2)
    assert tower.block(-1) is tower.blocks[1]
    with pytest.raises(UserError, match="has no layer 2: expected 0 to 1"):
        tower.block(2)
