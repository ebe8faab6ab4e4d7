"""Train the toy CLIP that the package ships: `python -m cuescope_toy.ship`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cuescope_sdk import Context
from cuescope_toy.checkpoint import save_checkpoint
from cuescope_toy.clip import ToyCLIPOptions
from cuescope_toy.clip.training import SHIPPED, train, training_key
from cuescope_toy.training import training_splits

DATA = "scenes:0.98"
SEED = 0


def ship() -> None:
    """Put the weights for the leaning scenes in place of those that are shipped now."""
    context = Context(progress=told)
    options = ToyCLIPOptions(data=DATA)
    (data,) = training_splits(options.data, options.data_options, context, "toy-clip", "train")
    weights, facts = train(options, context, data, SEED)
    for old in SHIPPED.glob("*.safetensors"):
        old.unlink()
    path = SHIPPED / f"{training_key(options, data, SEED)}.safetensors"
    save_checkpoint(path, weights, facts | {"weights": f"shipped; trained on {DATA}"})
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes, {facts}\n")


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


if __name__ == "__main__":
    ship()
