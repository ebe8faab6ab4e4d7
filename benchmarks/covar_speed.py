"""Building a COVAR by pasting, as a ratio to a bare loop that pastes and writes the same images.

The loop knows its backgrounds, pastes by `numpy.where`, moves by OpenCV and writes PNG files in two
threads as the build does; no seed, no shadow, no check, no manifest. Neither judges its images:
what the quality filter costs is told by covar_quality.py. The ratio is of processor seconds, so
that other programs hardly move it.
"""

import argparse
import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from cuescope_covar_build.building import THREADS, Builder
from cuescope_covar_build.composite import Composite, best_name
from cuescope_covar_build.composite.drawn import Drawn
from cuescope_covar_build.files import COMPRESSION, BuildFolder
from cuescope_covar_build.lists import read_backgrounds
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Sources
from cuescope_covar_build.variants import SCALES
from cuescope_folder import Folder
from cuescope_sdk import Context, generator
from cuescope_sdk.data import CovarManifest

SIDE = 224
LIMIT = 3.0  # times the bare loop
# images of a photo and background that are pasted; the others are moved
KEEP = 3 + len(SCALES)


def write_inputs(root: Path, photos: int) -> None:
    """Smooth noise with an ellipse as its object, and a drawn background each as a photo."""
    rng, rows = generator(0, "photos"), []
    (root / "photos").mkdir(parents=True)
    (root / "backgrounds").mkdir()
    for number in range(photos):
        pixels = cv2.resize(rng.integers(0, 256, (28, 28, 3), np.uint8), (SIDE, SIDE))
        mask = cv2.ellipse(
            np.zeros((SIDE, SIDE), np.uint8),
            (SIDE // 2, SIDE // 2),
            (60, 40),
            20,
            0,
            360,
            255,
            -1,
        )
        Image.fromarray(pixels).save(root / "photos" / f"{number}.png")
        Image.fromarray(np.asarray(mask)).save(root / "photos" / f"{number}-mask.png")
        rows.append(
            {"path": f"{number}.png", "label": "ellipse", "mask": f"{number}-mask.png"}
        )
    (root / "photos" / "manifest.jsonl").write_text(
        "".join(f"{json.dumps(r)}\n" for r in rows)
    )
    drawn = Drawn()
    for background in read_backgrounds(None):
        name = str(best_name(background.prompt, drawn.names))
        image = drawn.show(name, (480, 640), generator(0, name))
        Image.fromarray(image).save(
            root / "backgrounds" / f"{background.name}.jpg", quality=92
        )


def build(root: Path, out: Path) -> int:
    """As `cuescope covar build` does; how many images."""
    context = Context(cache=root / "cache")
    data = Folder(Folder.Options(path=root / "photos"), context)
    tool = Composite(Composite.Options(folder=root / "backgrounds"), context)
    recipe = Recipe(
        "photos", read_backgrounds(None), NamedEditor("composite", "f", tool)
    )
    folder = BuildFolder(out, {})
    folder.begin()
    sources = Sources(data, range(len(data)), None, None)
    rows = Builder(recipe, sources, folder).run(context)
    CovarManifest(rows, data.labels).write(out)
    return len(rows)


def paste(root: Path, out: Path) -> int:
    """The same number of images in a bare loop."""
    photos = sorted((root / "photos").glob("*[0-9].png"))
    scenes = [
        cv2.imread(str(file)) for file in sorted((root / "backgrounds").glob("*.jpg"))
    ]
    turn = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), 20, 1)
    (out / "images").mkdir(parents=True)
    jobs = []

    def write(name: str, image: np.ndarray, mask: np.ndarray) -> None:
        for kind, pixels in (("i", image), ("m", mask)):
            content = cv2.imencode(
                ".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, COMPRESSION]
            )[1]
            (out / "images" / f"{name}-{kind}.png").write_bytes(content.tobytes())

    with ThreadPoolExecutor(THREADS) as pool:
        for file in photos:
            photo = cv2.imread(str(file))
            mask = cv2.imread(str(file.with_name(f"{file.stem}-mask.png")), 0)
            jobs.append(pool.submit(write, file.stem, photo, mask))
            for number, scene in enumerate(scenes):
                shown = np.where(
                    mask[..., None] > 0, photo, cv2.resize(scene, (SIDE, SIDE))
                )
                images = [(shown, mask)]
                for _ in range(KEEP - 1):
                    moved = cv2.warpAffine(shown, turn, (SIDE, SIDE))
                    there = cv2.warpAffine(
                        mask, turn, (SIDE, SIDE), flags=cv2.INTER_NEAREST
                    )
                    filled = cv2.resize(scene, (SIDE, SIDE))
                    images.append(
                        (np.where(there[..., None] > 0, moved, filled), there)
                    )
                images += [
                    (cv2.flip(shown, axis), cv2.flip(mask, axis)) for axis in (0, 1)
                ]
                part = slice(20, SIDE - 20)
                images.append(
                    (
                        cv2.resize(shown[part, part], (SIDE, SIDE)),
                        cv2.resize(mask[part, part], (SIDE, SIDE), interpolation=0),
                    )
                )
                for variant, pair in enumerate(images):
                    jobs.append(
                        pool.submit(write, f"{file.stem}-{number}-{variant}", *pair)
                    )
    for job in jobs:
        job.result()
    return len(jobs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=6)
    photos = parser.parse_args().photos
    table = Table(
        "", "images", "took", "CPU", "a second", "MB", "times bare", "aim", "", box=None
    )
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        write_inputs(root, photos)
        build(root, root / "warm")  # modules, photos and masks are read
        bare = 0.0
        for what, work in (("bare", paste), ("covar build", build)):
            wall, cpu = time.perf_counter(), time.process_time()
            images = work(root, root / what)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            bare = bare or cpu
            size = (
                sum(file.stat().st_size for file in (root / what).rglob("*.png")) / 1e6
            )
            verdict = "met" if cpu <= LIMIT * bare else "missed"
            table.add_row(
                what,
                f"{images:,}",
                f"{wall:.1f} s",
                f"{cpu:.1f} s",
                f"{images / wall:,.0f}",
                f"{size:.0f}",
                f"{cpu / bare:.2f}",
                *(("", "") if what == "bare" else (f"<= {LIMIT:g}", verdict)),
            )
    Console().print(f"{photos} photos of {SIDE} x {SIDE} on 20 backgrounds", table)


if __name__ == "__main__":
    main()
