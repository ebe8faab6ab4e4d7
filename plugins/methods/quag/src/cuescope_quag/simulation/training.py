"""Training of the simulation's transformer, and its error with and without a short-circuit.

Trainings run in processes of their own; the errors of one are stored, and it never runs again.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR

from cuescope_quag.simulation.data import Coupled, couple_variables
from cuescope_quag.simulation.network import (
    Dropout,
    Sizes,
    Weights,
    initial_weights,
    modalities,
    predict,
)
from cuescope_sdk import Context, derive
from cuescope_sdk.fusion import AverageAttention
from cuescope_sdk.torch import Fusion
from cuescope_sdk.workers import KeptJobs

VERSION = 1  # part of the key: raise it when an equal training gives other errors
CHUNK = 512  # samples at once where nothing is trained
CROSSMODAL = AverageAttention(quadrants=frozenset({"VT", "TV"}))
UNIMODAL = AverageAttention(quadrants=frozenset({"VV", "TT"}))


@dataclass(frozen=True)
class Schedule:
    """Samples of each split, and how Adam goes through them.

    `one_cycle` warms the learning rate up over a tenth of the steps and lets it fall to zero.
    """

    train: int
    val: int
    test: int
    epochs: int
    batch: int
    learning_rate: float
    one_cycle: bool
    dropout: float
    sizes: Sizes = field(default_factory=Sizes)


# appendix A.5, which gives no rate of dropout
FULL = Schedule(24_000, 8_000, 8_000, 2_000, 1024, 0.001, one_cycle=False, dropout=0.1)
# Few samples, each seen a few times, leave nothing for dropout to do; small batches and a high
# peak of the learning rate find the paired token within some hundred steps.
QUICK = Schedule(3_072, 512, 2_048, 4, 16, 0.004, one_cycle=True, dropout=0.0)


@dataclass(frozen=True)
class Errors:
    """Mean squared errors on the test split: of the model as trained, and short-circuited."""

    plain: float
    crossmodal: float
    unimodal: float


def train_and_test(alpha: float, schedule: Schedule, seed: int, device: str) -> Errors:
    """Train on data of this coupling, then ask the model with its attention averaged.

    A seed has the same draws at every alpha: what differs is how the modalities are mixed.
    """
    generator = torch.Generator().manual_seed(derive(seed, "data"))
    train = couple_variables(alpha, schedule.train, generator).to(device)
    val = couple_variables(alpha, schedule.val, generator).to(device)
    test = couple_variables(alpha, schedule.test, generator).to(device)
    weights = fit(schedule, train, val, seed)
    error = partial(mean_squared_error, weights, schedule.sizes, test)
    return Errors(plain=error(), crossmodal=error(CROSSMODAL), unimodal=error(UNIMODAL))


def fit(schedule: Schedule, train: Coupled, val: Coupled, seed: int) -> Weights:
    """The weights of the epoch with the lowest validation error."""
    device = train.tokens.device
    # drawn on the CPU, so that a seed starts alike on every device
    initial = initial_weights(
        schedule.sizes, torch.Generator().manual_seed(derive(seed, "init"))
    )
    weights = {
        name: tensor.to(device).requires_grad_() for name, tensor in initial.items()
    }
    order = torch.Generator().manual_seed(derive(seed, "order"))
    noise = torch.Generator(device).manual_seed(derive(seed, "dropout"))
    dropout = Dropout(schedule.dropout, noise) if schedule.dropout else None
    optimiser = torch.optim.Adam(weights.values(), lr=schedule.learning_rate)
    pace = _one_cycle(optimiser, schedule) if schedule.one_cycle else None
    # So many epochs may overfit, and then the last weights are not the best.
    best = weights
    lowest = float("inf")
    for _ in range(schedule.epochs):
        shuffled = torch.randperm(schedule.train, generator=order).to(device)
        for rows in torch.split(shuffled, schedule.batch):
            predictions = predict(weights, schedule.sizes, train.tokens[rows], dropout)
            optimiser.zero_grad()
            _squared_error(predictions, train.target[rows]).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            # the rate changes with each batch, not with each epoch
            if pace is not None:
                pace.step()
        error = mean_squared_error(weights, schedule.sizes, val)
        if error < lowest:
            lowest = error
            best = {name: tensor.detach().clone() for name, tensor in weights.items()}
    return best


def mean_squared_error(
    weights: Weights,
    sizes: Sizes,
    data: Coupled,
    edit: AverageAttention | None = None,
) -> float:
    """With `edit` in every layer."""
    predictions = []
    with torch.inference_mode():
        for tokens in torch.split(data.tokens, CHUNK):
            with Fusion(modalities(len(tokens)).to(tokens.device), edit).use():
                predictions.append(predict(weights, sizes, tokens))
    # over all at once: a short last chunk must not weigh as much as others
    return _squared_error(torch.cat(predictions), data.target).item()


def _one_cycle(optimiser: torch.optim.Optimizer, schedule: Schedule) -> LRScheduler:
    return OneCycleLR(
        optimiser,
        max_lr=schedule.learning_rate,
        epochs=schedule.epochs,
        # rounded up, for a short last batch is a step too
        steps_per_epoch=-(-schedule.train // schedule.batch),
        pct_start=0.1,
        cycle_momentum=False,  # else it would change Adam's beta1 too
    )


def _squared_error(
    predictions: Float[Tensor, "sample token"], target: Float[Tensor, "sample token"]
) -> Float[Tensor, ""]:
    return (predictions - target).square().mean()


# ------------------------------------------------------------------------------ many trainings


@dataclass(frozen=True)
class Training:
    """One model: the coupling of its data, and which of the seeds it has."""

    alpha: float
    number: int


@dataclass(frozen=True)
class Runs:
    """Where and how trainings are run."""

    schedule: Schedule
    folder: Path
    seed: int
    device: str
    workers: int

    def errors(
        self,
        trainings: Sequence[Training],
        context: Context,
    ) -> dict[Training, Errors]:
        """Test errors of each training; what is kept of an earlier run is not trained again."""
        names = {}
        jobs: dict[str, partial[Any]] = {}
        for training in trainings:
            # without alpha: a seed draws the same at every coupling
            seed = derive(self.seed, "quag simulation", str(training.number))
            name = f"alpha {training.alpha!r} seed {seed}"
            names[training] = name
            jobs[name] = partial(
                train_on_one_thread, training.alpha, self.schedule, seed, self.device
            )
        # results of another schedule must not be read for these
        kept = KeptJobs(self.folder, [VERSION, asdict(self.schedule)], self.workers)
        results = kept.run(jobs, context, "trainings")
        return {training: Errors(**results[name]) for training, name in names.items()}


def train_on_one_thread(
    alpha: float,
    schedule: Schedule,
    seed: int,
    device: str,
) -> dict[str, float]:
    """The errors as plain JSON, the same for any number of workers."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more of them add numbers in another order
    try:
        return asdict(train_and_test(alpha, schedule, seed, device))
    # a single worker is this process, in which others need their threads again
    finally:
        torch.set_num_threads(threads)
