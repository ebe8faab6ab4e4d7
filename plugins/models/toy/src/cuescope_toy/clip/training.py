"""Contrastive training of a small CLIP, from a data set to packed weights."""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot

from cuescope_sdk import Context, Dataset, derive
from cuescope_sdk.report import count_of
from cuescope_toy.clip.architecture import TITLES
from cuescope_toy.clip.dataset import ImageTextPairs, from_bytes, read_pairs
from cuescope_toy.clip.network import draw_from, new_network, pack_weights
from cuescope_toy.loading import Checkpoint
from cuescope_toy.options import ToyCLIPOptions
from cuescope_toy.training import Advance, Fit, Indices

Scalar = Float[Tensor, ""]

WARM_UP = 0.6  # share of the first epoch
MAX_SCALE = 100.0  # of the cosines (Radford et al., 2021, section 2.5)
TEXTS = 4  # captions of a picture in a batch, and as many foils


def matching_loss(
    images: Float[Tensor, "image dim"],
    texts: Float[Tensor, "text dim"],
    match: Bool[Tensor, "image text"],
    scale: Scalar,
    bias: Scalar,
    known: Bool[Tensor, "image text"] | None = None,
) -> Scalar:
    """SigLIP's loss (Zhai et al., 2023): is this text true of this image? Summed over texts.

    Pairs that are not `known` do not count; default: all are.
    A text may be true of several images. Each pair stands alone, so a label needs evidence of its
    own; where texts compete in a softmax, one of them may win for want of any.
    """
    sign = 2.0 * match.float() - 1.0
    logits = scale * images @ texts.T + bias
    loss = -logsigmoid(sign * logits)
    if known is not None:
        loss = loss * known
    return loss.sum() / len(images)


def known_texts(
    texts: Int[Tensor, " text"],
    captions: Int[Tensor, " caption"],
    foils: Int[Tensor, " foil"],
) -> Bool[Tensor, " text"]:
    """Which texts are known to be true or false of a picture with these captions and foils."""
    # Without foils, what is said of other pictures counts as false of this one.
    if not len(foils):
        return torch.ones_like(texts, dtype=torch.bool)
    return torch.isin(texts, torch.cat([captions, foils]))


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

    `advance` is called with 1 after each step. Until the last epoch a tower of patches sees through
    windows, unless captions are of parts: a window hides what most of them tell of. The accuracy
    is the share of right labels over the last epoch's batches; without labels, of captions and
    foils that are judged right.
    """
    with draw_from(generator):
        network = new_network(len(pairs.vocabulary), options.tower)
        optimiser = _optimiser(network, options)
        accuracy = 0.0
        epoch = 0
        last = False
        while not last:
            last = epoch == options.epochs - 1 or accuracy >= options.enough
            if options.tower == "vit":
                network.visual.patch_dropout.whole = last or pairs.captions_of_parts
            right = 0.0
            # from the global state, which draw_from set
            order = torch.randperm(len(pairs.pixels))
            batches = torch.split(order, options.batch_size)
            for step, batch in enumerate(batches, start=1):
                # the middle of the step: at an end of the ramp its rate would be 0
                done = (step - 0.5) / len(batches)
                share = learning_rate_share(done, epoch == 0, last)
                for group in optimiser.param_groups:
                    group["lr"] = options.learning_rate * share
                loss, correct = _loss(network, pairs, batch, options.caption_weight)
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
    caption_weight: float,
) -> tuple[Scalar, Float[Tensor, " batch"]]:
    """The loss of some captions and foils of the batch, and of all labels in a random prompt.

    What is said of one picture is false of any other, unless it is said of that too; of pictures
    that have foils only their own texts count. Also how much is right of each picture: 1 or 0 of
    its label; without labels, the share of its own texts.
    """
    indices = batch.tolist()
    # The draws below are in this order since the shipped weights were trained.
    samples = []
    for index in indices:
        captions = _draw_texts(pairs.captions[index])
        foils = _draw_texts(pairs.foils[index])
        samples.append(torch.cat([captions, foils]))
    rows = torch.cat(samples)
    number = torch.randint(len(pairs.prompts), ())
    prompt = pairs.prompts[number]
    pixels = from_bytes(pairs.pixels[batch])
    images = network.encode_image(pixels, normalize=True)
    tokens = torch.cat([pairs.texts[rows], prompt])
    texts = network.encode_text(tokens, normalize=True)
    caption_texts, label_texts = texts.tensor_split([len(rows)])
    scale = network.logit_scale.exp().clamp(max=MAX_SCALE)
    bias = network.logit_bias
    matches = []
    counts = []
    for index in indices:
        captions = pairs.captions[index]
        matches.append(torch.isin(rows, captions))
        counts.append(known_texts(rows, captions, pairs.foils[index]))
    match = torch.stack(matches)
    loss = matching_loss(images, caption_texts, match, scale, bias, torch.stack(counts))
    loss = caption_weight * loss
    if pairs.label is None:
        blocks = [torch.ones(1, len(sample)) for sample in samples]
        own_texts = torch.block_diag(*blocks).bool()  # type: ignore[no-untyped-call]
        judged_true = scale * images @ caption_texts.T + bias > 0
        right = own_texts & (judged_true == match)
        return loss, right.sum(dim=1) / own_texts.sum(dim=1)
    label = pairs.label[batch]
    label_match = one_hot(label, len(prompt)).bool()
    label_loss = matching_loss(images, label_texts, label_match, scale, bias)
    # scale and bias move no argmax
    answers = (images @ label_texts.T).argmax(dim=1)
    return label_loss + loss, (answers == label).float()


def _draw_texts(rows: Int[Tensor, " text"]) -> Int[Tensor, " some"]:
    """At most `TEXTS` of them; all where there are no more, without a draw."""
    if len(rows) <= TEXTS:
        return rows
    order = torch.randperm(len(rows))
    return rows[order[:TEXTS]]


def _optimiser(network: Any, options: ToyCLIPOptions) -> torch.optim.AdamW:
    """AdamW that decays matrices alone, as CLIP's does: biases, norms and the scale are left."""
    weights = list(network.parameters())
    matrices = [weight for weight in weights if weight.ndim >= 2]
    others = [weight for weight in weights if weight.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": options.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups,
        lr=options.learning_rate,
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
    steps = math.ceil(len(pairs.pixels) / options.batch_size)  # of an epoch
    with context.progress("training the toy CLIP", options.epochs * steps) as advance:
        result = fit(pairs, options, generator, advance)
        skipped = options.epochs - result.epochs
        # the bar counts all epochs, and training may stop early
        advance(skipped * steps)
    facts = {
        "architecture": TITLES[options.tower],
        "weights": "trained here, from nothing",
        "trained on": f"{count_of(len(data), 'pictures')} with captions, {result.epochs} epochs",
        "training accuracy": f"{result.accuracy:.3f}",
    }
    return result.weights, facts
