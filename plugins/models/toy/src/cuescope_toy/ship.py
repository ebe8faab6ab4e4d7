"""Train what the package ships: `python -m cuescope_toy.ship toy-clip`, or another of `SHIPS`."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cuescope_sdk import Context
from cuescope_toy.clip import ToyCLIP, ToyCLIPOptions
from cuescope_toy.fusion import ToyFusion, ToyFusionOptions
from cuescope_toy.loading import TrainedModel, load_checkpoint, save_checkpoint

# With the default context: the audit's seed is 0 unless somebody says otherwise.
SHIPS: dict[str, ToyCLIPOptions | ToyFusionOptions] = {
    "toy-clip": ToyCLIPOptions(data="scenes:0.98"),
    # leans on backgrounds and knows objects
    "toy-clip-mixed": ToyCLIPOptions(data="scenes:0.85"),
    "toy-fusion": ToyFusionOptions(data="object-scenes:presence", patches=4, epochs=10),
    # by how far the background tells the object in training
    "toy-clip-camera-0": ToyCLIPOptions(data="camera-scenes:0"),
    "toy-clip-camera-0.5": ToyCLIPOptions(data="camera-scenes:0.5"),
    "toy-clip-camera-0.98": ToyCLIPOptions(data="camera-scenes:0.98"),
}


def build(name: str, context: Context) -> TrainedModel:
    """The model that is shipped under a name."""
    options = SHIPS[name]
    if isinstance(options, ToyFusionOptions):
        return ToyFusion(options, context)
    return ToyCLIP(options, context)


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
    """Progress as one line that counts."""
    done = 0

    def advance(step: int) -> None:
        nonlocal done
        done += step
        sys.stdout.write(f"\r{description}: {done} of {total}")

    yield advance
    sys.stdout.write("\n")


if __name__ == "__main__":
    parser = ArgumentParser("python -m cuescope_toy.ship")
    parser.add_argument("toy", choices=SHIPS)
    context = Context(progress=print_progress)
    path = ship(build(parser.parse_args().toy, context))
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
