"""From options and data to trained weights, through the cache."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from cuescope_sdk import Context, Dataset, Sample, derive, digest
from cuescope_toy.checkpoint import Facts, load_checkpoint, save_checkpoint, weights_digest
from cuescope_toy.fitting import one_thread
from cuescope_toy.frame_features import FrameFeatures
from cuescope_toy.fusion.fitting import Recipe, Split, fit
from cuescope_toy.fusion.network import Sizes
from cuescope_toy.fusion.reading import PACKED, Vocabulary, labels, shown
from cuescope_toy.network import Weights
from cuescope_toy.training import training_splits

if TYPE_CHECKING:
    from cuescope_toy.fusion import ToyFusionOptions

TRAINING_VERSION = 1  # part of the key: raise it when equal inputs train other weights
SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class Trained:
    """A trained network and the words that it knows."""

    weights: Weights
    vocabulary: Vocabulary
    fingerprint: str
    facts: Facts


def trained(options: "ToyFusionOptions", context: Context, features: FrameFeatures) -> Trained:
    """Train on the chosen data, or take the weights of an equal training: shipped or cached."""
    splits = training_splits(
        options.data, options.data_options, context, "toy-fusion", "train", "val", closed=False
    )
    seed = context.seed if options.seed is None else options.seed
    name = f"{training_key(options, features, splits, seed)}.safetensors"
    path = context.cache / "toy-fusion" / name
    if (found := load_checkpoint(SHIPPED / name) or load_checkpoint(path)) is None:
        found = train(options, context, features, splits, seed)
        save_checkpoint(path, *found)
    packed, facts = found
    fingerprint = digest(
        TRAINING_VERSION, weights_digest(packed), options.positions, features.encoder.fingerprint
    )
    weights = {name: tensor for name, tensor in packed.items() if name != PACKED}
    return Trained(weights, Vocabulary.beside(packed), fingerprint, facts)


def training_key(
    options: "ToyFusionOptions", features: FrameFeatures, splits: tuple[Dataset, ...], seed: int
) -> str:
    """Digest of all that enters the weights."""
    # what these name enters by its content
    own = options.model_dump(exclude={"data", "data_options", "patches"})
    return digest(
        TRAINING_VERSION, {**own, "seed": seed}, features.encoder.fingerprint,
        *(data.fingerprint for data in splits),
    )  # fmt: skip


def train(
    options: "ToyFusionOptions",
    context: Context,
    features: FrameFeatures,
    splits: tuple[Dataset, ...],
    seed: int,
) -> tuple[Weights, Facts]:
    """Read the splits "train" and "val", and train; the words are packed with the weights."""
    samples = {
        name: [data[index] for index in range(len(data))]
        for name, data in zip(("train", "val"), splits, strict=True)
    }
    vocabulary = Vocabulary.of(samples["train"])
    encoded = {
        name: _encoded(part, vocabulary, features, f"encoding {name} frames")
        for name, part in samples.items()
    }
    sizes = Sizes(
        feature=encoded["train"].features.shape[2],
        words=vocabulary.rows,
        answers=len(vocabulary.answers),
        layers=options.layers,
        dim=options.dim,
    )
    recipe = Recipe(**{name: getattr(options, name) for name in Recipe.__dataclass_fields__})
    generator = torch.Generator().manual_seed(derive(seed, "toy-fusion"))
    with one_thread(), context.progress("training the toy fusion", recipe.epochs) as advance:
        result = fit(encoded["train"], encoded["val"], sizes, recipe, generator, advance)
        advance(recipe.epochs - result.epochs)
    facts = {
        "validation accuracy": f"{result.accuracy:.3f}",
        "trained on": f"{len(samples['train']):,} samples, {len(vocabulary.words)} words, "
        f"{len(vocabulary.answers)} answers; no other can be right",
        "epochs": f"{result.epochs}, the best {result.epoch}",
        "frames": _told(options),
    }
    return {**result.weights, **vocabulary.packed()}, facts


def _told(options: "ToyFusionOptions") -> str:
    order = "in their order" if options.positions else "a bag, without their order"
    side = options.patches
    return order if side == 1 else f"{side} x {side} patches each, {order}"


def _encoded(
    samples: list[Sample], vocabulary: Vocabulary, features: FrameFeatures, description: str
) -> Split:
    numbered = shown(samples, vocabulary)
    rows = torch.from_numpy(features.of_frames(numbered.frames, description))
    return Split(numbered, rows, labels(samples, vocabulary))
