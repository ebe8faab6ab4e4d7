"""SpurLens in a world that it was not made in: is the planted cue first, and has it a star?

    python benchmarks/nulls/spurlens_streets.py --seeds 20

Places (streets, parks, stations, shores) have things and objects of their own, so that things go
together. The model is a logistic one that adds up what it sees, with probabilities; rails speak for
a bus and a pond for a bench, as much as `--lean` says (log-odds), and nothing for a bicycle. The
detector misses one thing in seven and imagines one in twelve. Whole audits, with all checks.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field
from scipy.special import expit

from cuescope_sdk import (
    Capabilities,
    Context,
    Detection,
    Frame,
    Options,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    digest,
)
from cuescope_spurlens import SpurLens
from cuescope_testing import Setup

IMAGES = 1200
OBJECTS = ("bus", "bench", "bicycle")
# how often each is in a street, a park, a station, at a shore
PRESENT: Mapping[str, tuple[float, float, float, float]] = {
    "bus": (0.6, 0.2, 0.6, 0.1),
    "bench": (0.3, 0.7, 0.5, 0.3),
    "bicycle": (0.5, 0.5, 0.3, 0.3),
    "rail": (0.4, 0.2, 0.7, 0.3),
    "pond": (0.2, 0.6, 0.2, 0.5),
    "lamppost": (0.8, 0.5, 0.6, 0.2),
    "tree": (0.4, 0.9, 0.2, 0.4),
    "bin": (0.5, 0.5, 0.6, 0.2),
    "sign": (0.7, 0.3, 0.8, 0.2),
    "pigeon": (0.4, 0.5, 0.5, 0.3),
    "boat": (0.05, 0.2, 0.05, 0.7),
    "fence": (0.3, 0.5, 0.5, 0.3),
    "suitcase": (0.2, 0.05, 0.7, 0.1),
    "flower": (0.2, 0.7, 0.1, 0.2),
    "awning": (0.5, 0.1, 0.4, 0.2),
}
THINGS = tuple(name for name in PRESENT if name not in OBJECTS)
CUES = {"bus": "rail", "bench": "pond"}
RECALL, IMAGINED = 0.86, 0.08


class StreetOptions(Options):
    """What is drawn."""

    seed: int = Field(0, description="another seed, another draw")


class Streets(Plugin):
    """Pictures of places; `KNOWN` has what is in each, by frame."""

    Options: ClassVar[type[Options]] = StreetOptions
    labels = OBJECTS
    facts: ClassVar[Mapping[str, str]] = {}
    KNOWN: ClassVar[dict[str, Mapping[str, float]]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("streets", options.seed)
        rng = np.random.default_rng([options.seed, 32])
        place = rng.integers(4, size=IMAGES)
        rates = np.array(list(PRESENT.values())).T[place]
        there = rng.random(rates.shape) < rates
        sizes = rng.lognormal(3, 0.5, (IMAGES, len(PRESENT)))
        self.frames = []
        self.shown = []
        self.KNOWN.clear()
        for row in range(IMAGES):
            pixels = rng.integers(0, 255, (24, 24, 3), dtype=np.uint8)
            frame = Frame.from_array(pixels)
            sized = zip(PRESENT, there[row], sizes[row], strict=True)
            known = {name: float(size) for name, shows, size in sized if shows}
            self.KNOWN[frame.key] = known
            self.frames.append(frame)
            self.shown.append(tuple(name for name in OBJECTS if name in known))

    def __len__(self) -> int:
        return IMAGES

    def __getitem__(self, index: int) -> Sample:
        index = range(IMAGES)[index]
        return Sample(
            key=f"street-{index:04d}",
            frames=(self.frames[index],),
            annotations={"objects": self.shown[index]},
        )


class AdderOptions(Options):
    """What it goes by."""

    lean: float = Field(1.8, description="log-odds that a cue speaks for its object")


class Adder(Plugin):
    """Adds up what it sees of the object and of its cue, and says how sure it is."""

    Options: ClassVar[type[Options]] = AdderOptions
    options: AdderOptions
    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"logits"}))
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: AdderOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("adder", options.model_dump())

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        """Large objects are seen better; each picture is as hard as it happens to be."""
        key = trial.sample.frames[0].key
        words = (trial.sample.question or "").lower().replace("?", " ").split()
        asked = next(name for name in OBJECTS if name in words)
        known = Streets.KNOWN[key]
        hardness = np.random.default_rng([int(key[:8], 16), OBJECTS.index(asked)])
        odds = -2.8 + 1.3 * hardness.normal()
        if asked in known:
            odds += 3.2 + 0.8 * (np.log(known[asked]) - 3)
        if CUES.get(asked) in known:
            odds += self.options.lean
        odds += 0.2 * np.random.default_rng(len(words)).normal()
        share = expit(odds)
        return Response(logits=np.log([share, 1 - share]))


class Watcher(Plugin):
    """A detector with its misses, and boxes that are a fifth wrong."""

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        return [tuple(self._see(frame, names)) for frame in frames]

    def _see(self, frame: Frame, names: Sequence[str]) -> list[Detection]:
        known = Streets.KNOWN[frame.key]
        boxes = []
        for name in names:
            # by name: whoever is asked again says the same
            rng = np.random.default_rng([int(frame.key[:8], 16), *map(ord, name)])
            side = known.get(name, 20.0) * float(np.exp(0.2 * rng.normal()))
            if rng.random() < (RECALL if name in known else IMAGINED):
                low, high = (0.3, 1.0) if name in known else (0.05, 0.4)
                score = float(rng.uniform(low, high))
                boxes.append(Detection(name=name, score=score, box=(0, 0, side, side)))
        return boxes


class Guide(Plugin):
    """Names all things."""

    def propose(self, label: str) -> list[str]:
        return list(THINGS)


def audit(seed: int, lean: float) -> Report:
    """The report of a whole audit."""
    setup = Setup(
        SpurLens,
        Adder,
        Streets,
        {"k": 80, "draws": 500},
        {"lean": lean},
        {"seed": seed},
        tools={"proposer": Guide, "detector": Watcher},
    )
    return setup.report(seed=seed)


def main() -> None:
    """Print a line a seed, and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--lean", type=float, default=AdderOptions().lean)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(given.seeds):
        starred: list[str] = []
        doubted: list[str] = []
        for score in audit(seed, given.lean).headlines:
            if score.finding or score.doubt:
                kept = score.finding and not score.doubt
                (starred if kept else doubted).append(score.feature)
        for feature in (*starred, *doubted):
            task, label, cue = feature.split("/")
            is_cue = CUES.get(label) == cue
            sort = f"{task} of '{label}'" if is_cue else "another thing"
            counts[f"{sort}, {'*' if feature in starred else '?'}"] += 1
        sys.stdout.write(f"{seed}: * {starred} ? {doubted}\n")
        sys.stdout.flush()
    for sort, count in sorted(counts.items()):
        sys.stdout.write(f"{sort}: {count} of {given.seeds}\n")


if __name__ == "__main__":
    main()
