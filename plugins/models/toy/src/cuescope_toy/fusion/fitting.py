"""Training to answer, with early stopping."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LambdaLR

from cuescope_toy.fitting import Fit
from cuescope_toy.fusion.network import Sizes, answer, initial_weights
from cuescope_toy.fusion.reading import Shown
from cuescope_toy.network import Weights, standardising

WARM_UP = 0.1  # share of the steps over which the learning rate rises
CHUNK = 512  # samples of the validation split at a time
# Of the first weights, where frames are cut into patches. Narrow ones make a token attend to all
# others alike; it then takes thousands of steps until a word and the patch it means meet.
PATCH_SPREAD = 2.5


@dataclass(frozen=True)
class Recipe:
    """How to train."""

    positions: bool
    learning_rate: float
    weight_decay: float
    batch_size: int
    epochs: int
    patience: int
    enough: float


@dataclass(frozen=True, eq=False)
class Split:
    """Samples with the features of their frames, and the number of the right answer.

    An answer that was never trained on has the number -1.
    """

    shown: Shown
    features: Float[Tensor, "distinct patch feature"]
    label: Int[Tensor, " sample"]


def fit(
    train: Split,
    val: Split,
    sizes: Sizes,
    recipe: Recipe,
    generator: torch.Generator,
    advance: Callable[[int], None],
) -> Fit:
    """Train until validation accuracy is `enough`, or `patience` epochs have not lowered its loss.

    Keeps the weights of the lowest validation loss. The learning rate follows `rate`.
    `advance` is called with 1 after each epoch.
    """
    seen = train.shown.index[train.shown.index >= 0]
    times = torch.bincount(seen, minlength=len(train.features)).float()
    patches = train.features.shape[1]
    fixed = standardising(train.features.flatten(0, 1), times.repeat_interleave(patches))
    trained = initial_weights(sizes, generator, PATCH_SPREAD if patches > 1 else 1.0)
    weights = {**fixed, **trained}
    optimiser = torch.optim.AdamW(
        [weight.requires_grad_() for weight in trained.values()],
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    steps = recipe.epochs * math.ceil(len(train.label) / recipe.batch_size)
    schedule = LambdaLR(optimiser, lambda step: rate((step + 0.5) / steps))
    best, lowest, epoch, accuracy = Fit(_copy(weights), 0.0, 0, 0), float("inf"), 0, 0.0
    while _goes_on(recipe, epoch, epoch - best.epoch, accuracy):
        order = torch.randperm(len(train.label), generator=generator)
        for batch in torch.split(order, recipe.batch_size):
            asked = train.shown.batch(train.features, batch)
            logits = answer(weights, asked, positions=recipe.positions)
            loss = cross_entropy(logits, train.label[batch])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
        epoch += 1
        advance(1)
        held_out, accuracy = evaluate(weights, val, recipe.positions)
        if held_out < lowest:
            lowest, best = held_out, Fit(_copy(weights), accuracy, epoch, epoch)
    return Fit(best.weights, best.accuracy, best.epoch, epoch)


def _goes_on(recipe: Recipe, epoch: int, waited: int, accuracy: float) -> bool:
    return epoch < recipe.epochs and waited < recipe.patience and accuracy < recipe.enough


def rate(done: float) -> float:
    """Share of the learning rate when this share of all steps is done: up, then down to 0."""
    return min(done / WARM_UP, (1 - done) / (1 - WARM_UP))


def evaluate(weights: Weights, split: Split, positions: bool) -> tuple[float, float]:
    """Loss of the known answers, and the share of right ones, over all samples."""
    samples = torch.arange(len(split.label))
    with torch.no_grad():
        logits = torch.cat(
            [
                answer(weights, split.shown.batch(split.features, batch), positions=positions)
                for batch in torch.split(samples, CHUNK)
            ]
        )
    known = split.label >= 0
    loss = cross_entropy(logits[known], split.label[known], reduction="sum") / len(samples)
    return loss.item(), (logits.argmax(dim=1) == split.label).double().mean().item()


def _copy(weights: Weights) -> Weights:
    return {name: weight.detach().clone() for name, weight in weights.items()}
