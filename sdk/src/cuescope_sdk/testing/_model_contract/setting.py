"""A model under test, and what it is shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from jaxtyping import Bool, UInt8
from pydantic import BaseModel

from cuescope.spec import Spec
from cuescope_sdk import (
    Capabilities,
    Context,
    Edit,
    HideTokens,
    Model,
    Output,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_sdk.fusion import AverageAttention, AverageTokens
from cuescope_sdk.testing._contract import (
    Contract,
    ContractViolation,
    NotApplicable,
    PerClass,
    expect,
)
from cuescope_sdk.testing._fake_data import FakeDataset
from cuescope_sdk.testing._running import NAME, PluginShelf

TOLERANCE = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
V = TypeVar("V", bound=BaseModel)


def changed(value: V, **update: Any) -> V:
    """The same value with other fields."""
    return value.model_copy(update=update)


def with_choices(sample: Sample, choices: Sequence[str]) -> Sample:
    """The same sample with other choices, and nothing right among them."""
    return changed(sample, choices=tuple(choices), label=None)


def distance(one: Response, other: Response) -> float:
    """Largest difference, relative to the largest figure; infinite where outputs differ in kind."""
    if one.text != other.text:
        return float("inf")
    worst = 0.0
    for first, second in ((one.logits, other.logits), (one.embedding, other.embedding)):
        if first is None or second is None or first.shape != second.shape:
            if first is not second:
                return float("inf")
        elif len(first):
            scale = max(1.0, float(np.abs(first).max()))
            worst = max(worst, float(np.abs(first - second).max()) / scale)
    return worst


def noise_under(
    pixels: UInt8[np.ndarray, "height width 3"],
    mask: Bool[np.ndarray, "row col"],
    rng: np.random.Generator,
) -> UInt8[np.ndarray, "height width 3"]:
    """The pixels of a canvas with noise in the patches under a mask on its grid."""
    cell = [size // patches for size, patches in zip(pixels.shape, mask.shape, strict=False)]
    under = np.zeros(pixels.shape[:2], dtype=bool)
    tiled = np.kron(mask, np.ones(cell, dtype=bool))
    under[: tiled.shape[0], : tiled.shape[1]] = tiled
    noise = rng.integers(0, 256, pixels.shape, dtype=np.uint8)
    return np.where(under[..., None], noise, pixels)


def _hide(sample: Sample, grid: tuple[int, int], whole: bool) -> HideTokens:
    mask = np.zeros((len(sample.frames), *grid), dtype=bool)
    mask[:, : grid[0] // 2] = whole  # half of them: a model may need some token to answer
    return HideTokens.from_mask(mask)


def _average_attention(sample: Sample, grid: tuple[int, int], whole: bool) -> AverageAttention:
    return AverageAttention(quadrants=frozenset(("VV", "VT", "TV", "TT")) if whole else frozenset())


def _average_tokens(sample: Sample, grid: tuple[int, int], whole: bool) -> AverageTokens:
    return AverageTokens(modalities=frozenset(("video", "text")) if whole else frozenset())


EDITS: dict[str, Callable[[Sample, tuple[int, int], bool], Edit]] = {
    "hide-tokens": _hide,
    "average-attention": _average_attention,
    "average-tokens": _average_tokens,
}


# ----------------------------------------------------------------------------------------- setting


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


# --------------------------------------------------------------------------------------- declaring


class ModelDeclares(ModelSetting):
    """Capabilities, fingerprint, facts."""

    def test_declares_capabilities(self) -> None:
        """Pairs of method and model are refused before weights load, from the class alone."""
        declared = getattr(self.plugin, "capabilities", None)
        expect(
            isinstance(declared, Capabilities) and bool(declared.outputs),
            "a class attribute `capabilities = Capabilities(outputs=...)`",
            got=repr(declared),
            remedy="Declare which of logits, text and embedding the model can give",
        )

    def test_has_a_fingerprint(self) -> None:
        """The response cache tells models apart by it."""
        found = getattr(self.model, "fingerprint", None)
        expect(
            isinstance(found, str) and bool(found),
            "a fingerprint, some text",
            got=repr(found),
            remedy="Set self.fingerprint = digest(weights, preprocessing version)",
        )

    def test_has_the_same_fingerprint_when_built_again(self) -> None:
        """A fingerprint that changes from run to run makes every run start from nothing."""
        again = self.build()
        expect(
            self.model.fingerprint == again.fingerprint,
            "one fingerprint",
            got=f"{self.model.fingerprint}, then {again.fingerprint}",
            remedy="Digest content: weights and options, no ids, times or addresses",
        )

    def test_has_another_fingerprint_for_other_options(self) -> None:
        """Equal fingerprints give equal answers, or the cache replays the wrong ones."""
        if self.other_options is None:
            raise NotApplicable("needs `other_options` that change the answers")
        other = self.build(self.other_options)
        expect(
            other.fingerprint != self.model.fingerprint,
            "another fingerprint",
            got=f"the same for {dict(self.other_options)}",
            remedy="Let every option that changes an answer enter the fingerprint",
        )

    def test_states_facts_in_words(self) -> None:
        """Facts are printed at the head of a report."""
        facts = getattr(self.model, "facts", None)
        expect(
            isinstance(facts, Mapping)
            and all(isinstance(word, str) for pair in facts.items() for word in pair),
            "`facts`, text by text",
            got=repr(facts),
            remedy="Set self.facts = {'validation accuracy': '0.93'}, or {}",
        )
