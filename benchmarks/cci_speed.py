"""CCI, the explainers and the faithfulness protocol, as ratios to the forward passes they need.

A stock open_clip ViT of random weights (224 x 224, patches of 32) is asked on one core, through the
engine with its cache on disk. The unit is the image tower's bare forward pass on an input that is
ready. Processor seconds, so that other programs hardly move the ratios.
"""

import argparse
import json
import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import open_clip
import torch
from PIL import Image
from rich.console import Console
from rich.table import Table
from safetensors.torch import save_file

from cuescope.respond import ModelRunner
from cuescope.store import ResponseCache
from cuescope_saliency import EXPLAINERS
from cuescope_sdk import Audit, Context, Frame, Options, Sample
from cuescope_sdk.explain import Explainer, Perturbation

SIDE, PATCH = 224, 32
VISION = {
    "image_size": SIDE,
    "layers": 6,
    "width": 256,
    "head_width": 64,
    "patch_size": PATCH,
}
TEXT = {"context_length": 32, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2}
LABELS = tuple(f"thing {number}" for number in range(100))
PROTOCOL_LIMIT, CCI_LIMIT = 1.15, 1.1


def write_model(folder: Path) -> Path:
    """Configuration and weights of a random model, as on the hub."""
    shape = {"embed_dim": 128, "vision_cfg": VISION, "text_cfg": TEXT}
    norm = {"mean": [0.48] * 3, "std": [0.27] * 3}
    content = json.dumps({"model_cfg": shape, "preprocess_cfg": norm})
    (folder / "open_clip_config.json").write_text(content)
    model = open_clip.create_model(f"local-dir:{folder}")
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return folder


def images(count: int, seed: int) -> list[Sample]:
    """Smooth random pictures on the model's canvas."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (count, 14, 14, 3), dtype=np.uint8)
    large = [
        np.asarray(Image.fromarray(pixels).resize((SIDE, SIDE))) for pixels in small
    ]
    return [
        Sample(
            key=f"{i}",
            frames=(Frame.from_array(pixels),),
            choices=LABELS,
            label=LABELS[i],
        )
        for i, pixels in enumerate(large)
    ]


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


class Bench:
    """A model, and audits of it on images that it has not seen."""

    def __init__(self, folder: Path, count: int, rounds: int) -> None:
        self.folder, self.count, self.rounds = folder, count, rounds
        self.context = Context(device="cpu")
        self.model = self.context.build("model", f"open-clip:{write_model(folder)}")
        # Opened here: weights that are first needed in inference mode cannot have gradients.
        self.tower = self.model.image_tower
        self.model.embed_choices(LABELS)
        self._seed = 0

    def in_forwards(self, work: Callable[[Audit, Sequence[Sample]], object]) -> float:
        """What an image costs, in bare forward passes timed before and after: median of rounds."""
        return median(self._round(work) for _ in range(self.rounds))

    def _round(self, work: Callable[[Audit, Sequence[Sample]], object]) -> float:
        self._seed += 1
        samples = images(self.count, self._seed)
        with self._audit() as audit:
            before = self._forward(samples[0])
            taken = seconds(lambda: work(audit, samples)) / self.count
            return taken / ((before + self._forward(samples[0])) / 2)

    def _forward(self, sample: Sample, passes: int = 40) -> float:
        inputs = self.tower.prepare([sample.frames[0].load()])
        with torch.inference_mode():
            encode = partial(self.tower.encode, inputs)
            return seconds(lambda: [encode() for _ in range(passes)]) / passes

    @contextmanager
    def _audit(self) -> Iterator[Audit]:
        with closing(
            ResponseCache(self.folder / f"cache-{self._seed}.sqlite")
        ) as cache:
            runner = ModelRunner("bench", lambda: self.model, cache, batch_size=64)
            yield Audit(LABELS, Options(), runner, Context(seed=self._seed))


def protocol(schedule: Perturbation, audit: Audit, samples: Sequence[Sample]) -> None:
    """Deletion and insertion by maps of the model's own grid."""
    grid = SIDE // PATCH
    maps = [audit.rng("map", sample.key).random((grid, grid)) for sample in samples]
    for perturbation in schedule.both:
        perturbation.classification_curves(audit, samples, maps)


def explained(method: Explainer, audit: Audit, samples: Sequence[Sample]) -> None:
    """A map of each image, for its label."""
    list(method.maps(audit, samples, [str(sample.label) for sample in samples]))


Row = tuple[str, float, float | None, float | None]


def rows(bench: Bench, steps: int, masks: int) -> Iterator[Row]:
    """What is measured: its cost in forwards, those that it needs at least, and the limit."""
    for name in ("paper", "rise"):
        schedule = Perturbation(protocol=name, steps=steps)
        cost = bench.in_forwards(partial(protocol, schedule))
        # one frame of the two ways is shared: the whole image under "rise"
        needed = 2 * (steps + 1) - (name == "rise")
        yield f"deletion and insertion, {name}", cost, needed, PROTOCOL_LIMIT
    cci = bench.context.build("method", "cci")
    cost = bench.in_forwards(partial(explained, cci))
    yield f"CCI, K = {cci.options.k}", cost, cci.options.k + 1, CCI_LIMIT
    for name in EXPLAINERS:
        options = {"rise_masks": masks} if name == "rise" else {}
        method = bench.context.build("method", f"saliency:{name}", options)
        title = f"{name}, {masks} masks" if name == "rise" else name
        yield title, bench.in_forwards(partial(explained, method)), None, None


def main() -> None:
    """Print the table; exits with 1 where a ratio is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument(
        "--masks", type=int, default=100, help="of RISE, which needs 2000 or more"
    )
    asked = parser.parse_args()
    table = Table("cost of an image", "forwards", "at least", "ratio", "limit")
    over = False
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)  # open_clip says that random weights are random
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), asked.images, asked.rounds)
        for title, cost, needed, limit in rows(bench, asked.steps, asked.masks):
            ratio = cost / needed if needed else None
            over |= bool(ratio and limit and ratio > limit)
            shown = [f"{ratio:.3f}", f"{limit:g}"] if ratio else ["", ""]
            table.add_row(title, f"{cost:.1f}", f"{needed or ''}", *shown)
    Console().print(table)
    raise SystemExit(int(over))


if __name__ == "__main__":
    main()
