"""Where is a cue, and what is it called, by its pictures alone? Marks on photos, and worlds.

    python benchmarks/cue_names.py --marks first --marks second
    python benchmarks/cue_names.py --world 6 --pure 0.8

A list of pictures with the cue, of which a share is `pure`, gets its place and its name as a
finding does; no model is asked. Of a mark (benchmarks/marks.py) and of a world's cue
(benchmarks/worlds/README.md) the truth is what differs between a picture with it and without.
A place is right where its overlap with what was drawn (IoU) is at least one half (PASCAL VOC,
Everingham and others, 2010), or where it is said to be everywhere and most of the picture differs.
A name is right where it holds a word of the mark's look; of worlds a person reads it.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import typer
from marks import LOOKS, SETS
from places import FARM, SCENERIES, scene
from rich.console import Console
from rich.table import Table
from worlds import MODULES, open_world
from worlds.design import Facts, World

from cuescope_sdk import (
    Audit,
    Context,
    Feature,
    Frame,
    Occurrence,
    Portrait,
    Sample,
    Score,
    derive,
    generator,
)
from cuescope_sdk.locating import attach_portraits, stretch

SHOWN = 0.4
OTHERS = 0.1  # of the pictures that show each other cue of a world
HARD = 0.3
SEEN = 8  # of 255: a smaller difference of a pixel is rounding
HALF = 0.5  # PASCAL VOC
Mask = np.ndarray
# a picture by its number, with the cue or without, and its label
Draw = Callable[[int, bool], tuple[np.ndarray, str]]


@dataclass(frozen=True)
class Planted:
    """A cue, how its pictures are drawn, and words for its look where they are known."""

    name: str
    kind: str
    draw: Draw
    words: tuple[str, ...] = ()


def of_marks(which: str) -> Iterator[Planted]:
    """The marks of a set."""
    scenery = SCENERIES.get(which, FARM)
    for name, (put, where) in SETS[which].items():

        def draw(
            number: int, shown: bool, name: str = name, put: object = put
        ) -> tuple[np.ndarray, str]:
            rng = generator(0, "names", name, str(number))
            label = scenery.labels[number % 2]
            picture = scene(label, rng, scenery)
            if shown:
                picture, _ = put(picture, rng)
            return np.asarray(picture), label

        yield Planted(name, where, draw, LOOKS[name])


def of_world(number: str) -> Iterator[Planted]:
    """The cues of a world, in pictures of two labels that it does not draw."""
    world = open_world(number)
    for cue, kind in world.kinds.items():
        [frame, *_] = world.in_frames.get(cue, (0,))

        def draw(
            index: int, shown: bool, cue: str = cue, frame: int = frame
        ) -> tuple[np.ndarray, str]:
            facts = _facts(world, cue, index, shown)
            return world.draw(facts)[frame], facts.label

        yield Planted(cue, kind, draw)


def _facts(world: World, cue: str, index: int, shown: bool) -> Facts:
    rng = generator(0, "names", world.name, cue, str(index))
    labels = [label for label in world.labels if label != world.label_of(cue)][:2]
    cues = {name for name in world.kinds if name != cue and rng.random() < OTHERS}
    if shown:
        cues.add(cue)
    return Facts(
        seed=derive(0, "names", cue, str(index)),
        label=labels[index % 2],
        setting=str(rng.choice(world.settings)),
        cues=frozenset(cues),
        is_hard=bool(rng.random() < HARD),
    )


def listed(
    planted: Planted, count: int, pure: float
) -> tuple[list[Sample], Feature, dict[str, Mask]]:
    """Pictures, a list of those with the cue, and where it was drawn in these."""
    rng = generator(0, "names", planted.name)
    samples = []
    with_it: list[str] = []
    without: list[str] = []
    places: dict[str, Mask] = {}
    for index in range(count):
        is_shown = bool(rng.random() < SHOWN)
        key = f"{index:03}"
        pixels, label = planted.draw(index, is_shown)
        if is_shown:
            plain, _ = planted.draw(index, False)
            apart = np.abs(pixels.astype(int) - plain.astype(int))
            places[key] = apart.max(axis=-1) > SEEN
        samples.append(Sample(key=key, frames=(Frame.from_array(pixels),), label=label))
        (with_it if is_shown else without).append(key)
    some = without[: round(len(with_it) * (1 - pure) / pure)]
    keys = rng.permutation([*with_it, *some]).tolist()
    occurrences = tuple(Occurrence(sample=key, frame=0) for key in keys)
    feature = Feature(key=planted.name, kind="cluster", occurrences=occurrences)
    return samples, feature, places


def portrait_of(samples: list[Sample], feature: Feature) -> Portrait | None:
    """What a report says of a finding with these occurrences."""
    audit = Audit(
        labels=tuple({str(sample.label) for sample in samples}),
        options=None,
        respond=_refuse,
        context=Context(),
        samples=tuple(samples),
    )
    score = Score(feature=feature.key, label=None, metric="m", value=1.0, finding=True)
    attach_portraits(audit, [feature], [score])
    for part, error in audit.failures.items():
        raise RuntimeError(f"{part}: {error}")
    portraits = (item for item in audit.attachments if isinstance(item, Portrait))
    return next(portraits, None)


def _refuse(*given: object) -> None:
    raise AssertionError("a portrait asks the model nothing")


def overlap(portrait: Portrait, places: dict[str, Mask]) -> float:
    """The mean overlap of the outlines on a page with what was drawn there."""
    shares = []
    for key, place in places.items():
        outline = portrait.outline_of(Occurrence(sample=key, frame=0))
        if outline is not None:
            mask = stretch(outline.mask, place.shape)
            shares.append((mask & place).sum() / max((mask | place).sum(), 1))
    return float(np.mean(shares)) if shares else 0.0


def main() -> None:
    """A row for each cue, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", action="append", choices=MODULES, default=[])
    parser.add_argument("--marks", action="append", choices=SETS, default=[])
    parser.add_argument("--pure", type=float, default=0.85)
    parser.add_argument("--samples", type=int, default=240)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    planted: list[Planted] = []
    for which in given.marks:
        planted += of_marks(which)
    for world in given.world:
        planted += of_world(world)
    if given.only:
        planted = [cue for cue in planted if cue.name in given.only]
    table = Table("cue", "what it is", "name", "AUROC", "IoU", "placed", "named")
    sums: dict[str, list[float]] = {"placed": [], "named": [], "IoU": [], "s": []}
    for cue in planted:
        samples, feature, places = listed(cue, given.samples, given.pure)
        began = time.process_time()
        portrait = portrait_of(samples, feature)
        sums["s"].append(time.process_time() - began)
        is_all_over = np.mean([place.mean() for place in places.values()]) > HALF
        name, auroc, iou, is_placed, is_named = "nothing", "", 0.0, False, False
        if portrait is not None:
            name, auroc = str(portrait.name), f"{portrait.auroc:.2f}"
            iou = overlap(portrait, places)
            is_placed = iou >= HALF
            if is_all_over:
                is_placed = portrait.where == "everywhere"
            said = f"{name} {portrait.what}"
            is_named = any(word in said for word in cue.words)
        sums["placed"].append(is_placed)
        if not is_all_over:
            sums["IoU"].append(iou)
        if cue.words:
            sums["named"].append(is_named)
        shown = "" if is_all_over else f"{iou:.2f}"
        named = "" if not cue.words else "yes" if is_named else "-"
        table.add_row(
            cue.name, cue.kind, name, auroc, shown, "yes" if is_placed else "-", named
        )
    Console(width=150).print(table)
    typer.echo(
        f"placed right {sum(sums['placed']):.0f} of {len(sums['placed'])}, "
        f"named right {sum(sums['named']):.0f} of {len(sums['named'])}, "
        f"mean IoU {np.mean(sums['IoU']):.2f} of {len(sums['IoU'])} with a place, "
        f"{np.mean(sums['s']):.1f} s of processor a cue"
    )


if __name__ == "__main__":
    main()
