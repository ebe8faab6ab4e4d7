"""What edits cost in `transformers-vlm`: an empty edit, and hiding, beside the plain forward.

A Qwen2-VL of random weights is asked the same trials plainly and edited by turns; printed are
ratios of the least times of processor seconds, in one run on one core. `--limit` ends with 1 where
the empty edit is dearer.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from prefix_speed import WORDS, write
from rich.console import Console
from rich.table import Table

from cuescope_core.context import Context
from cuescope_core.types import Edit, Frame, HideTokens, Sample, Trial
from cuescope_sdk.fusion import AverageAttention
from cuescope_transformers.generative import TransformersVLM, VLMOptions

NOTHING = AverageAttention(quadrants=frozenset())
STEP = 28  # pixels between the masks of two images
Work = Callable[[], object]


def trials(count: int, side: int, edit_of: Callable[[int], Edit | None]) -> list[Trial]:
    """Questions about as many images, each with an edit of its own."""
    rng = np.random.default_rng(0)
    asked = []
    for number in range(count):
        pixels = rng.integers(0, 256, (side, side, 3), np.uint8)
        sample = Sample(
            key=f"image {number}",
            frames=(Frame.from_array(pixels),),
            question=f"is it {WORDS[number % 20]} ?",
            choices=("yes", "no"),
        )
        asked.append(Trial(sample=sample, edit=edit_of(number)))
    return asked


def part_of(side: int, share: float, number: int) -> HideTokens:
    """A mask over a band of the frame, elsewhere in each image."""
    mask = np.zeros((1, side, side), dtype=bool)
    mask[:, : round(share * side)] = True
    return HideTokens.from_mask(np.roll(mask, STEP * number, axis=1))


def least_seconds(works: Sequence[Work], rounds: int) -> list[float]:
    """Of the processor, by turns; what else runs only ever adds to a time."""
    for work in works:
        work()
    taken = []
    for _ in range(rounds):
        seconds = []
        for work in works:
            since = time.process_time()
            work()
            seconds.append(time.process_time() - since)
        taken.append(seconds)
    return [min(seconds) for seconds in zip(*taken, strict=True)]


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--side", type=int, default=224, help="of an image, in pixels")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, help="of the empty edit, such as 1.03")
    options = parser.parse_args()
    torch.set_num_threads(1)
    edits: dict[str, Callable[[int], Edit | None]] = {
        "plain": lambda number: None,
        "an empty edit": lambda number: NOTHING,
        "hiding nothing": partial(part_of, options.side, 0),
        "hiding an eighth": partial(part_of, options.side, 0.125),
        "hiding a quarter": partial(part_of, options.side, 0.25),
        "hiding a half": partial(part_of, options.side, 0.5),
    }
    table = Table("edit", "beside the plain forward")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), options.hidden, options.layers)
        context = Context(device="cpu", batch_size=options.images)
        model = TransformersVLM(VLMOptions(model=folder), context)
        asked = {
            name: trials(options.images, options.side, edit_of)
            for name, edit_of in edits.items()
        }
        works = [lambda t=t: model.respond(t) for t in asked.values()]
        seconds = least_seconds(works, options.rounds)
    ratios = {
        name: taken / seconds[0] for name, taken in zip(edits, seconds, strict=True)
    }
    for name, ratio in ratios.items():
        table.add_row(name, f"{ratio:.2f}")
    Console().print(table)
    if options.limit is not None:
        raise SystemExit(int(ratios["an empty edit"] > options.limit))


if __name__ == "__main__":
    main()
