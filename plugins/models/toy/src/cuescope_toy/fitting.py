"""Contrastive training with early stopping (TRoVe, appendix A)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from cuescope_toy.network import Sizes, Weights, embed, initial_weights, standardise, standardising


@dataclass(frozen=True)
class Recipe:
    """How to train."""

    temperature: float
    learning_rate: float
    weight_decay: float
    batch_size: int
    epochs: int
    patience: int


@dataclass(frozen=True, eq=False)
class Split:
    """Features of the distinct frames; for each sequence its frames and its label, as indices."""

    features: Float[Tensor, "distinct feature"]
    index: Int[Tensor, "sample frame"]
    label: Int[Tensor, " sample"]

    def clips(self, samples: Int[Tensor, " batch"]) -> Float[Tensor, "batch frame feature"]:
        """Features of these sequences."""
        return self.features[self.index[samples]]

    def standardised(self, weights: Weights) -> "Split":
        """The split as the network takes it in."""
        return replace(self, features=standardise(weights, self.features))


@dataclass(frozen=True)
class Fit:
    """The best weights, their accuracy on the validation split, and when they were reached.

    `epoch` of `epochs` run counts from 1.
    """

    weights: Weights
    accuracy: float
    epoch: int
    epochs: int


def contrastive_loss(
    embeddings: Float[Tensor, "sample dim"],
    texts: Float[Tensor, "class dim"],
    label: Int[Tensor, " sample"],
    temperature: float,
) -> Float[Tensor, ""]:
    """Cross-entropy of cosines over temperature against the distinct texts.

    Deviates from CLIP's loss: a text stands once, not once for each of its sequences in the
    batch. With four texts and batches of 256 these copies would be false negatives.
    """
    return cross_entropy(embeddings @ texts.T / temperature, label)


def fit(
    train: Split,
    val: Split,
    texts: Float[Tensor, "class dim"],
    sizes: Sizes,
    recipe: Recipe,
    generator: torch.Generator,
    advance: Callable[[int], None],
) -> Fit:
    """Train until the validation loss has not fallen for `patience` epochs; the best weights.

    `advance` is called with 1 after each epoch.
    """
    shown = torch.bincount(train.index.flatten(), minlength=len(train.features))
    fixed = standardising(train.features, shown.float())
    train, val = train.standardised(fixed), val.standardised(fixed)
    trained = initial_weights(sizes, generator)
    optimiser = torch.optim.AdamW(
        [weight.requires_grad_() for weight in trained.values()],
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    weights = {**fixed, **trained}
    best, lowest, epoch = Fit(weights, 0.0, 0, 0), float("inf"), 0
    while epoch < recipe.epochs and epoch - best.epoch < recipe.patience:
        order = torch.randperm(len(train.label), generator=generator)
        for batch in torch.split(order, recipe.batch_size):
            embeddings = embed(weights, train.clips(batch))
            loss = contrastive_loss(embeddings, texts, train.label[batch], recipe.temperature)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        epoch += 1
        advance(1)
        held_out, accuracy = evaluate(weights, val, texts, recipe.temperature)
        if held_out < lowest:
            lowest, best = held_out, Fit(_copy(weights), accuracy, epoch, epoch)
    return Fit(best.weights, best.accuracy, best.epoch, epoch)


def evaluate(
    weights: Weights, split: Split, texts: Float[Tensor, "class dim"], temperature: float
) -> tuple[float, float]:
    """Loss and accuracy on a standardised split."""
    with torch.no_grad():
        embeddings = embed(weights, split.features[split.index])
        loss = contrastive_loss(embeddings, texts, split.label, temperature)
        correct = (embeddings @ texts.T).argmax(dim=1) == split.label
    return loss.item(), correct.double().mean().item()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch's CPU kernels on one thread.

    Sums then do not depend on how many cores a machine has, and so neither do the trained
    weights. At this size it is no slower: a second thread mostly waits for the first.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _copy(weights: Weights) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in weights.items()}
