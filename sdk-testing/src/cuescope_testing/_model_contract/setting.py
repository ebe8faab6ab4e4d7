"""A model under test, and what it is shown."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from jaxtyping import Bool, UInt8

from cuescope_sdk import (
    Capabilities,
    Context,
    Model,
    Output,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_testing._contract import (
    FingerprintedContract,
    NotApplicable,
    PerClass,
    ShownContract,
    expect,
    expect_error,
)

# a few of the last digits that each dtype holds: batches add up in another order
TOLERANCE = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}


def with_choices(sample: Sample, choices: Sequence[str]) -> Sample:
    """The same sample with other choices, and nothing right among them."""
    return replace(sample, choices=tuple(choices), label=None)


def distance(response: Response, other: Response) -> float:
    """Largest difference, relative to the largest figure; infinite where outputs differ in kind."""
    # texts have no distance
    if response.text != other.text:
        return float("inf")
    logits = _vector_distance(response.logits, other.logits)
    return max(logits, _vector_distance(response.embedding, other.embedding))


def _vector_distance(vector: np.ndarray | None, other: np.ndarray | None) -> float:
    if vector is None and other is None:
        return 0.0
    # an output that is there once and gone once is no small difference
    if vector is None or other is None or vector.shape != other.shape:
        return float("inf")
    # no number is near to NaN, and max() would pass over it
    if not np.isfinite([vector, other]).all():
        return float("inf")
    # 1 at least, or rounding of what is all but 0 would count
    scale = np.abs(vector).max(initial=1.0)
    return float(np.abs(vector - other).max(initial=0.0) / scale)


def are_units(rows: np.ndarray, count: int, tolerance: float) -> bool:
    """True if there are so many rows (row, dim) of length 1."""
    norms = np.linalg.norm(rows, axis=-1)
    return norms.shape == (count,) and np.allclose(norms, 1, atol=tolerance)


def noise_under(
    pixels: UInt8[np.ndarray, "height width 3"],
    mask: Bool[np.ndarray, "row col"],
    rng: np.random.Generator,
) -> UInt8[np.ndarray, "height width 3"]:
    """The pixels of a canvas with noise in the patches under a mask on its grid."""
    height, width, _ = pixels.shape
    rows, cols = mask.shape
    tiled = mask.repeat(height // rows, axis=0).repeat(width // cols, axis=1)
    # a canvas may have a rim that no whole patch covers
    under = np.zeros((height, width), dtype=bool)
    under[: tiled.shape[0], : tiled.shape[1]] = tiled
    noise = rng.integers(0, 256, pixels.shape, dtype=np.uint8)
    return np.where(under[..., None], noise, pixels)


# ----------------------------------------------------------------------------------------- setting


class ModelSetting(ShownContract, FingerprintedContract):
    """A model under test, shown the first `count` samples of `data`.

    `other_options` change its answers; `token_grid` (row, col) is a mask that its edits take.
    """

    kind = "model"
    token_grid: ClassVar[tuple[int, int]] = (4, 4)
    count: ClassVar[int] = 12

    model: PerClass[Model] = PerClass(lambda contract: contract.built.of(contract))

    @classmethod
    def context(cls) -> Context:
        """As for any plugin, with the data set that the model is asked about."""
        return super().context().for_dataset(cls.dataset())

    @classmethod
    def first_samples(cls) -> tuple[Sample, ...]:
        """Samples for the model, within the frames that it takes."""
        most = cls.plugin.capabilities.max_frames
        samples = super().first_samples()
        if not most:
            return samples
        # more than it takes is refused, which a check of its own asks about
        return tuple(
            sample.with_frames(sample.frames[:most], "start") for sample in samples
        )

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities that it declares."""
        return cast(Capabilities, self.plugin.capabilities)

    def trials(self, **changes: Any) -> list[Trial]:
        """A trial a sample, asking for every declared output."""
        wanted: dict[str, Any] = {"outputs": self.capabilities.outputs, **changes}
        return [Trial(sample=sample, **wanted) for sample in self.samples]

    def exercise(self) -> None:
        """Build the model and ask it."""
        self.build().respond(self.trials()[:2])

    def exposing(self, part: str) -> Any:
        """The model; raises NotApplicable where it does not expose this part."""
        if part not in self.capabilities.exposes:
            raise NotApplicable(f"asks about {part}, which this model does not expose")
        return self.model

    def needs(self, output: Output) -> None:
        """Raise NotApplicable where the output is not declared."""
        if output not in self.capabilities.outputs:
            raise NotApplicable(
                f"asks about {output}, which this model does not declare"
            )

    def refuses(self, trial: Trial, what: str, *, declared: bool = False) -> None:
        """Raise ContractViolation unless the trial is refused with a UserError.

        What is told by what is `declared`, a model that checks trials beforehand refuses then.
        """
        refusing: list[Callable[[list[Trial]], Any]] = [self.model.respond]
        if declared and hasattr(self.model, "require_answerable"):
            refusing.append(self.model.require_answerable)
        for refuse in refusing:
            with expect_error(UserError, f"a UserError for {what}"):
                refuse([trial])

    def expect_near(
        self, answers: Sequence[Response], others: Sequence[Response], expected: str
    ) -> None:
        """Raise ContractViolation where answers differ by more than the tolerance of the dtype."""
        worst = max(map(distance, answers, others))
        near = worst <= TOLERANCE[self.dtype]
        expect(near, expected, got=f"a difference of {worst:.2g}")

    def expect_as_alone(self, trials: Sequence[Trial], expected: str) -> None:
        """Raise ContractViolation where a batch is answered otherwise than trial by trial."""
        # a batch of one has neither padding nor neighbours
        alone = [self.model.respond([trial])[0] for trial in trials]
        self.expect_near(self.model.respond(trials), alone, expected)
