"""Contrastive training of a small CLIP."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import open_clip
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot

from cuescope_toy.clip.folder import WORD_SPREAD, model, packed
from cuescope_toy.clip.reading import Pairs, from_bytes
from cuescope_toy.clip.windows import Windows
from cuescope_toy.network import Weights

WARM_UP = 0.6  # share of the first epoch
MOST_SCALE = 100.0  # of the cosines (Radford et al., 2021, section 2.5)
PLACE_SPREAD = 0.125  # standard deviation of the text tower's first position embeddings
TEXTS = 4  # captions of a picture in a batch, and as many foils


@dataclass(frozen=True)
class Recipe:
    """What to train, and how."""

    tower: str
    learning_rate: float
    weight_decay: float
    batch_size: int
    epochs: int
    enough: float
    caption_weight: float


@dataclass(frozen=True)
class Fit:
    """Packed weights, the share of right labels over the last epoch's batches, and the epochs.

    Without labels it is the share of captions and foils that are told from one another.
    """

    weights: Weights
    accuracy: float
    epochs: int


def matching_loss(
    images: Float[Tensor, "image dim"],
    texts: Float[Tensor, "text dim"],
    match: Bool[Tensor, "image text"],
    scale: Float[Tensor, ""],
    bias: Float[Tensor, ""],
    known: Bool[Tensor, "image text"] | None = None,
) -> Float[Tensor, ""]:
    """SigLIP's loss (Zhai et al., 2023): is this text true of this image? Summed over texts.

    Pairs that are not `known` do not count; default: all are.
    A text may be true of several images. Each pair stands alone, so a label needs evidence of its
    own; where texts compete in a softmax, one of them may win for want of any.
    """
    sign = 2.0 * match.float() - 1.0
    loss = -logsigmoid(sign * (scale * images @ texts.T + bias))
    return (loss if known is None else loss * known).sum() / len(images)


def known_of(
    told: Int[Tensor, " text"], captions: Int[Tensor, " caption"], foils: Int[Tensor, " foil"]
) -> Bool[Tensor, " text"]:
    """Of which texts a picture with these captions and foils tells whether they are true."""
    if not len(foils):
        return torch.ones_like(told, dtype=torch.bool)
    return torch.isin(told, torch.cat([captions, foils]))


def rate(done: float, first: bool, last: bool) -> float:
    """Share of the learning rate when this much of an epoch is done.

    It rises over the beginning of the first epoch and falls to 0 over the last.
    """
    rise = done / WARM_UP if first else 1.0
    fall = 1.0 - done if last else 1.0
    return min(1.0, rise, fall)


def new_network(words: int, tower: str) -> Any:
    """A stock open_clip model with so many words; weights from torch's generator.

    The words start far apart. From CLIP's own start (0.02) prompts that differ in one word are
    all but equal, and minutes pass before the label counts.
    """
    config = model(tower)
    config["text_cfg"]["vocab_size"] = words
    network = open_clip.model.CLIP(**config)
    if tower == "vit":
        network.visual.patch_dropout = Windows(network.visual.grid_size[0])
    torch.nn.init.normal_(network.token_embedding.weight, std=WORD_SPREAD)
    torch.nn.init.normal_(network.positional_embedding, std=PLACE_SPREAD)
    return network


def fit(
    pairs: Pairs, recipe: Recipe, generator: torch.Generator, advance: Callable[[int], None]
) -> Fit:
    """Train for all epochs, or until `enough` labels are right and an epoch more.

    `advance` is called with 1 after each step. Until the last epoch a tower of patches sees through
    windows, unless pictures are told in parts: a window hides what most captions tell of.
    """
    with drawing_from(generator):
        network = new_network(len(pairs.vocabulary), recipe.tower)
        optimiser = _optimiser(network, recipe)
        accuracy, epoch, last = 0.0, 0, False
        while not last:
            last = epoch == recipe.epochs - 1 or accuracy >= recipe.enough
            if recipe.tower == "vit":
                network.visual.patch_dropout.whole = last or pairs.told_in_parts
            accuracy = _epoch(network, optimiser, pairs, recipe, epoch == 0, last, advance)
            epoch += 1
    return Fit(packed(network.state_dict(), pairs.vocabulary), accuracy, epoch)


def steps_of_epoch(pairs: Pairs, recipe: Recipe) -> int:
    """Batches in a pass over the data."""
    return math.ceil(len(pairs.pixels) / recipe.batch_size)


def _epoch(
    network: Any,
    optimiser: torch.optim.Optimizer,
    pairs: Pairs,
    recipe: Recipe,
    first: bool,
    last: bool,
    advance: Callable[[int], None],
) -> float:
    """One pass over the data; the share of right labels on the way."""
    right = 0.0
    batches = torch.split(torch.randperm(len(pairs.pixels)), recipe.batch_size)
    for step, batch in enumerate(batches, start=1):
        for group in optimiser.param_groups:
            group["lr"] = recipe.learning_rate * rate((step - 0.5) / len(batches), first, last)
        loss, correct = _loss(network, pairs, batch, recipe.caption_weight)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        right += float(correct.sum())
        advance(1)
    return right / len(pairs.pixels)


def _loss(
    network: Any, pairs: Pairs, batch: Int[Tensor, " batch"], caption_weight: float
) -> tuple[Float[Tensor, ""], Float[Tensor, " batch"]]:
    """Some captions and foils of the batch, and all labels in a prompt drawn at random.

    What is said of one picture is false of any other, unless that is told too; of pictures that
    have foils only what is told counts. Also what is right: 1 or 0 of a label; without labels, of
    what is said of a picture the share.
    """
    of = [(pairs.captions[i], pairs.foils[i]) for i in batch.tolist()]
    said = [torch.cat([_some(captions), _some(foils)]) for captions, foils in of]
    told = torch.cat(said)
    prompt = pairs.prompts[torch.randint(len(pairs.prompts), ())]
    images = network.encode_image(from_bytes(pairs.pixels[batch]), normalize=True)
    texts = network.encode_text(torch.cat([pairs.texts[told], prompt]), normalize=True)
    spoken, named = texts[: len(told)], texts[len(told) :]
    logit = network.logit_scale.exp().clamp(max=MOST_SCALE), network.logit_bias
    true = torch.stack([torch.isin(told, captions) for captions, _ in of])
    known = torch.stack([known_of(told, *both) for both in of])
    loss = caption_weight * matching_loss(images, spoken, true, *logit, known)
    if pairs.label is None:
        scale, bias = logit
        blocks = (torch.ones(1, len(rows)) for rows in said)
        own = torch.block_diag(*blocks).bool()  # type: ignore[no-untyped-call]
        right = own & ((scale * images @ spoken.T + bias > 0) == true)
        return loss, right.sum(dim=1) / own.sum(dim=1)
    label = pairs.label[batch]
    of_labels = matching_loss(images, named, one_hot(label, len(prompt)).bool(), *logit)
    return of_labels + loss, ((images @ named.T).argmax(dim=1) == label).float()


def _some(rows: Int[Tensor, " text"]) -> Int[Tensor, " some"]:
    """At most `TEXTS` of them, drawn at random."""
    return rows if len(rows) <= TEXTS else rows[torch.randperm(len(rows))[:TEXTS]]


def _optimiser(network: Any, recipe: Recipe) -> torch.optim.AdamW:
    matrices = [weight for weight in network.parameters() if weight.ndim >= 2]
    others = [weight for weight in network.parameters() if weight.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=(0.9, 0.98), fused=True)


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """A library that draws from torch's own state draws from this generator; then all is as was."""
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(generator.get_state())
        yield
