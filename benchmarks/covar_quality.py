"""What COVAR's quality filter finds of planted bad edits, and how many clean images it drops.

    python benchmarks/covar_quality.py [--on scenes stamps] [--seeds 3] [--objects 40]

Objects of the `scenes` data set, and real cut-outs on real photos. Sources and backgrounds that the
thresholds were taken from are never judged. Real assets: $CUESCOPE_REAL_ASSETS (default
~/.cache/cuescope-assets).
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from covar_defects import DEFECTS, Draft, frame
from PIL import Image
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score

from cuescope.application import ROLES, build, build_tool
from cuescope_covar_build.composite.painting import paint
from cuescope_covar_build.geometry import Moved
from cuescope_covar_build.quality import Case, Judges, judge, measure
from cuescope_covar_build.quality.cases import move
from cuescope_covar_build.quality.judging import Quality
from cuescope_covar_build.quality.thresholds import fit_thresholds
from cuescope_covar_build.variants import variants
from cuescope_scenes import Scenes, ScenesOptions
from cuescope_scenes.textures import SIZE, texture
from cuescope_scenes.words import BACKGROUNDS
from cuescope_sdk import Context, Frame, generator

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
SIDE = 224
COCO = {  # by the folder of a cut-out
    **{
        name: name
        for name in ("airplane", "bear", "bird", "car", "cat", "cow", "dog", "horse")
    },
    "ship": "boat",
}
SHADOW, FEATHER = 0.35, 2  # defaults of `composite`
# As many of each as a build makes.
VARIANTS = (
    "background", "scale", "viewpoint", "h-flip", "scale", "v-flip", "translate", "scale", "crop",
    "viewpoint", "rotation", "scale",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Thing:
    """A photo of an object: pixels, alpha of the object, and its class."""

    pixels: np.ndarray
    alpha: np.ndarray
    label: str


@dataclass(frozen=True, eq=False)
class World:
    """Objects and backgrounds (a name and a function of a generator) of one data set."""

    things: Sequence[Thing]
    backgrounds: Sequence[tuple[str, object]]

    def halves(self, seed: int) -> tuple["World", "World"]:
        """Two worlds that share neither object nor background."""
        rng = generator(seed, "covar-quality", "halves")
        orders = (
            rng.permutation(len(self.things)),
            rng.permutation(len(self.backgrounds)),
        )
        first, second = (
            World(
                [self.things[i] for i in orders[0][half::2]],
                [self.backgrounds[i] for i in orders[1][half::2]],
            )
            for half in (0, 1)
        )
        return first, second


def scenes_world(count: int, seed: int) -> World:
    """Drawn objects, with their own drawn background."""
    data = Scenes(ScenesOptions(val=max(count, 8), seed=seed), Context())
    things = []
    for index in range(count):
        sample = data[index]
        mask = np.asarray(sample.annotations["foreground"])
        pixels = np.asarray(sample.frames[0].load(), np.float32)
        things.append(Thing(pixels, mask.astype(np.float32), str(sample.label)))
    return World(things, [(name, partial(_texture, name)) for name in BACKGROUNDS])


def _texture(name: str, rng: np.random.Generator) -> np.ndarray:
    return (
        (texture(name, rng) + rng.normal(0, 8, (SIZE, SIZE, 3)))
        .clip(0, 255)
        .astype(np.float32)
    )


def stamps_world(count: int, seed: int) -> World:
    """Real cut-outs, each on a photo of its own."""
    rng = generator(seed, "covar-quality", "stamps")
    rows = json.loads((ASSETS / "stamps" / "index.json").read_text())
    photos = sorted((ASSETS / "backgrounds").glob("*.jpg"))
    backgrounds = [(path.stem, partial(_photo, path)) for path in photos]
    things = []
    for index in rng.permutation(len(rows))[:count]:
        row = rows[int(index)]
        stamp = Image.open(ASSETS / row["path"]).convert("RGBA")
        factor = rng.uniform(0.3, 0.7) * 2 * SIDE / sum(stamp.size)
        size = tuple(min(SIDE - 8, max(8, round(factor * side))) for side in stamp.size)
        stamp = stamp.resize(size, Image.Resampling.LANCZOS)
        corner = tuple(int(rng.integers(SIDE - side + 1)) for side in size)
        layer, alpha = (
            np.zeros((SIDE, SIDE, 3), np.float32),
            np.zeros((SIDE, SIDE), np.float32),
        )
        box = (
            slice(corner[1], corner[1] + size[1]),
            slice(corner[0], corner[0] + size[0]),
        )
        cut = np.asarray(stamp, np.float32)
        layer[box], alpha[box] = cut[..., :3], cut[..., 3] / 255
        behind = backgrounds[int(rng.integers(len(backgrounds)))][1](rng)
        pixels = np.rint(behind + alpha[..., None] * (layer - behind))
        things.append(Thing(pixels, alpha, COCO.get(row["group"], "")))
    return World(things, backgrounds)


def _photo(path: Path, rng: np.random.Generator) -> np.ndarray:
    photo = Image.open(path).convert("RGB")
    side = rng.uniform(0.6, 0.95) * min(photo.size)
    left, top = rng.uniform(0, 1, 2) * (np.array(photo.size) - side)
    box = (left, top, left + side, top + side)
    return np.asarray(
        photo.resize((SIDE, SIDE), Image.Resampling.LANCZOS, box=box), np.float32
    )


def smooth_backgrounds(side: int) -> list[tuple[str, object]]:
    """Any colours, and no detail: what the backgrounds of the limits are not."""

    def make(rng: np.random.Generator) -> np.ndarray:
        colours = rng.uniform(0, 255, (4, 4, 3)).astype(np.float32)
        smooth = cv2.resize(colours, (side, side), interpolation=cv2.INTER_CUBIC)
        return smooth.clip(0, 255)

    return [("colours", make)]


def draft(
    world: World, subset: str, known: bool, rng: np.random.Generator
) -> tuple[Draft, Case]:
    """A clean edit of an object as a build makes it, and its case (without the edited image)."""
    thing, other = (
        world.things[int(i)] for i in rng.choice(len(world.things), 2, replace=False)
    )
    name, make = world.backgrounds[int(rng.integers(len(world.backgrounds)))]
    asked = np.rint(make(rng)).astype(np.uint8)
    image, mask = thing.pixels.astype(np.uint8), thing.alpha >= 0.5
    base = paint(image, ~mask, asked, SHADOW, FEATHER)
    moved, behind, editable = _variant(subset, base, mask, asked, rng)
    clean = moved.image
    if editable.any():
        clean = paint(clean, editable, asked, SHADOW, FEATHER)
    further, further_alpha = _elsewhere(other, moved.mask, rng)
    source = Frame.from_array(image)
    parts = Draft(
        clean=clean.astype(np.float32),
        mask=moved.mask,
        layer=moved.image.astype(np.float32),
        background=np.where(moved.known[..., None], behind, clean).astype(np.float32),
        unchanged=cv2.warpAffine(
            image, moved.matrix, mask.shape[::-1], borderMode=cv2.BORDER_REFLECT_101
        ).astype(np.float32),
        other=further,
        other_alpha=further_alpha,
    )
    case = Case(
        source=source,
        source_mask=mask,
        edited=source,
        edited_mask=moved.mask,
        subset=subset,
        base=source if subset == "background" else Frame.from_array(base),
        background=name,
        label=thing.label,
        scale=float(np.sqrt(abs(np.linalg.det(moved.matrix[:, :2])))),
        geometry=None if subset == "viewpoint" else moved.matrix,
        painted=~mask if subset == "background" else editable,
        asked_background=Frame.from_array(asked)
        if known and subset in ("background", "scale")
        else None,
    )
    return parts, case


def _variant(
    subset: str,
    base: np.ndarray,
    mask: np.ndarray,
    asked: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Moved, np.ndarray, np.ndarray]:
    """The image moved, the background moved alike, and where an editor is to paint."""
    nowhere, everywhere = np.zeros_like(mask), np.ones_like(mask)
    if subset == "background":
        return Moved(base, mask, everywhere, np.eye(2, 3)), asked, nowhere
    if subset == "viewpoint":
        moved = _squeezed(base, mask, rng)
        return moved, asked, ~moved.mask
    options = [
        v for v in variants(rng, (len(mask), mask.shape[1]), "") if v.subset == subset
    ]
    variant = options[int(rng.integers(len(options)))]
    assert variant.move is not None
    moved = variant.move(base, mask)
    behind = asked if subset == "scale" else variant.move(asked, mask).image
    return moved, behind, variant.editable(moved)


def _squeezed(image: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Moved:
    """The object as if it was seen from another side; nobody is told how."""
    rows, cols = mask.shape
    matrix = np.eye(2, 3)
    matrix[0, 0], matrix[0, 1] = rng.uniform(0.7, 0.9), rng.uniform(-0.2, 0.2)
    middle = np.argwhere(mask).mean(axis=0)[::-1]
    matrix[:, 2] = middle - matrix[:, :2] @ middle
    return Moved(
        cv2.warpAffine(image, matrix, (cols, rows), borderMode=cv2.BORDER_REPLICATE),
        cv2.warpAffine(
            mask.astype(np.uint8), matrix, (cols, rows), flags=cv2.INTER_NEAREST
        )
        > 0,
        np.ones(mask.shape, bool),
        matrix,
    )


def _elsewhere(
    thing: Thing, taken: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Another object, 12% to 40% of the image's side, mostly clear of the first."""
    rows, cols = np.nonzero(thing.alpha >= 0.5)
    size = thing.alpha.shape
    box = max(np.ptp(rows), np.ptp(cols)) + 1
    best, found = -1.0, None
    for _ in range(20):
        factor = rng.uniform(0.12, 0.4) * max(size) / box
        half = 0.5 * factor * box
        to = rng.uniform(half, np.array(size) - half)
        matrix = np.diag([factor, factor, 1.0])
        matrix[:2, 2] = to[::-1] - factor * np.array([cols.mean(), rows.mean()])
        alpha = move(thing.alpha, matrix, size)
        clear = float((alpha * ~taken).sum() / max(alpha.sum(), 1e-3))
        if clear > best:
            best, found = clear, matrix
        if clear > 0.9:
            break
    return move(thing.pixels, found, size), move(thing.alpha, found, size)


def clean_cases(world: World, count: int, known: bool, seed: int) -> list[Case]:
    """Clean edits, the subsets in turn."""
    cases = []
    for index in range(count):
        rng = generator(seed, "covar-quality", "clean", str(index))
        parts, case = draft(world, VARIANTS[index % len(VARIANTS)], known, rng)
        cases.append(replace(case, edited=frame(parts.clean)))
    return cases


def planted_cases(
    world: World, count: int, known: bool, seed: int
) -> Iterator[tuple[str, str, Case]]:
    """Bad edits, `count` of each kind: kind, way, case."""
    for kind, ways in DEFECTS.items():
        for index in range(count):
            rng = generator(seed, "covar-quality", kind, str(index))
            way = list(ways)[index % len(ways)]
            subset = VARIANTS[int(rng.integers(len(VARIANTS)))]
            parts, case = draft(world, subset, known, rng)
            pixels, mask = ways[way](parts, rng)
            yield kind, way, replace(case, edited=frame(pixels), edited_mask=mask)


@dataclass(frozen=True)
class Result:
    """What the filter said of the clean and of the planted images."""

    clean: list
    planted: list[tuple[str, str, Case, Quality]]
    clean_cases: list[Case]
    seconds: float

    def auroc(self, kind: str | None = None, way: str | None = None) -> float:
        """Planted against clean, by the excess."""
        bad = [
            quality.excess
            for of_kind, of_way, _, quality in self.planted
            if kind in (None, of_kind) and way in (None, of_way)
        ]
        good = [quality.excess for quality in self.clean]
        return float(roc_auc_score([0] * len(good) + [1] * len(bad), good + bad))


def run(
    world: World,
    known: bool,
    seed: int,
    each: int,
    judges: Judges | None = None,
    *,
    smooth: bool = False,
) -> Result:
    """Calibrate on one half of the world, judge on the other, perhaps on smooth backgrounds."""
    first, second = world.halves(seed)
    if smooth:
        side = len(second.things[0].pixels)
        second = replace(second, backgrounds=smooth_backgrounds(side))
    clean_half = list(clean_cases(first, 4 * each, known, seed))
    subsets = [case.subset for case in clean_half]
    sources = [case.source.key for case in clean_half]
    thresholds = fit_thresholds(subsets, list(measure(clean_half, judges)), sources)
    cases = clean_cases(second, 4 * each, known, seed + 1)
    planted = list(planted_cases(second, each, known, seed + 2))
    begun = time.process_time()
    clean = judge(cases, thresholds, judges)
    seconds = (time.process_time() - begun) / len(cases)
    found = judge([case for *_, case in planted], thresholds, judges)
    return Result(
        clean,
        [(*row, quality) for row, quality in zip(planted, found, strict=True)],
        cases,
        seconds,
    )


def real_judges() -> Judges:
    """CLIP ViT-B/16 and YOLO11n of the real assets; both know the 80 classes of COCO alone."""
    with np.load(ASSETS / "coco80-text-vit-b16.npz", allow_pickle=False) as table:
        names = tuple(str(name) for name in table["names"])
    weights = {
        "checkpoint": str(ASSETS / "clip-vit-b16-open_clip-visual.safetensors"),
        "class_embeddings": str(ASSETS / "coco80-text-vit-b16.npz"),
    }
    context = Context(device="cpu")
    model = build(context, "model", "open-clip:ViT-B-16-quickgelu", weights).plugin
    network = ASSETS / "yolo11n/yolo11n.onnx"
    detector = build_tool(
        context, ROLES["detector"], f"onnx-detector:{network}", None
    ).plugin
    return Judges(model, detector, names)


WORLDS = {"scenes": scenes_world, "stamps": stamps_world}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--on", nargs="+", choices=list(WORLDS), default=list(WORLDS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--objects", type=int, default=60)
    parser.add_argument(
        "--each", type=int, default=60, help="planted images of each kind"
    )
    parser.add_argument(
        "--background", choices=["known", "not known"], help="[default: both]"
    )
    parser.add_argument(
        "--smooth", action="store_true", help="backgrounds without detail, limits not"
    )
    parser.add_argument(
        "--models", action="store_true", help="ask a real CLIP and YOLO too"
    )
    given = parser.parse_args()
    cv2.setNumThreads(1)
    judges = real_judges() if given.models else None
    console = Console(width=110)
    for name in given.on:
        for known in (True, False):
            if given.background not in (None, "known" if known else "not known"):
                continue
            results = [
                run(
                    WORLDS[name](given.objects, seed),
                    known,
                    seed,
                    given.each,
                    judges,
                    smooth=given.smooth,
                )
                for seed in range(given.seeds)
            ]
            title = (
                f"{name}, asked background image {'known' if known else 'not known'}"
            )
            table = Table("kind", "way", "AUROC", "least", "dropped", title=title)
            for kind, ways in [("all", {}), *DEFECTS.items()]:
                for way in [None, *ways]:
                    values = [
                        r.auroc(None if kind == "all" else kind, way) for r in results
                    ]
                    dropped = [
                        bool(quality.reason)
                        for r in results
                        for of_kind, of_way, _, quality in r.planted
                        if kind in ("all", of_kind) and way in (None, of_way)
                    ]
                    table.add_row(
                        "" if way else kind, way or "", f"{np.mean(values):.3f}",
                        f"{np.min(values):.3f}", f"{np.mean(dropped):.0%}",
                    )  # fmt: skip
            console.print(table)
            drops = [bool(q.reason) for r in results for q in r.clean]
            console.print(
                f"clean images dropped: {np.mean(drops):.1%} of {len(drops)}; "
                f"{1000 * np.mean([r.seconds for r in results]):.1f} ms an image\n"
            )


if __name__ == "__main__":
    main()
