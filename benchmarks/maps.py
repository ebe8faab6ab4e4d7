"""Maps of answers whose cause is known: are causes proved, and nothing else?

    python benchmarks/maps.py --folder FOLDER [--only NAME] [--samples 40]

*toy*: a small fusion model that was asked for objects it sees; the cause is the object's box, a
decoy that of another thing, or a sticker that hard pictures alone have. *vlm*: the tiny Qwen3-VL of
planted_vlm.py where it says that an object is there which is not: the cause is the thing that it
learned to go by. *clip*: OpenAI's CLIP ViT-B/16 on cut-outs; the cause is the cut-out, a decoy a
flower. *nothing*: a model that answers by chance, anew
for every change of a picture.
The proof is given causes and decoys as regions; then every explainer draws maps of its own.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from pydantic import Field
from rich.console import Console
from rich.table import Table
from worlds.stamps.compositing import assets

from cuescope_core.context import Context
from cuescope_core.store import ResponseCache
from cuescope_maps import Maps
from cuescope_maps.trials import draw_maps
from cuescope_open_clip import OpenCLIP
from cuescope_sdk import (
    Capabilities,
    Frame,
    Options,
    Plugin,
    Response,
    Sample,
    Trial,
    digest,
    generator,
)
from cuescope_sdk.explain import Explained, RegionExplainer, Steps
from cuescope_sdk.statistics import Estimate, Groups, Roc
from cuescope_testing import Setup
from cuescope_toy.fusion import ToyFusion
from cuescope_transformers.generative import TransformersVLM

PLANTED = {"cup": "table", "bird": "tree", "car": "road"}
CUT_OUTS = ("bird", "dog", "cat", "bear", "horse", "cow", "airplane", "car")
SIDE = 224
BOTH = ("cause", "decoy")
BLACK_BOXES = ("greedy", "shapley", "rise", "occlusion", "random")
POOLS: dict[str, tuple[Sample, ...]] = {}
Box = tuple[float, float, float, float]


class PoolOptions(Options):
    """Which samples."""

    pool: str = Field("", description="key of `POOLS`")


class Pool(Plugin):
    """Samples that the bench has drawn."""

    Options = PoolOptions
    options: PoolOptions
    facts: Mapping[str, str] = {}

    def __init__(self, options: PoolOptions, context: Context) -> None:
        super().__init__(options, context)
        self.samples = POOLS[options.pool]
        self.labels = self.samples[0].choices
        self.fingerprint = digest([sample.frames[0].key for sample in self.samples])

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


class Cause(RegionExplainer):
    """The parts of which a known box covers a tenth, or the one that it covers most."""

    title = "the known cause"
    name = "cause"

    def explain(self, case: Explained) -> Steps:
        """Nothing is asked."""
        yield from ()
        return parts_in(case.sample.annotations[self.name], case)

    def calls(self, parts: int, budget: int) -> int:
        """None."""
        return 0


class Decoy(Cause):
    """The same of what is no cause."""

    title = "a decoy"
    name = "decoy"


def parts_in(box: Box, case: Explained) -> np.ndarray:
    width, height = case.sample.frames[0].load().size
    x0, y0, x1, y1 = (round(edge) for edge in box)
    inside = np.zeros((height, width))
    inside[y0:y1, x0:x1] = 1
    covered = case.grid.pool(inside)
    # a tenth: what the box has of a part goes with the part
    return covered >= min(0.1, covered.max())


class Chance(Plugin):
    """Says "light" or "dark" by chance, anew for every change of a picture."""

    Options = Options
    fingerprint = "chance"
    facts: Mapping[str, str] = {}
    capabilities = Capabilities(outputs=frozenset({"logits"}))

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Whatever the picture shows."""
        return [Response(logits=self.logits(trial.sample)) for trial in trials]

    def logits(self, sample: Sample) -> np.ndarray:
        """Log odds from a normal distribution, by the bits of the pixels."""
        pixels = np.asarray(sample.frames[0].load())
        odds = generator(0, digest(pixels)).normal(0, 2)
        return np.array([odds, -odds], np.float32)


# ----------------------------------------------------------------------------------- samples


@dataclass(frozen=True)
class World:
    """A model, how it is built, and the samples whose cause is known."""

    name: str
    model: type[Any]
    options: Mapping[str, Any]
    draw: Callable[[int], Iterator[Sample]]
    dtype: str = "float32"


def scenes(count: int) -> Iterator[Sample]:
    """Questions about objects that are there and well seen, and cues that are there."""
    given = {"questions": "presence", "val": 40 * count, "seed": 5}
    data = Context(device="cpu").build("dataset", "object-scenes", given)
    for index in range(len(data)):
        yield data[index]


def box_of(sample: Sample, name: str) -> Box | None:
    boxes = {found.name: found.box for found in sample.annotations["boxes"]}
    return boxes.get(name)


def other_box(sample: Sample, names: Sequence[str], rng: np.random.Generator) -> Box:
    """That of anything else in the picture."""
    boxes = [
        found.box for found in sample.annotations["boxes"] if found.name not in names
    ]
    return boxes[int(rng.integers(len(boxes)))] if boxes else (0, 0, 14, 14)


def known(sample: Sample, cause: Box, decoy: Box) -> Sample:
    return replace(sample, annotations={"cause": cause, "decoy": decoy})


def toys(count: int) -> Iterator[Sample]:
    for sample in scenes(count):
        asked = sample.annotations["question_type"]
        box = box_of(sample, asked)
        if box and asked not in PLANTED and sample.label == "yes":
            rng = generator(1, "decoy", sample.key)
            yield known(sample, box, other_box(sample, (asked,), rng))


def hallucinations(count: int) -> Iterator[Sample]:
    for sample in scenes(count):
        asked = sample.annotations["question_type"]
        thing = PLANTED.get(asked)
        box = box_of(sample, thing) if thing else None
        if box and sample.label == "no":
            rng = generator(1, "decoy", sample.key)
            yield known(
                replace(sample, label="yes"), box, other_box(sample, (thing,), rng)
            )


def cut_outs(count: int) -> Iterator[Sample]:
    """One cut-out of a class and one flower, apart, on a photo."""
    photos = sorted((assets() / "backgrounds").glob("*.jpg"))
    flowers = sorted((assets() / "stamps" / "flower").glob("*.png"))
    for number in range(8 * count):
        rng = generator(2, "cut-outs", str(number))
        label = CUT_OUTS[number % len(CUT_OUTS)]
        stamps = sorted((assets() / "stamps" / label).glob("*.png"))
        photo = Image.open(photos[rng.integers(len(photos))]).convert("RGB")
        picture = photo.resize((SIDE, SIDE))
        left = bool(rng.integers(2))
        boxes = []
        for stamp, at_left in ((stamps, left), (flowers, not left)):
            image = Image.open(stamp[rng.integers(len(stamp))]).convert("RGBA")
            image.thumbnail((90, 90))
            x = int(rng.integers(0, SIDE // 2 - image.width + 1))
            x += 0 if at_left else SIDE // 2
            y = int(rng.integers(0, SIDE - image.height + 1))
            picture.paste(image, (x, y), image)
            boxes.append((x, y, x + image.width, y + image.height))
        sample = Sample(
            key=f"cut-out-{number:04d}",
            frames=(Frame.from_array(np.asarray(picture)),),
            choices=CUT_OUTS,
            label=label,
        )
        yield known(sample, boxes[0], boxes[1])


def greys(count: int) -> Iterator[Sample]:
    for number, sample in enumerate(cut_outs(count)):
        yield replace(
            sample,
            choices=("light", "dark"),
            label=("light", "dark")[number % 2],
        )


def with_sticker(sample: Sample) -> Sample:
    """A yellow patch in a corner that neither box has."""
    width, height = sample.frames[0].load().size
    side = width // 5
    corners = [(x, y) for x in (0, width - side) for y in (0, height - side)]
    x0, y0, x1, y1 = sample.annotations["cause"]
    x, y = max(corners, key=lambda at: abs(at[0] - x0) + abs(at[1] - y0))
    box = (x, y, x + side, y + side)
    frame = sample.frames[0].derive(f"sticker {box}", partial(_stick, box))
    return known(sample.with_frames((frame,), "sticker"), (x0, y0, x1, y1), box)


def _stick(box: Box, image: Image.Image) -> Image.Image:
    ImageDraw.Draw(image).rectangle(box, fill=(240, 220, 40))
    return image


def worlds(folder: Path) -> list[World]:
    clip = {
        "model": "ViT-B-16-quickgelu",
        "checkpoint": assets() / "clip-vit-b16-open_clip-visual.safetensors",
        "class_embeddings": assets() / "coco80-text-vit-b16.npz",
    }
    toy = {"data": "object-scenes:presence", "patches": 4, "epochs": 10}
    vlm = {"model": str(folder / "vlm")}
    return [
        World("toy", ToyFusion, toy, toys),
        World("vlm", TransformersVLM, vlm, hallucinations),
        World("clip", OpenCLIP, clip, cut_outs, "bfloat16"),
        World("nothing", Chance, {}, greys),
    ]


# ---------------------------------------------------------------------------------- measuring


def answers_as_told(world: World, count: int) -> tuple[Sample, ...]:
    """Samples to which the model gives the label; the less sure half of them gets a sticker."""
    context = Context(device="cpu", dtype=world.dtype)
    model = world.model(world.model.Options(**world.options), context)
    kept: list[tuple[float, Sample]] = []
    drawn = world.draw(count)
    while len(kept) < count and (part := list(islice(drawn, 32))):
        trials = [Trial(sample=sample) for sample in part]
        for sample, response in zip(part, model.respond(trials), strict=True):
            logits = np.sort(response.logits)
            if sample.choices[response.prediction] == sample.label:
                kept.append((float(logits[-1] - logits[-2]), sample))
    kept = kept[:count]
    middle = np.median([sure for sure, _ in kept])
    return tuple(
        with_sticker(sample) if sure < middle else sample for sure, sample in kept
    )


def audit(
    world: World, samples: Sequence[Sample], explainers: Sequence[str], cache_: Path
) -> tuple[list[Any], list[Any], Any]:
    """Maps, what came of each, and the report."""
    POOLS[world.name] = tuple(samples)
    setup = Setup(
        Maps,
        world.model,
        Pool,
        options={"explainers": tuple(explainers), "samples": len(samples)},
        model_options=world.options,
        data_options={"pool": world.name},
        others={("explainer", "cause"): Cause, ("explainer", "decoy"): Decoy},
    )
    store = ResponseCache(cache_ / f"{world.name}.sqlite")
    session = setup.session(store, device="cpu", dtype=world.dtype, batch_size=32)
    report = session.run()
    store.close()
    own = session.audit
    maps = own.once(draw_maps, own, own.options)
    return maps, own.figures, report


def proofs(figures: Sequence[Any], explainer: str) -> np.ndarray:
    """Probability that each region of an explainer matters."""
    return np.array(
        [
            value
            for _, feature, measure, value, _ in figures
            if feature == explainer and measure == "probability"
        ]
    )


def share(values: np.ndarray) -> str:
    """The share of maps that hold, with its interval."""
    held = (values >= 0.95).astype(float)
    found = Estimate.of_mean(held, Groups.single(len(held)))
    return f"{found.value:.0%} ({found.low:.0%} to {found.high:.0%})"


def main() -> None:
    """Print both tables, and write them beside."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--drawn", type=int, default=16)
    parser.add_argument("--inside", nargs="*", default=())
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    os.environ["CUESCOPE_CACHE"] = str(asked.folder / "cache")
    console = Console(width=110)
    if not (asked.folder / "vlm").exists() and "vlm" in (asked.only or ["vlm"]):
        from planted_vlm import train

        train(asked.folder / "vlm", say=console.print)
    proof = Table("model", "n", "AUROC", "causes proved", "decoys proved")
    drawn = Table(
        "model", "explainer", "n", "hold", "on cause", "insertion", "deletion", "calls"
    )
    for world in worlds(asked.folder):
        if asked.only and world.name not in asked.only:
            continue
        samples = answers_as_told(world, asked.samples)
        _, figures, _ = audit(world, samples, BOTH, asked.folder)
        causes, decoys = (proofs(figures, name) for name in BOTH)
        auroc = Roc.of(causes, decoys).auroc()
        proof.add_row(
            world.name,
            str(len(causes)),
            "-" if world.name == "nothing" else f"{auroc:.3f}",
            share(causes),
            share(decoys),
        )
        console.print(proof)
        few = samples[: asked.drawn]
        explainers = [*BLACK_BOXES, *(asked.inside if world.name == "vlm" else ())]
        maps, figures, report = audit(world, few, explainers, asked.folder)
        for name in explainers:
            own = [one for one in maps if one.explainer == name]
            hits = []
            for one in own:
                box = one.target.sample.annotations["cause"]
                case = Explained(
                    one.target.sample, "", None, one.grid, 1.0, 0, generator(0, "none")
                )
                hits.append(parts_in(box, case)[int(one.importance.argmax())])
            drawn.add_row(
                world.name,
                name,
                str(len(own)),
                share(proofs(figures, name)),
                f"{np.mean(hits):.0%}",
                f"{np.mean([one.insertion for one in own]):.3f}",
                f"{np.mean([one.deletion for one in own]):.3f}",
                f"{np.mean([one.calls for one in own]):.0f}",
            )
        calls = report.cost.model_calls / len(few)
        console.print(drawn)
        console.print(f"{world.name}: {calls:.0f} answers a picture, all explainers")


if __name__ == "__main__":
    main()
