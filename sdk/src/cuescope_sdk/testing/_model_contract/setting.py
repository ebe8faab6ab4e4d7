"""A model under test, and what it is shown."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from cuescope.spec import Spec
from cuescope_sdk import Capabilities, Context, Model, Output, Response, Sample, Trial, UserError
from cuescope_sdk.testing._contract import Contract, PerClass
from cuescope_sdk.testing._fake_data import FakeDataset
from cuescope_sdk.testing._model_contract.comparing import EDITS, TOLERANCE, changed, distance
from cuescope_sdk.testing._running import NAME
from cuescope_sdk.testing._shelf import PluginShelf
from cuescope_sdk.testing._violation import ContractViolation, NotApplicable, expect


class ModelSetting(Contract):
    """A model under test, shown the first `count` samples of `data`.

    `other_options` change its answers; `token_grid` (row, col) is a mask that its edits take.
    """

    kind = "model"
    data: ClassVar[type[Any]] = FakeDataset
    data_options: ClassVar[Mapping[str, Any]] = {}
    other_options: ClassVar[Mapping[str, Any] | None] = None
    token_grid: ClassVar[tuple[int, int]] = (4, 4)
    count: ClassVar[int] = 12

    @classmethod
    def context(cls) -> Context:
        """As for any plugin, with the data set that the model is asked about."""
        context = super().context()
        registry = PluginShelf(
            {("model", NAME): cls.plugin, ("dataset", NAME): cls.data}, installed=True
        )
        data = Context(registry, context.cache).build("dataset", Spec(NAME), cls.data_options)
        return Context(registry, context.cache, device=cls.device, dtype=cls.dtype, dataset=data)

    model: PerClass[Model] = PerClass(lambda contract: contract.build())
    samples: PerClass[tuple[Sample, ...]] = PerClass(lambda contract: contract.shown())

    @classmethod
    def shown(cls) -> tuple[Sample, ...]:
        """What it is shown, within the frames that it takes."""
        data, most = cls.context().dataset, cls.plugin.capabilities.max_frames
        if data is None:
            raise RuntimeError("the context of a model has a data set")
        samples = [data[index] for index in range(min(cls.count, len(data)))]
        return tuple(s.with_frames(s.frames[:most], "start") if most else s for s in samples)

    @property
    def capabilities(self) -> Capabilities:
        """What it declares."""
        return cast(Capabilities, self.plugin.capabilities)

    def trials(self, **changes: Any) -> list[Trial]:
        """A trial a sample, asking for every declared output."""
        wanted: dict[str, Any] = {"outputs": self.capabilities.outputs, **changes}
        return [Trial(sample=sample, **wanted) for sample in self.samples]

    def alike(self, one: Response, other: Response) -> bool:
        """Whether two responses say the same, within the tolerance of the dtype."""
        return distance(one, other) <= TOLERANCE[self.dtype]

    def exercise(self) -> None:
        """Build the model and ask it."""
        self.build().respond(self.trials()[:2])

    def answers_stay(self, change: Callable[[Trial], Trial], what: str) -> None:
        """Raise ContractViolation where changing what a model must not read changes an answer."""
        trials = self.trials()
        plain = self.model.respond(trials)
        changed = self.model.respond([change(trial) for trial in trials])
        expect(
            all(map(self.alike, plain, changed)),
            f"the same answers whatever the {what}",
            got="other answers",
            remedy=f"Read the frames, question and choices of the sample, and never its {what}",
        )

    def needs(self, output: Output) -> None:
        """Raise NotApplicable where the output is not declared."""
        if output not in self.capabilities.outputs:
            raise NotApplicable(f"asks about {output}, which this model does not declare")

    def needs_edits(self) -> None:
        """Raise NotApplicable where no edit is declared."""
        if not self.capabilities.edits:
            raise NotApplicable("asks about edits, and none is declared")

    def edited(self, kind: str, *, whole: bool) -> list[Response]:
        """The answers under an edit of everything, or of nothing."""
        trials = [
            changed(trial, edit=EDITS[kind](trial.sample, self.token_grid, whole))
            for trial in self.trials()
        ]
        return self.model.respond(trials)

    def refuses(self, trial: Trial, what: str) -> None:
        """Raise ContractViolation unless the trial is refused with a UserError."""
        try:
            self.model.respond([trial])
        except UserError:
            return
        except Exception as error:
            raise ContractViolation(
                f"a UserError for {what}",
                got=repr(error),
                remedy="Raise UserError(problem, expected=..., got=...)",
            ) from error
        raise ContractViolation(
            f"a UserError for {what}",
            got="an answer",
            remedy="Refuse what `capabilities` does not declare",
        )
