"""Whether maps of several starts of CCI's k-means lie on the object more than maps of one.

    python benchmarks/cci_starts.py --each 2

Real CLIP on composites of cut-outs and photos that `tests/real_scenes.py` never takes: docs/cci.md
has figures of those already. Needs $CUESCOPE_REAL_ASSETS. The figure of an image is the IoU of its
map with the object, at the object's area; of one start it is the mean of three audits, each with
another start. Intervals hold for images of one cut-out together.
"""

import argparse
import os
import runpy
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope.application import Runner
from cuescope_saliency.scores import iou_at_area
from cuescope_sdk import Audit, Context, Request, generator
from cuescope_sdk.explain import Explainer, canvas_masks, canvas_samples, foreground_of
from cuescope_sdk.maths import upsample
from cuescope_sdk.statistics import Groups, change_interval, mean_interval

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
REAL_SCENES = runpy.run_path(
    str(Path(__file__).parents[1] / "tests" / "real_scenes.py"), run_name="real_scenes"
)
# by folder, and by cut-out where a folder has several classes
CLASSES = {
    "bear": "bear",
    "bird": "bird",
    "car/truck": "truck",
    "fruit/apple_granny_smith": "apple",
    "fruit/apple_sierra_beauty": "apple",
    "fruit/sliced_orange": "orange",
}
SIZE = (0.16, 0.6)  # mean side of the object, as a share of the frame's
RIVALS = ("clip-surgery", "grad-eclip")
STARTS = (1, 2, 3)  # seeds of the audits of one start each


def composites(each: int, seed: int) -> Iterator[Any]:
    """Each cut-out before so many photos; photos that show one of the classes themselves, too."""
    taken = {stamp for stamps in REAL_SCENES["CLASSES"].values() for stamp in stamps}
    shown = {photo for photos in REAL_SCENES["PHOTOS"].values() for photo in photos}
    photos = [
        file
        for file in sorted((ASSETS / "backgrounds").glob("*.jpg"))
        if file.stem not in shown
    ]
    for file in sorted((ASSETS / "stamps").rglob("*.png")):
        stamp = f"{file.parent.name}/{file.stem}"
        label = CLASSES.get(stamp, CLASSES.get(file.parent.name))
        if label is None or stamp in taken:
            continue
        rng = generator(seed, "cci-starts", stamp)
        for photo in rng.permutation(len(photos))[:each]:
            pixels, mask = REAL_SCENES["draw"](
                Image.open(photos[photo]).convert("RGB"),
                Image.open(file).convert("RGBA"),
                SIZE,
                rng,
            )
            name = f"{file.stem}-{photos[photo].stem}"
            factors = {"place": photos[photo].stem, "stamp": stamp}
            yield REAL_SCENES["Scene"](name, label, pixels, mask, factors)


def overlaps(audit: Audit, method: Explainer) -> np.ndarray:
    """The IoU of each image's map about its label with its object."""
    own = audit.samples
    samples = canvas_samples(audit, own)
    masks = canvas_masks(audit, own, [foreground_of(sample) for sample in own])
    maps = method.maps(audit, samples, [str(sample.label) for sample in samples])
    return np.array(
        [
            iou_at_area(upsample(importance, mask.shape), mask)
            for importance, mask in zip(maps, masks, strict=True)
        ]
    )


def words(ends: tuple[float | None, float | None]) -> str:
    low, high = ends
    return "" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def render(
    figures: dict[str, np.ndarray], seconds: dict[str, float], stamps: Sequence[str]
) -> Table:
    """Each map's IoU, and what three starts gain over it."""
    _, codes = np.unique(stamps, return_inverse=True)
    groups = Groups(codes, int(codes.max()) + 1, declared=True)
    several = figures["CCI, 3 starts"]
    table = Table("maps", "IoU", "interval", "3 starts gain", "interval", "s an image")
    for name, values in figures.items():
        gain = several - values
        table.add_row(
            name,
            f"{values.mean():.3f}",
            words(mean_interval(values, groups)),
            f"{gain.mean():+.3f}",
            words(change_interval(gain, groups, bound=None)),
            f"{seconds[name] / len(values):.2f}",
        )
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--each", type=int, default=2, help="photos of each cut-out")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    console = Console()
    made = list(composites(given.each, given.seed))
    figures: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        REAL_SCENES["write"](data, made, REAL_SCENES["coco_classes"](ASSETS))

        def measure(spec: str, options: dict[str, Any], seed: int) -> np.ndarray:
            request = Request(
                method="cci",
                model="open-clip:ViT-B-16-quickgelu",
                model_options={
                    "checkpoint": str(
                        ASSETS / "clip-vit-b16-open_clip-visual.safetensors"
                    ),
                    "class_embeddings": str(ASSETS / "coco80-text-vit-b16.npz"),
                },
                data=f"folder:{data}",
                data_options={"choices": str(data / "classes.txt")},
                seed=seed,
                device="cpu",
            )
            # a cache for each: else the second would not pay for what the first asked
            context = Context(
                device="cpu", seed=seed, cache=data / f"{spec}-{options}-{seed}"
            )
            session = Runner(context, data / "runs").session(request)
            method = session.parts.context.build("method", spec, options)
            return overlaps(session.audit, method)

        def timed(name: str, spec: str, options: dict[str, Any], seed: int) -> None:
            begun = time.perf_counter()
            values = measure(spec, options, seed)
            seconds[name] = time.perf_counter() - begun
            figures[name] = values
            console.print(name, f"{values.mean():.3f}", highlight=False)

        for seed in STARTS:
            timed(f"CCI, 1 start ({seed})", "cci", {"starts": 1}, seed)
        timed("CCI, 3 starts", "cci", {"starts": 3}, given.seed)
        for rival in RIVALS:
            timed(rival, f"saliency:{rival}", {}, given.seed)
    singles = [figures.pop(f"CCI, 1 start ({seed})") for seed in STARTS]
    figures["CCI, 1 start"] = np.mean(singles, axis=0)
    seconds["CCI, 1 start"] = np.mean(
        [seconds[f"CCI, 1 start ({seed})"] for seed in STARTS]
    )
    stamps = [scene.factors["stamp"] for scene in made]
    console.print(f"{len(made)} composites of {len(set(stamps))} cut-outs")
    console.print(render(figures, seconds, stamps))


if __name__ == "__main__":
    main()
