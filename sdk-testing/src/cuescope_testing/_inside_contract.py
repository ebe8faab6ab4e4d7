"""Contract of edits and readouts on a model that takes them."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np

from cuescope_core.digest import digest
from cuescope_sdk import Edit, Model, Readout, Response, Sample, Trial, UserError
from cuescope_testing._contract import (
    NotApplicable,
    PerClass,
    Shown,
    expect,
    expect_error,
    expect_light_import,
    expect_no_error,
    with_sample,
)
from cuescope_testing._fake_tower import FakeTower
from cuescope_testing._model_contract.setting import TOLERANCE, distance

QUESTION = "what is it"


class InsideContract(Shown):
    """Checks of something that works inside `model`, built with `model_options`."""

    model: ClassVar[type[Any]] = FakeTower
    model_options: ClassVar[dict[str, Any]] = {}
    count: ClassVar[int] = 4
    asked: PerClass[Model] = PerClass(lambda contract: contract.build_model())

    @classmethod
    def build_model(cls) -> Model:
        """The model, built as an audit builds it."""
        context = cls.context_of("model", cls.model).for_dataset(cls.dataset())
        return cast(Model, context.build("model", cls.name, cls.model_options))

    @property
    def tolerance(self) -> float:
        """How far apart equal answers may be."""
        return TOLERANCE[self.dtype]

    def shown_samples(self) -> list[Sample]:
        """The samples, with a question where they bring none."""
        return [
            replace(sample, question=sample.question or QUESTION)
            for sample in self.samples
        ]

    def plain(self) -> list[Trial]:
        """A trial a sample, asking for all that the model gives."""
        outputs = self.asked.capabilities.outputs
        return [
            Trial(sample=sample, outputs=outputs) for sample in self.shown_samples()
        ]

    def expect_plain(
        self, before: Sequence[Response], expected: str, trials: Sequence[Trial] = ()
    ) -> None:
        """Raise ContractViolation unless trials, plain ones if none, are answered as before."""
        answers = self.asked.respond(list(trials) or self.plain())
        worst = max(map(distance, before, answers))
        near = worst <= self.tolerance
        expect(near, expected, got=f"a difference of {worst:.2g}")


def expect_travels(parts: Sequence[Any]) -> None:
    """Raise ContractViolation where a value cannot be imported, pickled or copied by a worker."""
    for cls in dict.fromkeys(map(type, parts)):
        expect_light_import(cls)
    for part in parts:
        with expect_no_error(f"{part} to be pickled"):
            pickle.dumps(part)
        copy = type(part)(**dict(part))
        same = copy == part and digest(copy) == digest(part)
        expect(same, f"a copy of {part} to be equal", got=repr(copy))
    digests = {digest(type(part).__qualname__, part) for part in parts}
    expect(len(digests) == len(parts), "a digest of its own for each", got=digests)


class EditContract(InsideContract):
    """Checks of an edit: it changes what a model answers, and nothing else.

        class TestContract(EditContract):
            edits = (Silence(layer=0), Silence(layer=1))
            nothing = Silence(layer=0, share=0.0)
            beyond = Silence(layer=99)

    `edits` all have an effect on `model`. `nothing` is one that changes nothing, `beyond` names a
    part that the model does not have; None where there is no such edit.
    """

    edits: ClassVar[Sequence[Edit]]
    nothing: ClassVar[Edit | None] = None
    beyond: ClassVar[Edit | None] = None

    def under(self, edit: Edit | None) -> list[Trial]:
        """The samples under an edit."""
        return [replace(trial, edit=edit) for trial in self.plain()]

    def test_travels_to_workers(self) -> None:
        """Its digest is in the cache key: plain fields are all it has, in a light module."""
        expect_travels(self.edits)

    def test_has_an_effect(self) -> None:
        """An edit without one calls every part idle: a hook that returns None changes nothing."""
        plain = self.asked.respond(self.plain())
        for edit in self.edits:
            edited = self.asked.respond(self.under(edit))
            farthest = max(map(distance, plain, edited))
            differs = farthest > self.tolerance
            expect(differs, f"another answer under {edit}", got=f"{farthest:.2g}")

    def test_leaves_the_model_as_it_was(self) -> None:
        """Every hook is removed, and `nothing` is the plain forward pass."""
        before = self.asked.respond(self.plain())
        for edit in self.edits:
            self.asked.respond(self.under(edit))
            self.expect_plain(before, f"the plain answers again after {edit}")
        if self.nothing is not None:
            trials = self.under(self.nothing)
            self.expect_plain(before, f"the plain answers under {self.nothing}", trials)

    def test_does_not_leak_in_a_batch(self) -> None:
        """Trials of several edits go together as they go alone."""
        # an edit beside a plain trial and beside another one, whatever their number
        kinds = [None, *self.edits, self.nothing, None]
        by_edit = [self.under(edit) for edit in kinds]
        mixed = [trial for trials in zip(*by_edit, strict=True) for trial in trials]
        alone = [self.asked.respond([trial])[0] for trial in mixed]
        self.expect_plain(alone, "each trial answered under its own edit", mixed)

    def test_refuses_what_is_not_there(self) -> None:
        """A part that the model does not have is a sentence: `tower.block(layer)` raises it."""
        if self.beyond is None:
            raise NotApplicable("asks about a part that is not there: set `beyond`")
        with expect_error(UserError, f"a UserError for {self.beyond}"):
            self.asked.respond(self.under(self.beyond)[:1])


class ReadoutContract(InsideContract):
    """Checks of a readout: it looks, and changes nothing.

        class TestContract(ReadoutContract):
            readouts = (BlockNorms(layer=0), BlockNorms(layer=1))
            beyond = BlockNorms(layer=99)

    `beyond` asks for a part that the model does not have. `sees` False says that the numbers do
    not depend on what is shown, as sizes do not; `edit` is the edit that they are read under.
    """

    readouts: ClassVar[Sequence[Readout]]
    beyond: ClassVar[Readout | None] = None
    sees: ClassVar[bool] = True
    edit: ClassVar[Edit | None] = None

    def of(self, readout: Readout) -> list[Trial]:
        """The samples, asked for a readout."""
        return [readout.of(sample, self.edit) for sample in self.shown_samples()]

    def read(self, readout: Readout, trials: Sequence[Trial]) -> list[np.ndarray]:
        """Values that it brings back."""
        return list(readout.read(self.asked, trials))

    def same(self, numbers: np.ndarray, others: np.ndarray) -> bool:
        """True if two arrays are equal within rounding."""
        if np.shape(numbers) != np.shape(others):
            return False
        scale = max(1.0, float(np.abs(numbers).max(initial=0)))
        return np.allclose(numbers, others, rtol=0, atol=self.tolerance * scale)

    def test_travels_to_workers(self) -> None:
        """Its name and fields are in the cache key: plain fields are all it has."""
        expect_travels(self.readouts)

    def test_brings_finite_numbers_for_each_trial(self) -> None:
        """One array a trial in order, none for none, and `gives` is its dtype and shape alone."""
        for readout in self.readouts:
            expect(not self.read(readout, []), "no array for no trial")
            trials = self.of(readout)
            arrays = self.read(readout, trials)
            expect(len(arrays) == len(trials), "an array a trial", got=len(arrays))
            for array, trial in zip(arrays, trials, strict=True):
                finite = isinstance(array, np.ndarray) and np.isfinite(array).all()
                expect(finite, "finite numbers", got=array)
                accepts = readout.accepts(array, trial)
                expect(accepts, f"{readout} accepts what it reads", got="refused")
                for other in (array[None], array.astype(np.complex64)):
                    refused = not readout.accepts(other, trial)
                    expect(refused, f"{readout} refuses {other.dtype} {other.shape}")

    def test_reads_each_trial_by_itself(self) -> None:
        """Not by its neighbours, its label or what it is for; and answers stay as they were."""
        before = self.asked.respond(self.plain())
        for readout in self.readouts:
            trials = self.of(readout)
            alone = [self.read(readout, [trial])[0] for trial in trials]
            bare = [with_sample(trial, label=None) for trial in trials]
            others = {
                "together": self.read(readout, trials),
                "in reverse": self.read(readout, trials[::-1])[::-1],
                "without label": self.read(
                    readout, [replace(trial, feature="another") for trial in bare]
                ),
            }
            for how, numbers in others.items():
                same = all(map(self.same, numbers, alone))
                expect(same, f"the same numbers {how}", got="others")
            self.expect_plain(before, f"the plain answers again after {readout}")

    def test_sees_what_is_shown(self) -> None:
        """Other frames, other numbers; `sees = False` says it need not look."""
        if not self.sees:
            raise NotApplicable("asks about readouts that look at what is shown")
        for readout in self.readouts:
            first, *others = self.read(readout, self.of(readout))
            differ = any(not self.same(first, other) for other in others)
            expect(differ, f"other numbers for other samples from {readout}")

    def test_refuses_what_is_not_there(self) -> None:
        """A part that the model does not have is a sentence: `tower.block(layer)` raises it."""
        if self.beyond is None:
            raise NotApplicable("asks about a part that is not there: set `beyond`")
        with expect_error(UserError, f"a UserError for {self.beyond}"):
            self.read(self.beyond, self.of(self.beyond)[:1])
