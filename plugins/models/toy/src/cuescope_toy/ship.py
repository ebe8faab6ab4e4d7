"""Train what the package ships: `python -m cuescope_toy.ship toy-clip`, or another of `SHIPS`."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cuescope_sdk import Context
from cuescope_toy.clip import ToyCLIP, ToyCLIPOptions
from cuescope_toy.fusion import ToyFusion, ToyFusionOptions
from cuescope_toy.loading import TrainedModel, load_checkpoint, save_checkpoint

CLIP = ToyCLIPOptions(data="scenes:0.98")
MIXED = ToyCLIPOptions(data="scenes:0.85")  # leans on backgrounds and knows objects
SHAPES = ToyCLIPOptions(
    data="shape-pictures", tower="resnet", batch_size=16, epochs=4, learning_rate=2e-3
)
FUSION = ToyFusionOptions(data="object-scenes:presence", patches=4, epochs=10)
# By how far the background tells the object in training.
CAMERA = {
    dial: ToyCLIPOptions(data=f"camera-scenes:{dial}") for dial in ("0", "0.5", "0.98")
}
# With the default context: the audit's seed is 0 unless somebody says otherwise.
SHIPS: dict[str, Callable[[Context], TrainedModel]] = {
    "toy-clip": partial(ToyCLIP, CLIP),
    "toy-clip-mixed": partial(ToyCLIP, MIXED),
    "toy-clip-shapes": partial(ToyCLIP, SHAPES),
    "toy-fusion": partial(ToyFusion, FUSION),
}
for dial, camera in CAMERA.items():
    SHIPS[f"toy-clip-camera-{dial}"] = partial(ToyCLIP, camera)


def ship(model: TrainedModel) -> Path:
    """Train, and write the weights in place of those of the same data that are shipped now."""
    file = model.weights_file
    if file.shipped is None:
        raise ValueError(f"{model.owner} ships no weights")
    weights, facts = model.train()
    facts |= {"weights": f"shipped; trained on {model.options.data}"}
    for path in file.shipped.glob("*.safetensors"):
        checkpoint = load_checkpoint(path)
        if checkpoint is None or checkpoint[1]["weights"] == facts["weights"]:
            path.unlink()  # an older recipe's weights would be shipped for ever
    path = file.shipped / f"{file.recipe}.safetensors"
    save_checkpoint(path, weights, facts)
    return path


@contextmanager
def print_progress(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """Progress as one line that counts, at every hundredth."""
    done = 0

    def advance(step: int) -> None:
        nonlocal done
        done += step
        percent_before = (done - step) * 100 // total
        if done * 100 // total > percent_before:
            sys.stdout.write(f"\r{description}: {done} of {total}")

    yield advance
    sys.stdout.write("\n")


if __name__ == "__main__":
    parser = ArgumentParser("python -m cuescope_toy.ship")
    parser.add_argument("toy", choices=SHIPS)
    build = SHIPS[parser.parse_args().toy]
    path = ship(build(Context(progress=print_progress)))
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
