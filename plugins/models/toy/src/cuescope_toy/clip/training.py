"""From options and data to packed weights: through the cache, or the package, or by training."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from cuescope_sdk import Context, Dataset, derive, digest
from cuescope_toy.checkpoint import Facts, load_checkpoint, save_checkpoint
from cuescope_toy.clip.fitting import Recipe, fit, steps_of_epoch
from cuescope_toy.clip.folder import PREPROCESS, model
from cuescope_toy.clip.reading import PROMPTS, read_pairs
from cuescope_toy.network import Weights
from cuescope_toy.training import training_splits

if TYPE_CHECKING:
    from cuescope_toy.clip import ToyCLIPOptions

TRAINING_VERSION = 1  # part of the key: raise it when equal inputs train other weights
ARCHITECTURES = {
    "vit": "ViT, 4 layers of width 96, patches of 8 px",
    "resnet": "ResNet of CLIP's kind, 4 blocks, width 10",
}
SHIPPED = Path(__file__).parent / "shipped"


def trained(options: "ToyCLIPOptions", context: Context) -> tuple[Weights, Facts, str]:
    """Packed weights, what to tell of them, and the key of this training."""
    (data,) = training_splits(
        options.data, options.data_options, context, "toy-clip", "train", closed=False
    )
    seed = context.seed if options.seed is None else options.seed
    key = training_key(options, data, seed)
    for folder in (SHIPPED, context.cache / "toy-clip"):
        if (found := load_checkpoint(folder / f"{key}.safetensors")) is not None:
            return *found, key
    weights, facts = train(options, context, data, seed)
    save_checkpoint(context.cache / "toy-clip" / f"{key}.safetensors", weights, facts)
    return weights, facts, key


def training_key(options: "ToyCLIPOptions", data: Dataset, seed: int) -> str:
    """Digest of all that enters the weights."""
    recipe = recipe_of(options)
    return digest(
        TRAINING_VERSION, model(recipe.tower), PREPROCESS, PROMPTS, vars(recipe), seed,
        data.fingerprint, tuple(data.labels),
    )  # fmt: skip


def train(
    options: "ToyCLIPOptions", context: Context, data: Dataset, seed: int
) -> tuple[Weights, Facts]:
    """Read the data and train on it, under two progress bars."""
    with context.progress("reading pictures and captions", len(data)) as advance:
        pairs = read_pairs(data, advance)
    recipe = recipe_of(options)
    generator = torch.Generator().manual_seed(derive(seed, "toy-clip"))
    steps = recipe.epochs * steps_of_epoch(pairs, recipe)
    with context.progress("training the toy CLIP", steps) as advance:
        result = fit(pairs, recipe, generator, advance)
        advance(steps - result.epochs * steps_of_epoch(pairs, recipe))
    return result.weights, {
        "architecture": ARCHITECTURES[recipe.tower],
        "weights": "trained here, from nothing",
        "trained on": f"{len(data):,} pictures with captions, {result.epochs} epochs",
        "training accuracy": f"{result.accuracy:.3f}",
    }


def recipe_of(options: "ToyCLIPOptions") -> Recipe:
    """The options that say how to train."""
    return Recipe(**{name: getattr(options, name) for name in Recipe.__dataclass_fields__})
