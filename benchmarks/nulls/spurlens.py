"""How often SpurLens finds a cue where there is none, and how often one that is there.

python benchmarks/nulls/spurlens.py --audits 1000

Each audit is one class: simulated images, K-scores of 20 cues, answers and the detector's view of
the object, judged by SpurLens's own functions as `score_case` does, at a nominal 5%. No model and
no detector is asked.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from cuescope_sdk.statistics import Groups
from cuescope_spurlens.scores import RankedSides, spurious_gap_interval
from cuescope_spurlens.spuriosity.detections import rank_images
from cuescope_spurlens.spuriosity.labels import doubtful_labels
from cuescope_spurlens.spuriosity.sizes import size_strata
from cuescope_spurlens.spuriosity.units import unit_means

CUES, K, IMAGES, DRAWS, LEVEL = 20, 50, 300, 399, 0.05


@dataclass(frozen=True)
class Images:
    """Of each image: the K-scores of the cues, the share of yes, and what is known beside."""

    scores: np.ndarray
    yes: np.ndarray
    groups: Groups
    sizes: np.ndarray | None = None
    with_object: np.ndarray | None = None  # the detector's scores for the class itself
    without: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Found:
    """The cues with p <= LEVEL, by what the test sets aside; all that is known comes last."""

    cues: dict[str, np.ndarray]
    gap: np.ndarray
    covered: np.ndarray  # of each cue, whether the interval holds the true gap, here 0

    @property
    def last(self) -> np.ndarray:
        """What is found."""
        return list(self.cues.values())[-1]


def presence(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """K-scores of cues that are there with these probabilities."""
    there = rng.random(shares.shape) < shares
    return np.asarray(there * rng.uniform(0.3, 1.0, shares.shape))


def answers(rates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Share of yes among three wordings that nearly always agree."""
    first = rng.random(len(rates)) < rates
    flipped = rng.random((len(rates), 3)) < 0.05
    return np.asarray((first[:, None] != flipped).mean(axis=1))


def independent(rng: np.random.Generator, count: int = IMAGES) -> Images:
    """Nothing goes with anything."""
    scores = presence(np.tile(rng.uniform(0.2, 0.8, CUES), (count, 1)), rng)
    return Images(scores, answers(np.full(count, 0.8), rng), Groups.single(count))


def clips(size: int) -> Callable[[np.random.Generator], Images]:
    """Clips of one source video: the same things, and the same answer but for one in ten."""

    def draw(rng: np.random.Generator) -> Images:
        # more sources than in the other nulls have images would be no test
        sources = IMAGES // 2
        codes = np.repeat(np.arange(sources), size)
        there = rng.random((sources, CUES)) < rng.uniform(0.2, 0.8, CUES)
        scores = there[codes] * rng.uniform(0.3, 1.0, (len(codes), CUES))
        shared = (rng.random(sources) < 0.8)[codes]
        own = rng.random(len(codes)) < 0.8
        yes = np.where(rng.random(len(codes)) < 0.9, shared, own)
        return Images(scores, yes.astype(float), Groups(codes, sources, declared=True))

    return draw


def unnamed(size: int) -> Callable[[np.random.Generator], Images]:
    """Images of one source that no group names: they look different, and share 9 answers in 10.

    The test takes each for a unit. This is its limit, and no row to be met.
    """

    def draw(rng: np.random.Generator) -> Images:
        sources = IMAGES // size
        codes = np.repeat(np.arange(sources), size)
        there = rng.random((sources, CUES)) < rng.uniform(0.2, 0.8, CUES)
        scores = there[codes] * rng.uniform(0.3, 1.0, (len(codes), CUES))
        shared, own = (rng.random(sources) < 0.8)[codes], rng.random(len(codes)) < 0.8
        yes = np.where(rng.random(len(codes)) < 0.9, shared, own)
        return Images(scores, yes.astype(float), Groups.single(len(codes)))

    return draw


def unequal(rng: np.random.Generator) -> Images:
    """Sources of 1 to 15 clips; the larger ones are in other places, and easier."""
    sizes = rng.integers(1, 16, IMAGES // 2)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    lean = (sizes[:, None] / 16) * rng.normal(size=CUES)
    there = rng.random((len(sizes), CUES)) < expit(lean)
    scores = there[codes] * rng.uniform(0.3, 1.0, (len(codes), CUES))
    shared = (rng.random(len(sizes)) < 0.8)[codes]
    yes = np.where(rng.random(len(codes)) < 0.7, shared, rng.random(len(codes)) < 0.8)
    return Images(scores, yes.astype(float), Groups(codes, len(sizes), declared=True))


def by_size(known: float | None) -> Callable[[np.random.Generator], Images]:
    """Errors follow the object's size, and so do the things beside it.

    `known` is the noise of the size that is told, in standard deviations of its logarithm.
    """

    def draw(rng: np.random.Generator) -> Images:
        size = rng.normal(size=IMAGES)
        lean = size[:, None] * rng.normal(size=CUES)
        scores = presence(expit(lean + rng.normal(0, 0.7, CUES)), rng)
        yes = answers(expit(1.5 + 1.2 * size), rng)
        told = None if known is None else np.exp(size + known * rng.normal(size=IMAGES))
        return Images(scores, yes, Groups.single(IMAGES), told)

    return draw


def label_noise(
    count: int, *, detector: bool, share: float = 0.05
) -> Callable[[np.random.Generator], Images]:
    """Some images show no such object: the model rightly says no, and things are as elsewhere."""

    def draw(rng: np.random.Generator) -> Images:
        absent = rng.random(count) < share
        here, elsewhere = rng.uniform(0.5, 0.9, CUES), rng.uniform(0.1, 0.5, CUES)
        scores = presence(np.where(absent[:, None], elsewhere, here), rng)
        yes = answers(np.where(absent, 0.05, 0.9), rng)
        seen = _seen(~absent, rng) if detector else None
        others = _seen(np.zeros(count, bool), rng) if detector else np.empty(0)
        return Images(scores, yes, Groups.single(count), None, seen, others)

    return draw


def _seen(there: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A detector's scores for the class: it misses 1 object in 20, and sees 1 in 10 that is not."""
    high, low = rng.uniform(0.3, 1.0, len(there)), rng.uniform(0.05, 0.4, len(there))
    right = np.where(there, rng.random(len(there)) < 0.95, rng.random(len(there)) < 0.1)
    return np.asarray(np.where(right, np.where(there, high, low), 0.0))


def planted(
    drop: float, *, size: int = 1, k: int = K
) -> Callable[[np.random.Generator], Images]:
    """Without the first cue the model says yes so much less often."""

    def draw(rng: np.random.Generator) -> Images:
        sources = max(IMAGES, 4 * k)
        codes = np.repeat(np.arange(sources), size)
        there = rng.random((sources, CUES)) < np.array(
            [0.5, *rng.uniform(0.2, 0.8, CUES - 1)]
        )
        scores = there[codes] * rng.uniform(0.3, 1.0, (len(codes), CUES))
        rates = np.where(there[codes, 0], 0.8, 0.8 - drop)
        groups = Groups(codes, sources, declared=size > 1)
        return Images(scores, answers(rates, rng), groups)

    return draw


def audit(
    images: Images, rng: np.random.Generator, k: int = K, *, beside: bool = True
) -> Found:
    """As `score_case` judges a class; `beside` the test, its intervals."""
    units = images.groups
    scores = unit_means(images.scores, units)
    top, bottom = rank_images(scores, min(k, units.count // 2), rng)
    asked = np.unique([top, bottom])
    top, bottom = np.searchsorted(asked, top), np.searchsorted(asked, bottom)
    rates = unit_means(images.yes, units)[asked]
    strata = kept = None
    if images.sizes is not None:
        strata = size_strata(unit_means(images.sizes, units)[asked])
    if images.with_object is not None:
        doubts, _ = doubtful_labels(images.with_object, images.without)
        doubted = doubts.rows[asked]
        kept = ~doubted if doubted.any() else None
    ranked = RankedSides(top, bottom, strata, kept)
    found = {}
    for cause, sides in {"": RankedSides(top, bottom), "set aside": ranked}.items():
        test = sides.test(rates, DRAWS, rng)
        found[cause] = np.flatnonzero(test.p_value <= LEVEL)
    gap = rates[top].mean(axis=1) - rates[bottom].mean(axis=1)
    if not beside:
        return Found(found, gap, np.empty(0))
    ends = [
        spurious_gap_interval(rates[up], rates[down])
        for up, down in zip(top, bottom, strict=True)
    ]
    return Found(found, gap, np.array([low <= 0 <= high for low, high in ends]))


NULLS: dict[str, Callable[[np.random.Generator], Images]] = {
    "independent images": independent,
    "5 clips of one source": clips(5),
    "10 clips of one source": clips(10),
    "1 to 15 clips of one source, by what they show": unequal,
    "2 images of one source, which nobody names": unnamed(2),
    "4 images of one source, which nobody names": unnamed(4),
    "8 images of one source, which nobody names": unnamed(8),
    "errors follow the object's size, known by boxes": by_size(0.2),
    "errors follow the object's size, not known": by_size(None),
    "5% wrong labels, n = 300, a detector knows the class": label_noise(
        300, detector=True
    ),
    "5% wrong labels, n = 1,000, a detector knows the class": label_noise(
        1000, detector=True
    ),
    "5% wrong labels, n = 300, no detector for it": label_noise(300, detector=False),
}
PLANTED = {
    f"a cue of {100 * drop:.0f} points, K = {k}{words}": (
        planted(drop, size=size, k=k),
        k,
    )
    for k in (50, 100)
    for size, words in ((1, ""), (5, ", 5 clips of a source"))
    for drop in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
}


def show(line: str) -> None:
    """At once, for the rows take minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """The two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--only", default="", help="rows whose name has this")
    arguments = parser.parse_args()
    count = arguments.audits
    show(f"{count} audits a row, one class each, {CUES} cues, p <= {LEVEL}")
    show("found | as other tests would | 0 in the interval (all cues) | row")
    for name, draw in NULLS.items():
        if arguments.only not in name:
            continue
        start, results = time.perf_counter(), []
        for seed in range(count):
            rng = np.random.default_rng([seed, len(name)])
            results.append(audit(draw(rng), rng, beside=seed % 10 == 0))
        plain = np.mean([len(result.cues[""]) > 0 for result in results])
        found = np.mean([len(result.last) > 0 for result in results])
        covered = np.mean([result.covered for result in results[::10]])
        seconds = time.perf_counter() - start
        show(f"{found:.3f} | {plain:.3f} | {covered:.3f} | {name} ({seconds:.0f} s)")
    show("found first | row")
    for name, (draw, k) in PLANTED.items():
        if arguments.only not in name:
            continue
        results = []
        for seed in range(max(count // 5, 1)):
            rng = np.random.default_rng([seed, len(name)])
            results.append(audit(draw(rng), rng, k))
        found = np.mean([0 in result.last for result in results])
        show(f"{found:.2f} | {name}")


if __name__ == "__main__":
    main()
