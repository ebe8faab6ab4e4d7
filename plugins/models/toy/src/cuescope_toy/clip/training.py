"""Contrastive training of a small CLIP, from a data set to packed weights."""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot

from cuescope_sdk import Context, Dataset, derive
from cuescope_sdk.report import count_of
from cuescope_toy.clip.architecture import TITLE
from cuescope_toy.clip.dataset import ImageTextPairs, from_bytes, read_pairs
from cuescope_toy.clip.network import draw_from, new_network, pack_weights
from cuescope_toy.clip.options import ToyCLIPOptions
from cuescope_toy.loading import Checkpoint
from cuescope_toy.training import Advance, Fit, Indices

Scalar = Float[Tensor, ""]

WARM_UP = 0.6  # share of the first epoch
MAX_SCALE = 100.0  # of the cosines (Radford et al., 2021, section 2.5)
LEARNING_RATE = 1e-3  # at its highest: default of AdamW
WEIGHT_DECAY = 0.05  # on matrices
BATCH = 32  # pictures
ENOUGH = 0.975  # training accuracy after which one pass follows
CAPTION_WEIGHT = 0.3  # of the captions' loss beside that of the label prompts


def matching_loss(
    images: Float[Tensor, "image dim"],
    texts: Float[Tensor, "text dim"],
    match: Bool[Tensor, "image text"],
    scale: Scalar,
    bias: Scalar,
) -> Scalar:
    """SigLIP's loss (Zhai et al., 2023): is this text true of this image? Summed over texts.

    A text may be true of several images. Each pair stands alone, so a label needs evidence of its
    own; where texts compete in a softmax, one of them may win for want of any.
    """
    sign = 2.0 * match.float() - 1.0
    logits = scale * images @ texts.T + bias
    return -logsigmoid(sign * logits).sum() / len(images)


def learning_rate_share(done: float, first: bool, last: bool) -> float:
    """Share of the learning rate when this much of an epoch is done.

    It rises over the beginning of the first epoch and falls to 0 over the last.
    """
    rise = done / WARM_UP if first else 1.0
    fall = 1.0 - done if last else 1.0
    return min(1.0, rise, fall)


def fit(
    pairs: ImageTextPairs,
    options: ToyCLIPOptions,
    generator: torch.Generator,
    advance: Advance,
) -> Fit:
    """Train for all epochs, or until `enough` labels are right and an epoch more.

    `advance` is called with 1 after each step. Until the last epoch the tower sees through
    windows. The accuracy is the share of right labels over the last epoch's batches.
    """
    with draw_from(generator):
        network = new_network(len(pairs.vocabulary))
        optimiser = _optimiser(network)
        accuracy = 0.0
        epoch = 0
        last = False
        while not last:
            last = epoch == options.epochs - 1 or accuracy >= ENOUGH
            network.visual.patch_dropout.whole = last
            right = 0.0
            # from the global state, which draw_from set
            order = torch.randperm(len(pairs.pixels))
            batches = torch.split(order, BATCH)
            for step, batch in enumerate(batches, start=1):
                # the middle of the step: at an end of the ramp its rate would be 0
                done = (step - 0.5) / len(batches)
                share = learning_rate_share(done, epoch == 0, last)
                for group in optimiser.param_groups:
                    group["lr"] = LEARNING_RATE * share
                loss, correct = _loss(network, pairs, batch)
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                right += float(correct.sum())  # on the way: no extra pass over the data
                advance(1)
            accuracy = right / len(pairs.pixels)
            epoch += 1
    weights = pack_weights(network.state_dict(), pairs.vocabulary)
    # nothing is validated, so the last epoch counts as the best
    return Fit(weights, accuracy, epoch, epoch)


def _loss(
    network: Any,
    pairs: ImageTextPairs,
    batch: Indices,
) -> tuple[Scalar, Float[Tensor, " batch"]]:
    """The loss of the captions of a batch, and of all labels in a random prompt.

    What is said of one picture is false of any other, unless it is said of that too. Also whether
    each picture's label is right: 1 or 0.
    """
    rows = pairs.captions[batch]
    number = torch.randint(len(pairs.prompts), ())
    prompt = pairs.prompts[number]
    pixels = from_bytes(pairs.pixels[batch])
    images = network.encode_image(pixels, normalize=True)
    tokens = torch.cat([pairs.texts[rows], prompt])
    texts = network.encode_text(tokens, normalize=True)
    caption_texts, label_texts = texts.tensor_split([len(rows)])
    scale = network.logit_scale.exp().clamp(max=MAX_SCALE)
    bias = network.logit_bias
    match = rows[:, None] == rows
    loss = CAPTION_WEIGHT * matching_loss(images, caption_texts, match, scale, bias)
    label = pairs.label[batch]
    label_match = one_hot(label, len(prompt)).bool()
    label_loss = matching_loss(images, label_texts, label_match, scale, bias)
    # scale and bias move no argmax
    answers = (images @ label_texts.T).argmax(dim=1)
    return label_loss + loss, (answers == label).float()


def _optimiser(network: Any) -> torch.optim.AdamW:
    """AdamW that decays matrices alone, as CLIP's does: biases, norms and the scale are left."""
    weights = list(network.parameters())
    matrices = [weight for weight in weights if weight.ndim >= 2]
    others = [weight for weight in weights if weight.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": WEIGHT_DECAY},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups,
        lr=LEARNING_RATE,
        betas=(0.9, 0.98),
        fused=True,
    )


def train(
    options: ToyCLIPOptions,
    context: Context,
    data: Dataset,
    seed: int,
) -> Checkpoint:
    with context.progress("reading pictures and captions", len(data)) as advance:
        pairs = read_pairs(data, advance)
    generator = torch.Generator().manual_seed(derive(seed, "toy-clip"))
    steps = math.ceil(len(pairs.pixels) / BATCH)  # of an epoch
    with context.progress("training the toy CLIP", options.epochs * steps) as advance:
        result = fit(pairs, options, generator, advance)
        skipped = options.epochs - result.epochs
        # the bar counts all epochs, and training may stop early
        advance(skipped * steps)
    facts = {
        "architecture": TITLE,
        "weights": "trained here, from nothing",
        "trained on": f"{count_of(len(data), 'pictures')} with captions, {result.epochs} epochs",
        "training accuracy": f"{result.accuracy:.3f}",
    }
    return result.weights, facts
