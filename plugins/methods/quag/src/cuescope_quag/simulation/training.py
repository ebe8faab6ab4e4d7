"""Training of the simulation's transformer, and its error with and without a short-circuit."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR

from cuescope_quag.simulation.data import Coupled, coupled
from cuescope_quag.simulation.network import (
    Dropout,
    Sizes,
    Weights,
    initial_weights,
    modalities,
    predict,
)
from cuescope_sdk import derive
from cuescope_sdk.fusion import AverageAttention
from cuescope_sdk.torch import Fusion, use_fusion

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


def trained_errors(alpha: float, schedule: Schedule, seed: int, device: str) -> Errors:
    """Train on data of this coupling, then ask the model with its attention averaged.

    A seed has the same draws at every alpha: what differs is how the modalities are mixed.
    """
    drawn = torch.Generator().manual_seed(derive(seed, "data"))
    train, val, test = (
        coupled(alpha, samples, drawn).to(device)
        for samples in (schedule.train, schedule.val, schedule.test)
    )
    weights = fit(schedule, train, val, seed)
    plain, crossmodal, unimodal = (
        mean_squared_error(weights, schedule.sizes, test, edit)
        for edit in (None, CROSSMODAL, UNIMODAL)
    )
    return Errors(plain, crossmodal, unimodal)


def fit(schedule: Schedule, train: Coupled, val: Coupled, seed: int) -> Weights:
    """The weights of the epoch with the lowest validation error."""
    device = train.tokens.device
    initial = initial_weights(schedule.sizes, torch.Generator().manual_seed(derive(seed, "init")))
    weights = {name: tensor.to(device).requires_grad_() for name, tensor in initial.items()}
    order = torch.Generator().manual_seed(derive(seed, "order"))
    noise = torch.Generator(device).manual_seed(derive(seed, "dropout"))
    dropout = Dropout(schedule.dropout, noise) if schedule.dropout else None
    optimiser = torch.optim.Adam(weights.values(), lr=schedule.learning_rate)
    pace = _one_cycle(optimiser, schedule) if schedule.one_cycle else None
    best, lowest = weights, float("inf")
    for _ in range(schedule.epochs):
        shuffled = torch.randperm(schedule.train, generator=order).to(device)
        for rows in torch.split(shuffled, schedule.batch):
            said = predict(weights, schedule.sizes, train.tokens[rows], dropout)
            optimiser.zero_grad()
            _squared(said, train.target[rows]).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            if pace is not None:
                pace.step()
        if (error := mean_squared_error(weights, schedule.sizes, val)) < lowest:
            best, lowest = {name: w.detach().clone() for name, w in weights.items()}, error
    return best


def mean_squared_error(
    weights: Weights, sizes: Sizes, data: Coupled, edit: AverageAttention | None = None
) -> float:
    """With `edit` in every layer."""
    said = []
    with torch.inference_mode():
        for tokens in torch.split(data.tokens, CHUNK):
            with use_fusion(Fusion(modalities(len(tokens)).to(tokens.device), edit)):
                said.append(predict(weights, sizes, tokens))
    return _squared(torch.cat(said), data.target).item()


def _one_cycle(optimiser: torch.optim.Optimizer, schedule: Schedule) -> LRScheduler:
    return OneCycleLR(
        optimiser,
        max_lr=schedule.learning_rate,
        epochs=schedule.epochs,
        steps_per_epoch=-(-schedule.train // schedule.batch),
        pct_start=0.1,
        cycle_momentum=False,
    )


def _squared(
    said: Float[Tensor, "sample token"], target: Float[Tensor, "sample token"]
) -> Float[Tensor, ""]:
    return (said - target).square().mean()
