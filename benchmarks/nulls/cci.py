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
from itertools import chain
from typing import Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope_cci.backgrounds import Backgrounds, measure_backgrounds
from cuescope_cci.error_source import AnswerSource, features
from cuescope_cci.error_source.regions import Apart
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import relative_drop
from cuescope_cci.verify import check_sources
from cuescope_core.conclusions import with_doubts
from cuescope_sdk import Audit, Context, Frame, Outcome, Response, Sample, Score, Trial
from cuescope_sdk.data import independent_samples

SIDE = 20  # of a mask
PIXELS = 16  # a side of a picture
SIGNAL, NOISE = 3.0, 0.8
SITES = (0.4, 0.3, 0.2, 0.1)  # shares of the images
Size = Literal["no matter", "matters", "matters and goes with the place"]
Looks = Literal["unlike", "near copies"]
LOOKS: tuple[Looks, ...] = ("unlike", "near copies")


@dataclass(frozen=True)
class Setting:
    """What is simulated; the defaults are independent images whose places mean nothing."""

    name: str
    images: int = 200
    classes: int = 8
    places: int = 8
    # of a source: they share label, size and place
    clips: int = 1
    in_common: float = 1.0  # share of the noise's variance that clips of a source share
    declared: bool = True  # that they are of one source
    looks: Looks = "unlike"  # the pictures of a source
    shuffled: bool = False  # else clips of a source come one after the other
    # logits of the object by which sites differ, which have their own places and labels
    sites: float = 0.0
    size: Size = "no matter"
    label_noise: float = 0.0
    at_home: float = 0.0  # how often a class is in its own place
    noise: float = NOISE  # of the background, in logits
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
        if self.sites:
            site = rng.choice(len(SITES), sources, p=SITES)
            prefers = rng.random(sources) < 0.4
            label = np.where(prefers, label - label % len(SITES) + site, label)
            place = np.where(rng.random(sources) < 0.7, 2 * site + place % 2, place)
            signal = signal - self.sites * (site - 1)
        of_source = np.sqrt(self.in_common)
        objects = of_source * rng.normal(size=(sources, self.classes))
        objects[np.arange(sources), label] += signal
        objects[np.arange(sources), label ^ 1] += self.alike
        grounds = of_source * rng.normal(size=(sources, self.classes)) * noise[:, None]
        pulled = self.pull * (rng.random(sources) < self.pulling)
        grounds[np.arange(sources), place % self.classes] += pulled
        wrong = rng.random(sources) < self.label_noise
        label = np.where(wrong, label + rng.integers(1, self.classes, sources), label)
        label %= self.classes
        of_itself = np.sqrt(1 - self.in_common) * rng.normal(
            size=(2, len(of_clip), self.classes)
        )
        objects = objects[of_clip] + of_itself[0]
        grounds = grounds[of_clip] + of_itself[1] * noise[of_clip, None]
        pictures = draw_pictures(self.looks, of_clip, rng)
        order = rng.permutation(len(of_clip)) if self.shuffled else range(len(of_clip))
        images = []
        for number, clip in enumerate(order):
            source = of_clip[clip]
            drawn = image(
                f"{number:05d}",
                int(label[source]),
                objects[clip],
                grounds[clip],
                int(place[source]),
                float(area[source]),
                f"source {source}" if self.clips > 1 and self.declared else None,
                pictures[clip],
            )
            images.append(drawn)
        return images


def image(
    key: str,
    label: int,
    objects: np.ndarray,
    grounds: np.ndarray,
    place: int,
    area: float,
    group: str | None,
    pixels: np.ndarray,
) -> AnswerSource:
    """An answer as the audit has it."""
    logits = objects + grounds
    choices = tuple(f"class {number}" for number in range(len(logits)))
    sample = Sample(
        key=f"{key}/canvas",
        frames=(Frame.from_array(pixels),),
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
        outcomes=(Outcome(Trial(sample=sample), Response(logits=logits)),),
    )


def draw_pictures(
    looks: Looks, source: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A picture an image, (image, row, col, colour): those of a source are alike or not."""
    shape = (len(source), PIXELS, PIXELS, 3)
    pictures = rng.integers(0, 256, shape)
    if looks == "near copies":
        pictures = pictures[source] + rng.integers(-8, 9, shape)
    return pictures.clip(0, 255).astype(np.uint8)


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
UNDECLARED = (
    *(
        Setting(
            f"{clips} clips of a source, {looks}{', shuffled' * shuffled}",
            images=100 * clips,
            clips=clips,
            in_common=0.7,
            declared=False,
            looks=looks,
            shuffled=shuffled,
        )
        for clips in (5, 10)
        for looks in LOOKS
        for shuffled in (False, True)
    ),
    Setting(
        "3 near-copies of an image",
        images=600,
        clips=3,
        in_common=0.95,
        declared=False,
        looks="near copies",
    ),
    Setting("site with its places, labels, errors", sites=0.8, declared=False),
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
    """Of some audits: with any finding, with any star."""

    audits: int = 0
    found: int = 0
    starred: int = 0

    def add(self, audit: Audit, known: Backgrounds) -> None:
        """Count an audit."""
        self.audits += 1
        audit.scores = list(findings(known, audit.options))
        self.found += bool(audit.scores)
        self.starred += has_star(audit, known)


def findings(known: Backgrounds, options: CCIOptions) -> Iterator[Score]:
    """A score of each finding, as far as the check of independence looks at it."""
    for row in known.found(options.fdr):
        yield Score(
            feature=row.feature,
            label=row.label,
            metric="pull",
            value=1.0,
            n=1,
            finding=True,
        )


def has_star(audit: Audit, known: Backgrounds) -> bool:
    """Whether a finding keeps its star: samples look independent, and may be of few sources."""
    if not audit.scores:
        return False
    checks = [
        *independent_samples(audit),
        *check_sources(audit, audit.options, known),
    ]
    return any(score.doubt is None for score in with_doubts(audit.scores, checks))


def audit_once(setting: Setting, seed: int) -> tuple[Audit, Backgrounds | None]:
    """An audit, and what is known of its backgrounds."""
    sources = setting.draw(seed)
    options = CCIOptions()
    audit = Audit(
        labels=sources[0].sample.choices,
        options=options,
        respond=lambda _: [],
        context=Context(seed=seed),
        samples=tuple(replace(source.sample, key=source.key) for source in sources),
        features=list(features(sources)),
        outcomes=list(chain.from_iterable(source.outcomes for source in sources)),
    )
    return audit, audit.once(measure_backgrounds, audit, options, sources)


def audit_row(setting: Setting, seed: int) -> tuple[bool, bool]:
    """Whether there is a finding, and whether one keeps its star."""
    tally = Tally()
    audit, known = audit_once(setting, seed)
    if known is not None:
        tally.add(audit, known)
    return bool(tally.found), bool(tally.starred)


def simulate(setting: Setting, audits: int) -> Tally:
    """So many audits of a setting."""
    tally = Tally()
    for seed in range(audits):
        audit, known = audit_once(setting, seed)
        if known is not None:
            tally.add(audit, known)
    return tally


def rows(audits: int, large: int, planted: int) -> Iterator[tuple[Setting, int]]:
    """What is simulated, and how often."""
    yield from ((setting, audits) for setting in (*NULLS, *UNDECLARED))
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
    table = Table("setting", "audits", "any finding", "with a star", "seconds")
    planted = asked.audits if asked.planted is None else asked.planted
    for setting, audits in rows(asked.audits, large, planted):
        if asked.only in setting.name and audits:
            start = time.perf_counter()
            tally = simulate(replace(setting), audits)
            seconds = time.perf_counter() - start
            cells = (tally.audits, tally.found, tally.starred)
            table.add_row(setting.name, *map(str, cells), f"{seconds:.0f}")
            console.print(setting.name, *cells, f"{seconds:.0f} s", highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
