"""Contrastive training with early stopping (TRoVe, appendix A), from a data set to weights."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LambdaLR

from cuescope_sdk import Context, Dataset, Frame, Sample, UserError, derive
from cuescope_sdk.report import count_of
from cuescope_toy.encoders import FrameFeatures, number_frames
from cuescope_toy.loading import Checkpoint, Weights
from cuescope_toy.network import (
    embed,
    initial_weights,
    input_layer,
    layer_shapes,
    standardise,
)
from cuescope_toy.options import TEMPERATURE, ToyFusionOptions, ToyOptions

Loss = Float[Tensor, ""]
Texts = Float[Tensor, "class dim"]
Indices = Int[Tensor, " batch"]
Labels = Int[Tensor, " sample"]
LossAndAccuracy = tuple[float, float]
BATCH = 256  # sequences (TRoVe, appendix A)
PATIENCE = 10  # passes without a better validation loss
Advance = Callable[[int], None]  # of a progress bar

# ---------------------------------------------------------------------------------- data as arrays


@dataclass(frozen=True, eq=False)
class Sequences:
    """Distinct frames; for each sequence the index of its frames and of its label."""

    frames: tuple[Frame, ...]
    index: Int[np.ndarray, "sample frame"]
    label: Int[np.ndarray, " sample"]


def read_samples(dataset: Dataset) -> list[Sample]:
    return [dataset[index] for index in range(len(dataset))]


def read_sequences(dataset: Dataset) -> Sequences:
    """Every labelled sequence of a data set; raises UserError where they cannot be trained on."""
    samples = read_samples(dataset)
    first = samples[0]
    for sample in samples:
        if len(sample.frames) != len(first.frames):
            raise UserError(
                f"toy: sample '{sample.key}' has another length than '{first.key}'",
                expected=f"{count_of(len(first.frames), 'frames')} in every sequence",
                got=f"{len(sample.frames)}",
                remedy="Sample the same number of frames from each clip (folder: -O "
                "data.frames=8).",
            )
    frames, index = number_frames([sample.frames for sample in samples])
    labels = [label_index("toy", sample, dataset.labels) for sample in samples]
    return Sequences(frames, np.array(index), np.array(labels))


def frame_positions(frames: str, length: int) -> tuple[int, ...]:
    """The frame positions that a model with the option `frames` sees."""
    if frames == "all":
        return tuple(range(length))
    return (0,) if frames == "first" else (length // 2,)


def label_index(owner: str, sample: Sample, labels: Sequence[str]) -> int:
    """The number of a sample's label; raises UserError where it has none of the data set's."""
    if sample.label in labels:
        return labels.index(sample.label)
    got = "no label" if sample.label is None else f"'{sample.label}'"
    raise untrainable(owner, sample, "a label of the data set", got)


def untrainable(owner: str, sample: Sample, expected: str, got: str) -> UserError:
    return UserError(
        f"{owner}: sample '{sample.key}' cannot be trained on",
        expected=expected,
        got=got,
    )


@dataclass(frozen=True, eq=False)
class EncodedSplit:
    """Features of the distinct frames; for each sequence its frames and its label, as indices."""

    features: Float[Tensor, "distinct feature"]
    index: Int[Tensor, "sample frame"]
    label: Labels

    def standardise(self, weights: Weights) -> "EncodedSplit":
        return replace(self, features=standardise(weights, self.features))


def encode_split(
    sequences: Sequences,
    options: ToyOptions,
    features: FrameFeatures,
    description: str,
) -> EncodedSplit:
    """Features of the frames that the model sees, each encoded once."""
    length = sequences.index.shape[1]
    positions = frame_positions(options.frames, length)
    seen = sequences.index[:, positions]
    # of what is seen alone: a frame that the option leaves out is not encoded
    numbers, index = np.unique(seen, return_inverse=True)
    frames = [sequences.frames[number] for number in numbers]
    rows = features.of_frames(frames, description)
    return EncodedSplit(
        torch.from_numpy(rows),
        # numpy 2.0 gave the inverse the shape of its input, and other versions a flat one.
        torch.from_numpy(index.reshape(seen.shape)),
        torch.from_numpy(sequences.label),
    )


# -------------------------------------------------------------------------------------- fitting


@dataclass(frozen=True)
class Fit:
    """Trained weights, their accuracy, and when they were reached.

    `best_epoch` of `epochs` run counts from 1.
    """

    weights: Weights
    accuracy: float
    best_epoch: int
    epochs: int


def contrastive_loss(
    embeddings: Float[Tensor, "sample dim"],
    texts: Texts,
    label: Labels,
    temperature: float = TEMPERATURE,
) -> Loss:
    """Cross-entropy of cosines over temperature against the distinct texts.

    Deviates from CLIP's loss: a text stands once, not once for each of its sequences in the
    batch. With four texts and batches of 256 these copies would be false negatives.
    """
    return cross_entropy(embeddings @ texts.T / temperature, label)


def fit(
    train: EncodedSplit,
    val: EncodedSplit,
    texts: Texts,
    options: ToyOptions,
    generator: torch.Generator,
    advance: Advance,
) -> Fit:
    """Train as `descend` does, on standardised features."""
    shown = torch.bincount(train.index.flatten(), minlength=len(train.features))
    fixed = input_layer(train.features, shown.float())
    train = train.standardise(fixed)
    # through the layer of train, as any later answer
    val = val.standardise(fixed)
    frames = train.index.shape[1]
    feature = train.features.shape[1]
    shapes = layer_shapes(frames, feature, dim=texts.shape[1])

    def batch_loss(weights: Weights, batch: Indices) -> Tensor:
        clips = train.index[batch]
        embeddings = embed(weights, train.features[clips])
        return contrastive_loss(embeddings, texts, train.label[batch])

    def validate(weights: Weights) -> LossAndAccuracy:
        return evaluate(weights, val, texts)

    return descend(
        fixed,
        initial_weights(shapes, generator),
        len(train.label),
        batch_loss,
        validate,
        options,
        generator,
        advance,
        batch_size=BATCH,
        patience=PATIENCE,
    )


def descend(
    fixed: Weights,
    trainable: Weights,
    samples: int,
    batch_loss: Callable[[Weights, Indices], Loss],
    evaluate: Callable[[Weights], LossAndAccuracy],
    options: ToyOptions | ToyFusionOptions,
    generator: torch.Generator,
    advance: Advance,
    *,
    batch_size: int,
    patience: int,
    weight_decay: float = 0.0,
    learning_rate_share: Callable[[float], float] = lambda done: 1.0,
    enough: float = math.inf,
) -> Fit:
    """AdamW with early stopping; the weights of the lowest validation loss.

    `evaluate` gives loss and accuracy on the validation split: training stops where the accuracy
    is `enough`, or where `patience` epochs have not lowered the loss. `learning_rate_share` is of
    the share of all steps that is done. `advance` is called with 1 after each epoch.
    """
    weights = {**fixed, **trainable}
    for weight in trainable.values():
        weight.requires_grad_()
    optimiser = torch.optim.AdamW(
        trainable.values(),
        lr=options.learning_rate,
        weight_decay=weight_decay,
    )
    # of all epochs: where training stops early, a falling rate has not reached 0
    steps = options.epochs * math.ceil(samples / batch_size)
    # In the middle of a step, so that neither the first nor the last has a rate of 0.
    schedule = LambdaLR(
        optimiser, lambda step: learning_rate_share((step + 0.5) / steps)
    )
    lowest = math.inf
    # stays where every loss is NaN, for NaN is below nothing
    best = Fit(weights, accuracy=0.0, best_epoch=0, epochs=0)
    for epoch in range(1, options.epochs + 1):
        order = torch.randperm(samples, generator=generator)
        for batch in torch.split(order, batch_size):
            loss = batch_loss(weights, batch)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
        advance(1)
        val_loss, accuracy = evaluate(weights)
        if val_loss < lowest:
            lowest = val_loss
            # The optimiser goes on changing these tensors in place: the best ones are copied.
            copies = {name: tensor.detach().clone() for name, tensor in weights.items()}
            best = Fit(copies, accuracy, best_epoch=epoch, epochs=epoch)
        out_of_patience = epoch - best.best_epoch >= patience
        if out_of_patience or accuracy >= enough:
            break
    return replace(best, epochs=epoch)


def evaluate(
    weights: Weights,
    split: EncodedSplit,
    texts: Texts,
) -> LossAndAccuracy:
    with torch.no_grad():
        embeddings = embed(weights, split.features[split.index])
        loss = contrastive_loss(embeddings, texts, split.label)
        answers = (embeddings @ texts.T).argmax(dim=1)
    correct = answers == split.label
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


def train(
    options: ToyOptions,
    context: Context,
    features: FrameFeatures,
    splits: Sequence[Dataset],
    seed: int,
) -> Checkpoint:
    """Read the splits "train" and "val", encode their frames, and train under a progress bar."""
    train_sequences, val_sequences = map(read_sequences, splits)
    train_split = encode_split(
        train_sequences, options, features, "encoding train frames"
    )
    val_split = encode_split(val_sequences, options, features, "encoding val frames")
    labels = splits[0].labels
    # once, before the first step: texts are frozen
    texts = torch.from_numpy(features.encoder.embed_texts(labels))
    generator = torch.Generator().manual_seed(derive(seed, "toy"))
    with (
        one_thread(),
        context.progress("training the toy model", options.epochs) as advance,
    ):
        result = fit(train_split, val_split, texts, options, generator, advance)
        advance(options.epochs - result.epochs)
    count, length = train_sequences.index.shape
    frames = count_of(length, "frames")
    if options.frames != "all":
        frames = f"the {options.frames} of {frames}"
    facts = {
        "validation accuracy": f"{result.accuracy:.3f}",
        "trained on": f"{count:,} sequences, {frames}",
        "epochs": f"{result.epochs}, the best {result.best_epoch}",
        "temperature": f"{TEMPERATURE:g}",
        "encoder": options.encoder,
    }
    return result.weights, facts
