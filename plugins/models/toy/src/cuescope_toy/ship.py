"""Train what the package ships: `python -m cuescope_toy.ship toy-clip`, or another of `SHIPS`."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cuescope_sdk import Context
from cuescope_toy.checkpoint import load_checkpoint, save_checkpoint
from cuescope_toy.clip import ToyCLIPOptions
from cuescope_toy.clip import training as clip
from cuescope_toy.encoders import ColourGrid
from cuescope_toy.frame_features import FrameFeatures
from cuescope_toy.fusion import ToyFusionOptions
from cuescope_toy.fusion import training as fusion
from cuescope_toy.network import Weights
from cuescope_toy.training import training_splits

CLIP = ToyCLIPOptions(data="scenes:0.98")
SHAPES = ToyCLIPOptions(
    data="shape-pictures", tower="resnet", batch_size=16, epochs=4, learning_rate=2e-3
)
FUSION = ToyFusionOptions(data="object-scenes:presence", patches=4, epochs=10)
SEED = 0


def ship_clip(options: ToyCLIPOptions, context: Context) -> Path:
    """The toy CLIP of the leaning scenes, or of the shapes."""
    (data,) = training_splits(options.data, {}, context, "toy-clip", "train", closed=False)
    made = clip.train(options, context, data, SEED)
    return put(clip.SHIPPED, clip.training_key(options, data, SEED), *made, str(options.data))


def ship_fusion(context: Context) -> Path:
    """The toy that answers which objects are in a scene."""
    splits = training_splits(FUSION.data, {}, context, "toy-fusion", "train", "val", closed=False)
    features = FrameFeatures(ColourGrid(FUSION.patches), context)
    made = fusion.train(FUSION, context, features, splits, SEED)
    key = fusion.training_key(FUSION, features, splits, SEED)
    return put(fusion.SHIPPED, key, *made, str(FUSION.data))


def put(folder: Path, key: str, weights: Weights, facts: dict[str, str], data: str) -> Path:
    """Write the weights in place of those of the same data that are shipped now."""
    told = {"weights": f"shipped; trained on {data}"}
    for old in folder.glob("*.safetensors"):
        found = load_checkpoint(old)
        if found is None or found[1]["weights"] == told["weights"]:
            old.unlink()
    path = folder / f"{key}.safetensors"
    save_checkpoint(path, weights, facts | told)
    return path


@contextmanager
def told(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """Progress as one line that counts, at every hundredth."""
    done = 0

    def advance(step: int) -> None:
        nonlocal done
        done += step
        if done * 100 // total > (done - step) * 100 // total:
            sys.stdout.write(f"\r{description}: {done} of {total}")

    yield advance
    sys.stdout.write("\n")


SHIPS: dict[str, Callable[[Context], Path]] = {
    "toy-clip": partial(ship_clip, CLIP),
    "toy-clip-shapes": partial(ship_clip, SHAPES),
    "toy-fusion": ship_fusion,
}


if __name__ == "__main__":
    parser = ArgumentParser("python -m cuescope_toy.ship")
    parser.add_argument("toy", choices=SHIPS)
    path = SHIPS[parser.parse_args().toy](Context(progress=told))
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
