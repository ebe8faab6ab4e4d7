"""Contract of edits and readouts on a model that takes them."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np

from cuescope_core.digest import digest
from cuescope_sdk import (
    Context,
    Edit,
    Model,
    Readout,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_testing._contract import (
    NotApplicable,
    PerClass,
    Shown,
    expect,
    expect_error,
    expect_no_error,
    import_report_of,
    with_sample,
)
from cuescope_testing._fake_tower import FakeTower
from cuescope_testing._model_contract.setting import TOLERANCE, distance
from cuescope_testing._running import PluginShelf

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
        shelf = PluginShelf({("model", cls.name): cls.model}, installed=True)
        context = Context(
            registry=shelf,
            cache=cls.cache_folder(),
            device=cls.device,
            dtype=cls.dtype,
        )
        built = context.for_dataset(cls.dataset()).build(
            "model", cls.name, cls.model_options
        )
        return cast(Model, built)

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

    def expect_alike(
        self,
        answers: Sequence[Response],
        others: Sequence[Response],
        expected: str,
        remedy: str,
    ) -> None:
        """Raise ContractViolation where answers differ by more than rounding."""
        worst = max(map(distance, answers, others))
        expect(
            worst <= self.tolerance,
            expected,
            got=f"a difference of {worst:.2g}",
            remedy=remedy,
        )

    def expect_refused(self, trial: Trial, what: str) -> None:
        """Raise ContractViolation unless the trial is refused in one sentence."""
        with expect_error(
            UserError,
            f"a UserError for {what}",
            got="an answer",
            remedy="Raise UserError(problem, expected=...) with what there is: "
            "`tower.block(layer)` does, `tower.layers` and `tower.heads` say how many",
        ):
            self.asked.respond([trial])


def expect_light(cls: type) -> None:
    """Raise ContractViolation for a class whose module imports what takes long."""
    heavy = import_report_of(cls)["heavy"]
    expect(
        not heavy,
        "a light module: a worker and a list of plugins import it",
        got=f"one that imports {', '.join(heavy)}",
        remedy="Import them where they are used",
    )


def expect_travels(parts: Sequence[Any]) -> None:
    """Raise ContractViolation where a value cannot be pickled, or its copy is another."""
    for part in parts:
        with expect_no_error(
            f"{part} to be pickled for workers",
            remedy="Define the class at module level",
        ):
            pickle.dumps(part)
        copy = type(part)(**dict(part))
        expect(
            copy == part and digest(copy) == digest(part),
            f"a copy of {part} to be equal",
            got=repr(copy),
            remedy="Let fields of plain values be all that it has",
        )
    digests = {digest(type(part).__qualname__, part) for part in parts}
    expect(
        len(digests) == len(parts),
        "another digest for other parameters: answers are cached by it",
        got=f"{len(digests)} for {len(parts)} values",
        remedy="Let each parameter be a field",
    )


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

    def test_imports_lightly(self) -> None:
        """Workers import the module of an edit by its name."""
        for cls in dict.fromkeys(map(type, self.edits)):
            expect_light(cls)

    def test_travels_to_workers(self) -> None:
        """An edit is pickled, and its digest is a part of the cache key."""
        expect_travels(self.edits)

    def test_has_an_effect(self) -> None:
        """An edit without one would call every part of a model idle."""
        plain = self.asked.respond(self.plain())
        for edit in self.edits:
            edited = self.asked.respond(self.under(edit))
            farthest = max(map(distance, plain, edited))
            expect(
                farthest > self.tolerance,
                f"another answer to some sample under {edit}",
                got=f"a difference of {farthest:.2g}",
                remedy="Change what the module returns: a hook that returns None changes nothing",
            )

    def test_leaves_the_model_as_it_was(self) -> None:
        """Trials after an edit are answered by the model as it is."""
        before = self.asked.respond(self.plain())
        for edit in self.edits:
            self.asked.respond(self.under(edit))
            self.expect_alike(
                before,
                self.asked.respond(self.plain()),
                f"the plain answers again after {edit}",
                "Remove every hook, and put back whatever else was changed",
            )

    def test_changes_nothing_when_it_is_empty(self) -> None:
        """An edit of nothing is the plain forward pass."""
        if self.nothing is None:
            raise NotApplicable(
                "asks about an edit that changes nothing: set `nothing`"
            )
        self.expect_alike(
            self.asked.respond(self.under(self.nothing)),
            self.asked.respond(self.plain()),
            f"the plain answers under {self.nothing}",
            "Let it change no more than its parameters say",
        )

    def test_does_not_leak_in_a_batch(self) -> None:
        """Trials of several edits go together as they go alone."""
        # an edit beside a plain trial and beside another one, whatever their number
        kinds = [None, *self.edits, self.nothing, None]
        by_edit = [self.under(edit) for edit in kinds]
        mixed = [trial for trials in zip(*by_edit, strict=True) for trial in trials]
        alone = [self.asked.respond([trial])[0] for trial in mixed]
        self.expect_alike(
            self.asked.respond(mixed),
            alone,
            "each trial of a batch answered under its own edit",
            "Keep nothing of one forward pass for the next",
        )

    def test_refuses_what_is_not_there(self) -> None:
        """A part that the model does not have would be an edit without effect, or a traceback."""
        if self.beyond is None:
            raise NotApplicable("asks about a part that is not there: set `beyond`")
        self.expect_refused(self.under(self.beyond)[0], f"{self.beyond}")


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

    def expect_same(
        self,
        numbers: Sequence[np.ndarray],
        others: Sequence[np.ndarray],
        expected: str,
        remedy: str,
    ) -> None:
        """Raise ContractViolation where two readings differ by more than rounding."""
        same = len(numbers) == len(others) and all(
            self.same(one, other) for one, other in zip(numbers, others, strict=True)
        )
        expect(same, expected, got="others", remedy=remedy)

    def same(self, numbers: np.ndarray, others: np.ndarray) -> bool:
        """True if two arrays are equal within rounding."""
        if np.shape(numbers) != np.shape(others):
            return False
        scale = max(1.0, float(np.abs(numbers).max(initial=0)))
        apart = np.abs(np.subtract(numbers, others, dtype=float)).max(initial=0)
        return bool(apart <= self.tolerance * scale)

    def test_imports_lightly(self) -> None:
        """Workers import the module of a readout by its name."""
        for cls in dict.fromkeys(map(type, self.readouts)):
            expect_light(cls)

    def test_travels_to_workers(self) -> None:
        """A readout is pickled, and name and fields are a part of the cache key."""
        expect_travels(self.readouts)

    def test_brings_finite_numbers_for_each_trial(self) -> None:
        """One array a trial, and none for no trial."""
        for readout in self.readouts:
            for trials in ([], self.of(readout)):
                arrays = self.read(readout, trials)
                finite = [
                    isinstance(array, np.ndarray) and bool(np.isfinite(array).all())
                    for array in arrays
                ]
                expect(
                    len(arrays) == len(trials) and all(finite),
                    f"{len(trials)} arrays of finite numbers",
                    got=f"{len(arrays)}, {finite.count(False)} of them not finite",
                    remedy="Return a numpy array for each trial, in order",
                )

    def test_accepts_what_it_reads_alone(self) -> None:
        """A cache holds anything under its key: what is not of this readout is asked again."""
        for readout in self.readouts:
            trials = self.of(readout)
            for array, trial in zip(self.read(readout, trials), trials, strict=True):
                expect(
                    readout.accepts(array, trial),
                    f"{readout} accepts what it reads",
                    got="refused",
                    remedy="`accepts` is about dtype, shape and range alone",
                )
                for other in (array[None], array.astype(np.complex64)):
                    expect(
                        not readout.accepts(other, trial),
                        f"{readout} accepts no other dtype or shape",
                        got=f"{other.dtype} of shape {other.shape}",
                        remedy='Declare `gives`, as Float32[np.ndarray, "row col"]',
                    )

    def test_reads_each_trial_by_itself(self) -> None:
        """Values of a trial do not depend on what was asked beside it."""
        for readout in self.readouts:
            trials = self.of(readout)
            alone = [self.read(readout, [trial])[0] for trial in trials]
            remedy = "Read trial by trial, or undo padding and keep the order"
            self.expect_same(self.read(readout, trials), alone, "as alone", remedy)
            turned = self.read(readout, trials[::-1])[::-1]
            self.expect_same(turned, alone, "numbers that follow their trials", remedy)

    def test_changes_no_answer(self) -> None:
        """A readout looks; what changes a model is an edit."""
        before = self.asked.respond(self.plain())
        for readout in self.readouts:
            self.read(readout, self.of(readout))
            self.expect_alike(
                before,
                self.asked.respond(self.plain()),
                f"the plain answers again after {readout}",
                "Remove every hook",
            )

    def test_reads_no_label(self) -> None:
        """Samples and edits alone decide: a label would make a finding of itself."""
        for readout in self.readouts:
            trials = self.of(readout)
            relabelled = [with_sample(trial, label=None) for trial in trials]
            other = [replace(trial, feature="another") for trial in relabelled]
            self.expect_same(
                self.read(readout, other),
                self.read(readout, trials),
                "the same numbers whatever the label and what a trial is for",
                "Read frames, question, choices and edit",
            )

    def test_sees_what_is_shown(self) -> None:
        """Other frames, other numbers."""
        if not self.sees:
            raise NotApplicable("asks about readouts that look at what is shown")
        for readout in self.readouts:
            first, *others = self.read(readout, self.of(readout))
            expect(
                any(not self.same(first, other) for other in others),
                f"other numbers for other samples from {readout}",
                got="the same for all",
                remedy="Read after the model has seen the sample; `sees = False` says it need not",
            )

    def test_refuses_what_is_not_there(self) -> None:
        """A part that the model does not have is a sentence."""
        if self.beyond is None:
            raise NotApplicable("asks about a part that is not there: set `beyond`")
        trials = self.of(self.beyond)
        with expect_error(
            UserError,
            f"a UserError for {self.beyond}",
            got="numbers",
            remedy="Raise UserError(problem, expected=...): `tower.block(layer)` does",
        ):
            self.read(self.beyond, trials[:1])
