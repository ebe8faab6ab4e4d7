"""Real photos a second in one process, with and without the threads that load ahead.

CLIP ViT-B/16's own preprocessing of photos, and two networks behind it: the tower itself on this
CPU, on one thread, and one that sleeps for as long as a photo is prepared, as an accelerator that
is as fast as its loader. No way can be quicker than the slower of the two, preparing and answering
(the floor): `reached` is the floor over what a photo took.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read as torch is imported

import torch
from rich.console import Console
from rich.table import Table

from cuescope_core.capabilities import Respond
from cuescope_core.context import Context
from cuescope_core.respond import InProcess, ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_core.types import Frame, Response, Sample, Trial
from cuescope_transformers import Transformers, TransformersOptions

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
DIM, SLOW = 512, 24  # photos through the tower itself
TURNS = 3  # each photo is asked so often, each time as another one


class OneByOne:
    """The executor without the threads."""

    def map(
        self, build: Any, batches: Sequence[Sequence[Trial]]
    ) -> Iterator[tuple[int, list[Response]]]:
        respond: Respond = build()
        for index, batch in enumerate(batches):
            yield index, respond(batch)


def open_clip(sleep: float | None) -> Transformers:
    """The image tower, opened; with `sleep`, its network takes that many seconds a photo."""
    context = Context(device="cpu", batch_size=16)
    model = Transformers(
        TransformersOptions(model=str(ASSETS / "clip-vit-b16-vision")), context
    )
    if sleep is not None:

        def encode(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
            time.sleep(sleep * len(inputs["pixel_values"]))
            return torch.ones(len(inputs["pixel_values"]), DIM)

        model.image_tower = replace(model.image_tower, encode=encode)
    model.open_weights()
    return model


def seconds_a_photo(model: Transformers, trials: list[Trial], ahead: bool) -> float:
    """Through `respond` and a cache, as in an audit."""
    with tempfile.TemporaryDirectory() as folder:
        cache = ResponseCache(Path(folder) / "responses.sqlite")
        executor: Any = InProcess() if ahead else OneByOne()
        ask = ModelRunner(
            "bench", lambda: model, cache, batch_size=16, executor=executor
        )
        since = time.perf_counter()
        ask(trials)
        cache.close()
        return (time.perf_counter() - since) / len(trials)


@torch.inference_mode()
def seconds_an_answer(
    model: Transformers, inputs: Sequence[dict[str, torch.Tensor]]
) -> float:
    """Of the network alone; one that sleeps wakes a little late, too."""
    since = time.perf_counter()
    for each in inputs:
        model.image_tower.encode(each)
    return (time.perf_counter() - since) / len(inputs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--photos", type=int, default=100)
    options = parser.parse_args()
    files = sorted((ASSETS / "photos").glob("*.jpg"))[: options.photos]
    if not files:
        Console().print("needs real photos: set CUESCOPE_REAL_ASSETS")
        return
    torch.set_num_threads(1)
    outputs: Any = frozenset({"embedding"})
    trials = [
        Trial(sample=Sample(key=frame.key, frames=(frame,)), outputs=outputs)
        for turn in range(TURNS)
        for frame in (
            replace(f, key=f"{f.key}-{turn}") for f in map(Frame.from_file, files)
        )
    ]
    tower = open_clip(None).image_tower
    since = time.perf_counter()
    inputs = [
        tower.prepare([trial.sample.frames[0].load()]) for trial in trials[: len(files)]
    ]
    prepare = (time.perf_counter() - since) / len(inputs)
    columns = ("network", "prepare", "answer", "without", "with", "ratio", "reached")
    table = Table(*columns, box=None)
    for name, sleep in (("ViT-B/16, one thread", None), ("sleeps", prepare)):
        asked = trials if sleep else trials[:SLOW]
        answer = seconds_an_answer(
            open_clip(sleep), inputs[: 8 if sleep is None else None]
        )
        without, ahead = (
            seconds_a_photo(open_clip(sleep), asked, on) for on in (False, True)
        )
        table.add_row(
            name,
            *(f"{1000 * each:.1f} ms" for each in (prepare, answer, without, ahead)),
            f"{without / ahead:.2f}",
            f"{max(prepare, answer) / ahead:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
