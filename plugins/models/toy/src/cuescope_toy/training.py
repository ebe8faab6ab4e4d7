"""From options and data to trained weights, through the cache."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from cuescope_sdk import Context, Dataset, HasSplits, UserError, derive, digest
from cuescope_toy.checkpoint import Facts, load_checkpoint, save_checkpoint, weights_digest
from cuescope_toy.fitting import Fit, Recipe, Split, fit, one_thread
from cuescope_toy.frame_features import FrameFeatures
from cuescope_toy.network import Sizes, Weights
from cuescope_toy.sequences import Sequences, positions, read_sequences

if TYPE_CHECKING:
    from cuescope_toy import ToyOptions

TRAINING_VERSION = 1  # part of the cache key: raise it when equal inputs train other weights


@dataclass(frozen=True)
class Trained:
    """A trained network: sequences have `length` frames."""

    weights: Weights
    length: int
    fingerprint: str
    facts: Facts


def trained(options: "ToyOptions", context: Context, features: FrameFeatures) -> Trained:
    """Train on the chosen data, or take the weights of an equal training from the cache."""
    train, val = training_splits(options.data, options.data_options, context, "toy", "train", "val")
    seed = context.seed if options.seed is None else options.seed
    encoder = features.encoder
    # what these four name enters by its content
    own = options.model_dump(exclude={"data", "data_options", "encoder", "encoder_options"})
    key = digest(
        TRAINING_VERSION, {**own, "seed": seed}, encoder.fingerprint,
        train.fingerprint, val.fingerprint, tuple(train.labels),
    )  # fmt: skip
    path = context.cache / "toy" / f"{key}.safetensors"
    if (found := load_checkpoint(path)) is None:
        found = _train(options, context, features, train, val, seed)
        save_checkpoint(path, *found)
    weights, facts = found
    fingerprint = digest(
        TRAINING_VERSION, weights_digest(weights), options.frames, options.temperature,
        encoder.fingerprint,
    )  # fmt: skip
    return Trained(weights, len(train[0].frames), fingerprint, facts)


def training_splits(
    spec: str | None,
    options: Mapping[str, Any],
    context: Context,
    model: str,
    *names: str,
    closed: bool = True,
) -> tuple[Dataset, ...]:
    """The named splits of the data set that `spec` names, else of the audited one.

    Raises UserError in the name of `model` where there is no data, or no splits, or no closed set
    of labels where one is needed.
    """
    dataset = context.dataset
    if spec is not None:
        dataset = replace(context, dataset=None).build("dataset", spec, options)
    title = "the audited data set" if spec is None else f"data set '{spec}'"
    if dataset is None:
        raise UserError(f"{model}: nothing to train on", remedy="Name a data set: -M data=SPEC.")
    if not isinstance(dataset, HasSplits):
        raise UserError(
            f"{model}: {title} has no splits to train on",
            expected=" and ".join(names),
            remedy="Name a data set that has them: -M data=SPEC.",
        )
    if closed and not dataset.labels:
        raise UserError(f"{model}: {title} has no labels", expected="a closed set to tell apart")
    splits = tuple(dataset.split(name) for name in names)
    for name, part in zip(names, splits, strict=True):
        if not len(part):
            raise UserError(f"{model}: the split '{name}' of {title} is empty")
    return splits


def _train(
    options: "ToyOptions",
    context: Context,
    features: FrameFeatures,
    train: Dataset,
    val: Dataset,
    seed: int,
) -> tuple[Weights, Facts]:
    sequences = {"train": read_sequences(train), "val": read_sequences(val)}
    splits = {
        name: _encoded(part, options, features, f"encoding {name} frames")
        for name, part in sequences.items()
    }
    texts = torch.from_numpy(features.encoder.embed_texts(train.labels))
    sizes = Sizes(
        frames=splits["train"].index.shape[1],
        feature=splits["train"].features.shape[1],
        hidden=options.hidden,
        projection=options.projection,
        head=options.head,
        dim=texts.shape[1],
    )
    recipe = Recipe(**{name: getattr(options, name) for name in Recipe.__dataclass_fields__})
    generator = torch.Generator().manual_seed(derive(seed, "toy"))
    with one_thread(), context.progress("training the toy model", recipe.epochs) as advance:
        result = fit(splits["train"], splits["val"], texts, sizes, recipe, generator, advance)
        advance(recipe.epochs - result.epochs)
    return result.weights, _facts(options, result, sequences["train"])


def _encoded(
    sequences: Sequences, options: "ToyOptions", features: FrameFeatures, description: str
) -> Split:
    looked_at = sequences.index[:, positions(options.frames, sequences.index.shape[1])]
    used, index = np.unique(looked_at, return_inverse=True)
    return Split(
        torch.from_numpy(
            features.of_frames([sequences.frames[place] for place in used], description)
        ),
        torch.from_numpy(index.reshape(looked_at.shape)),
        torch.from_numpy(sequences.label),
    )


def _facts(options: "ToyOptions", result: Fit, sequences: Sequences) -> Facts:
    count, length = sequences.index.shape
    seen = length if options.frames == "all" else f"the {options.frames} of {length}"
    return {
        "validation accuracy": f"{result.accuracy:.3f}",
        "trained on": f"{count:,} sequences, {seen} frames",
        "epochs": f"{result.epochs}, the best {result.epoch}",
        "temperature": f"{options.temperature:g}",
        "encoder": options.encoder,
    }
