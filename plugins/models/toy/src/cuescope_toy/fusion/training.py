"""Training to answer, with early stopping: from a data set to weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from cuescope_sdk import Context, Dataset, Sample, derive
from cuescope_sdk.report import count_of
from cuescope_toy.encoders import FrameFeatures
from cuescope_toy.fusion.dataset import (
    VOCABULARY,
    TokenizedSamples,
    Vocabulary,
    answer_ids,
    tokenize,
)
from cuescope_toy.fusion.network import forward, initial_weights, weight_shapes
from cuescope_toy.loading import Checkpoint, Weights
from cuescope_toy.network import input_layer
from cuescope_toy.options import ToyFusionOptions
from cuescope_toy.training import (
    Advance,
    Fit,
    Indices,
    Labels,
    LossAndAccuracy,
    descend,
    one_thread,
    read_samples,
)

BATCH = 64  # samples
WEIGHT_DECAY = 0.1
WARM_UP = 0.1  # share of the steps over which the learning rate rises
EVALUATION_BATCH = 512  # all at once would hold every layer of a whole split
# Of the first weights, where frames are cut into patches. Narrow ones make a token attend to all
# others alike; it then takes thousands of steps until a word and the patch it means meet.
PATCH_SPREAD = 2.5


@dataclass(frozen=True, eq=False)
class EncodedSplit:
    """Samples with the features of their frames, and the number of the right answer.

    An answer that was never trained on has the number -1.
    """

    samples: TokenizedSamples
    features: Float[Tensor, "distinct patch feature"]
    label: Labels


def fit(
    train: EncodedSplit,
    val: EncodedSplit,
    vocabulary: Vocabulary,
    options: ToyFusionOptions,
    generator: torch.Generator,
    advance: Advance,
) -> Fit:
    """Train as `descend` does, with a learning rate that follows `learning_rate_share`."""
    frame_ids = train.samples.frame_ids
    distinct, patches, feature = train.features.shape
    shown = torch.bincount(frame_ids[frame_ids >= 0], minlength=distinct)
    shown_patches = shown.float().repeat_interleave(patches)
    fixed = input_layer(train.features.flatten(0, 1), shown_patches)
    shapes = weight_shapes(
        options, feature, vocabulary.word_rows, len(vocabulary.answers)
    )
    spread = PATCH_SPREAD if patches > 1 else 1.0

    def batch_loss(weights: Weights, indices: Indices) -> Tensor:
        batch = train.samples.batch(train.features, indices)
        logits = forward(weights, batch, positions=options.positions)
        return cross_entropy(logits, train.label[indices])

    def validate(weights: Weights) -> LossAndAccuracy:
        return evaluate(weights, val, options.positions)

    return descend(
        fixed,
        initial_weights(shapes, generator, spread),
        len(train.label),
        batch_loss,
        validate,
        options,
        generator,
        advance,
        batch_size=BATCH,
        patience=options.patience,
        weight_decay=WEIGHT_DECAY,
        learning_rate_share=learning_rate_share,
        enough=options.enough,
    )


def learning_rate_share(done: float) -> float:
    """Share of the learning rate when this share of all steps is done: up, then down to 0."""
    return min(done / WARM_UP, (1 - done) / (1 - WARM_UP))


def evaluate(
    weights: Weights,
    split: EncodedSplit,
    positions: bool,
) -> LossAndAccuracy:
    """Loss of the known answers, and the share of right ones, over all samples."""
    count = len(split.label)
    parts = []
    with torch.no_grad():
        for indices in torch.split(torch.arange(count), EVALUATION_BATCH):
            batch = split.samples.batch(split.features, indices)
            parts.append(forward(weights, batch, positions=positions))
    logits = torch.cat(parts)
    # An unknown answer has no logit to be wrong about; it counts against the accuracy alone.
    known = split.label >= 0
    # a sum, because the mean over no known answer is NaN
    loss = cross_entropy(logits[known], split.label[known], reduction="sum") / count
    correct = logits.argmax(dim=1) == split.label
    return loss.item(), correct.double().mean().item()


def encode_split(
    samples: Sequence[Sample],
    vocabulary: Vocabulary,
    features: FrameFeatures,
    description: str,
) -> EncodedSplit:
    tokens = tokenize(samples, vocabulary)
    rows = features.of_frames(tokens.frames, description)
    return EncodedSplit(tokens, torch.from_numpy(rows), answer_ids(samples, vocabulary))


def train(
    options: ToyFusionOptions,
    context: Context,
    features: FrameFeatures,
    splits: Sequence[Dataset],
    seed: int,
) -> Checkpoint:
    """Read the splits "train" and "val", and train; the vocabulary is kept with the weights."""
    samples, val_samples = map(read_samples, splits)
    # of train alone: a word of val would have a row that is never trained
    vocabulary = Vocabulary.of(samples)
    train_split = encode_split(samples, vocabulary, features, "encoding train frames")
    val_split = encode_split(val_samples, vocabulary, features, "encoding val frames")
    generator = torch.Generator().manual_seed(derive(seed, "toy-fusion"))
    with (
        # more threads sum in another order, and would train other weights
        one_thread(),
        context.progress("training the toy fusion", options.epochs) as advance,
    ):
        result = fit(train_split, val_split, vocabulary, options, generator, advance)
        # the bar counts all epochs, and training may stop early
        advance(options.epochs - result.epochs)
    order = "in their order" if options.positions else "a bag, without their order"
    side = options.patches
    facts = {
        "validation accuracy": f"{result.accuracy:.3f}",
        "trained on": f"{count_of(len(samples), 'samples')}, "
        f"{count_of(len(vocabulary.words), 'words')}, "
        f"{count_of(len(vocabulary.answers), 'answers')}; no other can be right",
        "epochs": f"{result.epochs}, the best {result.best_epoch}",
        "frames": order if side == 1 else f"{side} x {side} patches each, {order}",
    }
    return {**result.weights, VOCABULARY: vocabulary.to_tensor()}, facts
