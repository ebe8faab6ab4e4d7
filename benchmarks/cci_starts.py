"""Whether maps of several starts of CCI's k-means lie on the object more than maps of one.

    python benchmarks/cci_starts.py --each 1

Real CLIP on composites of cut-outs and photos that `tests/real_scenes.py` never takes: docs/cci.md
has figures of those already. Needs $CUESCOPE_REAL_ASSETS. The figure of an image is the IoU of its
map with the object, at the object's area; of one start it is the mean over the three starts whose
maps are averaged. Intervals hold for images of one cut-out together.
"""

import argparse
import os
import runpy
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope.application import Runner
from cuescope_cci.options import CCIOptions
from cuescope_cci.trials import Start, ask_images
from cuescope_saliency.scores import iou_at_area
from cuescope_sdk import Audit, Context, Request, Sample, generator
from cuescope_sdk.explain import Canvas, Explainer, foreground_of
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
STARTS = 3
ONE, SEVERAL = "CCI, 1 start", "CCI, 3 starts"


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


def overlaps(audit: Audit, method: Explainer) -> list[float]:
    """The IoU of each image's map about its label with its object."""
    figures = []
    for sample in audit.samples:
        [drawn] = Canvas.samples(audit, [sample])
        [importance] = method.maps(audit, [drawn], [str(sample.label)])
        figures.append(overlap(audit, sample, importance))
    return figures


def overlap(audit: Audit, sample: Sample, importance: np.ndarray) -> float:
    """The IoU of a map with the object of its image, at the object's area."""
    [mask] = Canvas.masks(audit, [sample], [foreground_of(sample)])
    return iou_at_area(upsample(importance, mask.shape), mask)


def overlaps_by_start(audit: Audit) -> dict[str, list[float]]:
    """The same of CCI: the mean over single starts, and of their mean map."""
    options = CCIOptions(starts=STARTS)
    figures: dict[str, list[float]] = {ONE: [], SEVERAL: []}
    for sample in audit.samples:
        [image] = ask_images(audit, options, Canvas.samples(audit, [sample]))
        singles = []
        for start in (Start(image.cluster, image.drops), *image.further):
            alone = replace(image, cluster=start.cluster, drops=start.drops, further=())
            importance = alone.map_of(str(sample.label))
            singles.append(overlap(audit, sample, importance))
        mean = image.map_of(str(sample.label))
        figures[ONE].append(float(np.mean(singles)))
        figures[SEVERAL].append(overlap(audit, sample, mean))
    return figures


def words(ends: tuple[float | None, float | None]) -> str:
    low, high = ends
    return "" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def render(
    figures: dict[str, np.ndarray], seconds: dict[str, float], stamps: Sequence[str]
) -> Table:
    """Each map's IoU, and what three starts gain over it."""
    _, codes = np.unique(stamps, return_inverse=True)
    groups = Groups(codes, int(codes.max()) + 1, declared=True)
    several = figures[SEVERAL]
    table = Table("maps", "IoU", "interval", "3 starts gain", "interval", "s an image")
    for name, values in figures.items():
        gain = several - values
        table.add_row(
            name,
            f"{values.mean():.3f}",
            words(mean_interval(values, groups)),
            f"{gain.mean():+.3f}",
            words(change_interval(gain, groups, bound=None)),
            f"{seconds[name] / len(values):.2f}" if name in seconds else "",
        )
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--each", type=int, default=2, help="photos of each cut-out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rivals", nargs="*", default=RIVALS, help="of saliency")
    given = parser.parse_args()
    console = Console()
    made = list(composites(given.each, given.seed))
    figures: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        REAL_SCENES["write"](data, made, REAL_SCENES["coco_classes"](ASSETS))

        def session_of(method: str) -> Any:
            request = Request(
                method=method,
                model="open-clip:ViT-B-16-quickgelu",
                model_options={
                    "checkpoint": str(
                        ASSETS / "clip-vit-b16-open_clip-visual.safetensors"
                    ),
                    "class_embeddings": str(ASSETS / "coco80-text-vit-b16.npz"),
                },
                data=f"folder:{data}",
                data_options={"choices": str(data / "classes.txt")},
                device="cpu",
            )
            # a cache for each: else the second would not pay for what the first asked
            name = method.replace(":", "-")
            context = Context(device="cpu", seed=given.seed, cache=data / name)
            return Runner(context, data / "runs").session(request)

        begun = time.perf_counter()
        for name, values in overlaps_by_start(session_of("cci").audit).items():
            figures[name] = np.array(values)
            console.print(name, f"{figures[name].mean():.3f}", highlight=False)
        seconds[SEVERAL] = time.perf_counter() - begun
        for rival in given.rivals:
            begun = time.perf_counter()
            session = session_of(f"saliency:{rival}")
            figures[rival] = np.array(
                overlaps(session.audit, session.parts.method.plugin)
            )
            seconds[rival] = time.perf_counter() - begun
            console.print(rival, f"{figures[rival].mean():.3f}", highlight=False)
    stamps = [scene.factors["stamp"] for scene in made]
    console.print(f"{len(made)} composites of {len(set(stamps))} cut-outs")
    console.print(render(figures, seconds, stamps))


if __name__ == "__main__":
    main()
