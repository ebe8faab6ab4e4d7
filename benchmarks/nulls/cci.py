"""How often CCI finds something where there is nothing, and how often it finds what is planted.

    python benchmarks/nulls/cci.py --audits 1000

Simulated audits: the logits of an image are those of its object plus those of its background, and
the test gets what it gets of a model: the answers to the image, to the object and to the background
alone. Nothing else is simulated: kinds, strata, tests and the rule of a finding are CCI's own.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope_cci.backgrounds.measure import Backgrounds, measure_backgrounds
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.error_source.regions import Apart
from cuescope_cci.notes import possible_mislabels
from cuescope_cci.options import CCIOptions
from cuescope_cci.report import is_finding, is_overall_finding
from cuescope_cci.scores import relative_drop
from cuescope_sdk import Audit, Context, Frame, Sample

SIDE = 20  # of a mask
SIGNAL, BACKGROUND = 3.0, 0.8
Size = Literal["no matter", "matters", "matters and goes with the place"]


@dataclass(frozen=True)
class Setting:
    """What is simulated; the defaults are independent images whose places mean nothing."""

    name: str
    images: int = 200
    classes: int = 8
    places: int = 8
    # of a source: they share object, background and all that comes of them
    clips: int = 1
    size: Size = "no matter"
    label_noise: float = 0.0
    at_home: float = 0.0  # how often a class is in its own place
    noise: float = BACKGROUND  # of the background, in logits
    noisy_places: bool = False  # only two places disturb
    alike: float = 0.0  # what an object gives the class beside its own, in logits
    hard: bool = False  # half of the classes lean on the background, and have places of their own
    pull: float = 0.0  # of a place to its class, in logits
    pulling: float = 1.0  # share of the images that it pulls in

    def draw(self, seed: int) -> list[AnswerSource]:
        """The images of an audit."""
        rng = np.random.default_rng([seed, self.images])
        sources = self.images // self.clips
        of_clip = np.repeat(np.arange(sources), self.clips)
        label = np.arange(sources) % self.classes
        place = rng.integers(self.places, size=sources)
        place = np.where(rng.random(sources) < self.at_home, label % self.places, place)
        area = rng.uniform(0.03, 0.5, sources)
        signal, noise = np.full(sources, SIGNAL), np.full(sources, self.noise)
        if self.hard:
            is_hard, half = label < self.classes // 2, self.places // 2
            other = rng.random(sources) < 0.2
            place = rng.integers(half, size=sources) + half * (is_hard == other)
            signal, noise = np.where(is_hard, 1.5, SIGNAL), np.where(is_hard, 1.5, 0.3)
        if self.size != "no matter":
            if self.size != "matters":
                area = np.where(place < 2, area / 4, area)
            signal = 0.5 + 7 * area
        if self.noisy_places:
            noise = np.where(place < 2, 2.0, 0.3)
        objects = rng.normal(size=(sources, self.classes))
        objects[np.arange(sources), label] += signal
        objects[np.arange(sources), label ^ 1] += self.alike
        grounds = rng.normal(size=(sources, self.classes)) * noise[:, None]
        pulled = self.pull * (rng.random(sources) < self.pulling)
        grounds[np.arange(sources), place % self.classes] += pulled
        wrong = rng.random(sources) < self.label_noise
        label = np.where(wrong, label + rng.integers(1, self.classes, sources), label)
        label %= self.classes
        return [
            image(
                f"{clip:05d}",
                int(label[source]),
                objects[source],
                grounds[source],
                int(place[source]),
                float(area[source]),
                None if self.clips == 1 else f"source {source}",
            )
            for clip, source in enumerate(of_clip)
        ]


def image(
    key: str,
    label: int,
    objects: np.ndarray,
    grounds: np.ndarray,
    place: int,
    area: float,
    group: str | None,
) -> AnswerSource:
    """An answer as the audit has it."""
    logits = objects + grounds
    choices = tuple(f"class {number}" for number in range(len(logits)))
    sample = Sample(
        key=f"{key}/canvas",
        frames=(frame(),),
        choices=choices,
        label=choices[label],
        group=group,
    )
    answer = int(logits.argmax())
    without_objects = relative_drop(logits, grounds, answer)
    without_background = relative_drop(logits, objects, answer)
    return AnswerSource(
        sample=sample,
        cluster=np.zeros((1, 1), int),
        logits=logits,
        drops=np.zeros((1, len(logits))),
        importance=np.ones((1, 1)),
        foreground=mask(round(area * SIDE**2)),
        region="background" if without_background > without_objects else "foreground",
        alike=None,
        factors={"place": str(place)},
        apart=Apart(grounds, objects),
    )


@cache
def frame() -> Frame:
    """All images look alike: nothing looks at them."""
    return Frame.from_array(np.zeros((1, 1, 3), np.uint8))


@cache
def mask(cells: int) -> np.ndarray:
    """A mask of so many cells."""
    return (np.arange(SIDE**2) < cells).reshape(SIDE, SIDE)


NULLS = (
    Setting("independent images"),
    Setting("5 clips of one source", images=500, clips=5),
    Setting("10 clips of one source", images=1000, clips=10),
    Setting("10 clips, 40 sources", images=400, clips=10, classes=4, places=4),
    Setting("5% label noise, 300 a class", 1200, 4, 4, label_noise=0.05, at_home=0.6),
    Setting("errors follow the object's size", size="matters"),
    Setting("and small objects have places", size="matters and goes with the place"),
    Setting("hard classes lean on background", hard=True),
    Setting("the background only adds noise", noise=1.5),
    Setting("noise in some places only", noisy_places=True),
    Setting("and some classes look alike", noisy_places=True, alike=2.0),
    Setting("and classes have their places", noisy_places=True, alike=2.0, at_home=0.5),
)
LARGE = (
    Setting("5% label noise, 1,000 a class", 4000, 4, 4, label_noise=0.05, at_home=0.6),
)
PLANTED = tuple(
    Setting(f"pull of {pull:g}, {images} images", images=images, noise=0.3, pull=pull)
    for pull in (1.5, 3.0)
    for images in (24, 48, 96, 192)
) + tuple(
    Setting(
        f"pull in 3 of 10, {images} images", images, noise=0.3, pull=6.0, pulling=0.3
    )
    for images in (24, 48, 96, 192)
)


@dataclass
class Tally:
    """Of some audits: with any finding, said to go with size, said to have suspect labels."""

    audits: int = 0
    found: int = 0
    size: int = 0
    labels: int = 0

    def add(self, known: Backgrounds, options: CCIOptions) -> None:
        """Count an audit."""
        self.audits += 1
        pairs = any(is_finding(row, known, options) for row in known.rows)
        self.found += pairs or is_overall_finding(known, options)
        self.size += known.size_p is not None and known.size_p <= 0.05
        self.labels += bool(possible_mislabels(known.sources))


def simulate(setting: Setting, audits: int) -> Tally:
    """So many audits of a setting."""
    tally, options = Tally(), CCIOptions()
    for seed in range(audits):
        sources = setting.draw(seed)
        audit = Audit(
            labels=(), options=options, respond=lambda _: [], context=Context(seed=seed)
        )
        if (known := measure_backgrounds(audit, options, sources)) is not None:
            tally.add(known, options)
    return tally


def rows(audits: int, large: int, planted: int) -> Iterator[tuple[Setting, int]]:
    """What is simulated, and how often."""
    yield from ((setting, audits) for setting in NULLS)
    yield from ((setting, large) for setting in LARGE)
    yield from ((setting, planted) for setting in PLANTED)


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--large", type=int, help="audits of 1,000 images a class")
    parser.add_argument("--planted", type=int, help="audits of each planted pull")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    asked = parser.parse_args()
    console, large = Console(), asked.audits if asked.large is None else asked.large
    table = Table(
        "setting",
        "audits",
        "any finding",
        "goes with size",
        "suspect labels",
        "seconds",
    )
    planted = asked.audits if asked.planted is None else asked.planted
    for setting, audits in rows(asked.audits, large, planted):
        if asked.only in setting.name and audits:
            start = time.perf_counter()
            tally = simulate(replace(setting), audits)
            seconds = time.perf_counter() - start
            cells = (tally.audits, tally.found, tally.size, tally.labels)
            table.add_row(setting.name, *map(str, cells), f"{seconds:.0f}")
            console.print(setting.name, *cells, f"{seconds:.0f} s", highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
