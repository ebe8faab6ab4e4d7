"""Which of CCI's choices cost faithfulness: chosen on one half of the images, told of the other.

    python benchmarks/cci_choices.py                                   # the toy, on scenes
    python benchmarks/cci_choices.py --model open-clip:ViT-B-16-quickgelu \\
        --model-option checkpoint=FILE --model-option class_embeddings=FILE \\
        --data folder:scenes --data-option choices=classes.txt         # docs/cci.md

The halves are drawn by seed. On the first each choice is tried alone; the one with the largest
insertion less deletion (top 1, about the true class, the paper's protocol) is then held against the
default and the rivals on the second. With `--curves-dtype bfloat16` maps are made in float32, and
only the forward passes of the curves are not. A run that is stopped goes on where it was.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope.application import Runner
from cuescope_saliency.scores import iou_at_area
from cuescope_sdk import Context, Request, Sample
from cuescope_sdk.explain import Canvas, Explainer, Perturbation, foreground_of
from cuescope_sdk.maths import upsample

CHOICES: dict[str, dict[str, Any]] = {
    "default": {},
    "10 restarts": {"restarts": 10},
    "Euclidean": {"metric": "euclidean"},
    "Euclidean, 10 restarts (the paper's text)": {
        "metric": "euclidean",
        "restarts": 10,
    },
    "the block before the last": {"layer": -2},
    "negative weights 0": {"negative": "zero"},
    "mean of 3 starts": {"starts": 3},
    "mean of 3 starts, Euclidean": {"starts": 3, "metric": "euclidean"},
}
NEAREST = "each patch's value, not interpolated"
RIVALS = (
    *(
        "random",
        "raw-attention",
        "rollout",
        "grad-cam",
        "game",
        "maskclip",
        "clip-surgery",
    ),
    *("grad-eclip", "grad-eclip-no-lambda"),
)


class Comparison:
    """A session, and the faithfulness of explainers on its images."""

    def __init__(self, given: argparse.Namespace) -> None:
        asked: dict[str, Any] = {
            "method": "cci",
            "model": given.model,
            "data": given.data,
            "model_options": dict(pair.split("=", 1) for pair in given.model_option),
            "data_options": dict(pair.split("=", 1) for pair in given.data_option),
            "limit": given.images,
            "seed": given.seed,
            "device": "cpu",
        }
        self.context = Context(device="cpu", seed=given.seed)
        runner = Runner(self.context, Path("runs"))
        session = runner.session(Request(**asked))
        self.audit, self.build = session.audit, session.parts.context.build
        self.curves = runner.session(Request(**asked, dtype=given.curves_dtype)).audit
        self.schedule = Perturbation(steps=given.steps)
        shuffled = self.context.rng("halves").permutation(len(self.audit.samples))
        self.halves = shuffled[::2].tolist(), shuffled[1::2].tolist()

    def measure(
        self, method: Explainer, half: int, *, nearest: bool = False
    ) -> dict[str, float]:
        """Deletion and insertion AUC, and the IoU with masks at their area where there are any.

        `nearest` gives each pixel its patch's value, instead of interpolating.
        """
        own = [self.audit.samples[index] for index in self.halves[half]]
        samples = Canvas.samples(self.audit, own)
        maps = list(method.maps(self.audit, samples, [str(s.label) for s in samples]))
        if nearest:
            maps = [
                upscale_nearest(each, sample)
                for each, sample in zip(maps, samples, strict=True)
            ]
        figures = {}
        for perturbation in self.schedule.both:
            curves = perturbation.classification_curves(
                self.curves, samples, maps, top=(1,)
            )
            figures[perturbation.direction] = perturbation.auc(curves[1])
        overlaps = self._overlaps(own, maps)
        return figures | ({"IoU": float(np.mean(overlaps))} if overlaps else {})

    def _overlaps(
        self, samples: Sequence[Sample], maps: Sequence[np.ndarray]
    ) -> list[float]:
        masks = [foreground_of(sample) for sample in samples]
        known = [i for i, mask in enumerate(masks) if mask is not None]
        if not known:
            return []
        drawn = [mask for mask in masks if mask is not None]
        fine = Canvas.masks(self.audit, [samples[i] for i in known], drawn)
        return [
            iou_at_area(upsample(maps[index], mask.shape), mask)
            for index, mask in zip(known, fine, strict=True)
        ]


def upscale_nearest(importance: np.ndarray, sample: Sample) -> np.ndarray:
    """The map in pixels of the sample's frame, each with the value of its patch."""
    size = sample.frames[0].load().size
    grown = Image.fromarray(np.asarray(importance, dtype=np.float32))
    return np.asarray(grown.resize(size, Image.Resampling.NEAREST))


def render(title: str, rows: Mapping[str, Mapping[str, float]]) -> Table:
    """A table of figures."""
    columns = list(next(iter(rows.values())))
    table = Table("", *columns, title=title)
    for name, figures in rows.items():
        table.add_row(name, *(f"{figures[column]:.3f}" for column in columns))
    return table


def main() -> None:
    """Two tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="toy-clip")
    parser.add_argument(
        "--model-option", action="append", default=[], metavar="KEY=VALUE"
    )
    parser.add_argument("--data", default="scenes")
    parser.add_argument(
        "--data-option", action="append", default=[], metavar="KEY=VALUE"
    )
    parser.add_argument("--images", type=int, default=40)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--curves-dtype", default="float32", choices=("float32", "bfloat16")
    )
    given = parser.parse_args()
    held, console = Comparison(given), Console()
    methods = {
        name: held.build("method", "cci", options) for name, options in CHOICES.items()
    }
    tried = {name: held.measure(method, 0) for name, method in methods.items()}
    tried[NEAREST] = held.measure(methods["default"], 0, nearest=True)
    console.print(render(f"Choices, first half ({len(held.halves[0])} images)", tried))
    best = max(
        methods, key=lambda name: tried[name]["insertion"] - tried[name]["deletion"]
    )
    told = {
        f"CCI, {name}": held.measure(methods[name], 1)
        for name in {"default": 0, best: 0}
    }
    for rival in RIVALS:
        told[rival] = held.measure(held.build("method", f"saliency:{rival}", {}), 1)
    console.print(
        render(f"Second half ({len(held.halves[1])} images); chosen: {best}", told)
    )


if __name__ == "__main__":
    main()
