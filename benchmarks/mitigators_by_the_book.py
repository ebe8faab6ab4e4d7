"""Remedies of the last layer beside a plain refit, where groups are known exactly.

    python benchmarks/mitigators_by_the_book.py [--draws 4] [--dials 0.35,0.85] [--fitted 1500]

Four labels, four backgrounds that are each the partner of a label, and samples before none. A head
on random features was trained where 90% of the samples that have a background stand before their
label's. Each remedy is given `--fitted` labelled samples with their backgrounds, in which this
share is the dial, and answers 10,000 others in which all backgrounds are equally frequent. No
finder and no clustering is between the remedy and the truth; `mitigation_bounds.py` has both.
Printed are the means over the draws, with the lowest and the highest: accuracy of the worst of the
20 groups of label and background, and over all samples.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_mitigators.dfr import DFR
from cuescope_mitigators.group_dro import GroupDRO
from cuescope_mitigators.jtt import JTT
from cuescope_mitigators.last_layer import LastLayer
from cuescope_mitigators.refit import Refit
from cuescope_sdk import Capabilities, Context, Frame, Response, Sample, Trial
from cuescope_sdk.mitigation import LinearHead, Mitigator, Task
from cuescope_sdk.stills import Answers

LABELS = ("a", "b", "c", "d")
NONE = len(LABELS)  # the number of the background that is none
BARE = 0.3  # share of samples before none
BIAS = 0.9
TRAINED, TESTED = 4000, 10000
NOISE, WIDTH = 12, 48
SIGNAL = 2.8  # how far labels lie apart, in standard deviations
CUE = 4.0  # and backgrounds
MITIGATORS: dict[str, tuple[type[Mitigator], dict[str, Any]]] = {
    "plain refit": (Refit, {}),
    "last-layer": (LastLayer, {}),
    "dfr": (DFR, {}),
    "group-dro": (GroupDRO, {}),
    "jtt": (JTT, {}),
}


@dataclass(frozen=True)
class Network:
    """Random features and a head: what a model is of which the last layer alone is learned."""

    features: np.ndarray
    head: np.ndarray

    def embed(self, points: np.ndarray) -> np.ndarray:
        """What the head is given."""
        return np.maximum(points @ self.features, 0)

    def logits(self, embedding: np.ndarray) -> np.ndarray:
        """Of the four labels."""
        return np.column_stack([embedding, np.ones(len(embedding))]) @ self.head.T


@dataclass(frozen=True)
class Draw:
    """Samples with what the network makes of them."""

    targets: np.ndarray
    backgrounds: np.ndarray
    embedding: np.ndarray
    logits: np.ndarray

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Their number is their key: they have no pictures."""
        frame = Frame.from_array(np.zeros((1, 1, 3), np.uint8))
        return tuple(
            Sample(key=str(row), frames=(frame,), choices=LABELS, label=LABELS[target])
            for row, target in enumerate(self.targets)
        )

    def ask(self, trials: Sequence[Trial]) -> list[Response]:
        """What is known of each."""
        rows = [int(trial.sample.key) for trial in trials]
        return [
            Response(logits=self.logits[row], embedding=self.embedding[row])
            for row in rows
        ]


class Known:
    """Every background is a cue, and is known."""

    def __init__(self, draw: Draw) -> None:
        self.backgrounds = draw.backgrounds

    def route(self, trials: Sequence[Trial], ask: Any) -> np.ndarray:
        """A column for each background."""
        return np.array(self.best(trials, ask))[:, None] == np.arange(NONE)

    def best(self, trials: Sequence[Trial], ask: Any) -> list[int]:
        """The background, -1 for none."""
        rows = [int(trial.sample.key) for trial in trials]
        return [int(b) if b < NONE else -1 for b in self.backgrounds[rows]]


def draw_points(
    rng: np.random.Generator, count: int, dial: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, labels and backgrounds: the partner's in a share of `dial`, the others alike."""
    targets = rng.integers(NONE, size=count)
    others = (targets + rng.integers(1, NONE, size=count)) % NONE
    backgrounds = np.where(rng.random(count) < dial, targets, others)
    backgrounds[rng.random(count) < BARE] = NONE
    signal = SIGNAL * np.eye(NONE)[targets]
    scenery = CUE * np.eye(NONE + 1)[backgrounds][:, :NONE]
    points = np.column_stack([signal, scenery, np.zeros((count, NOISE))])
    return points + rng.normal(size=points.shape), targets, backgrounds


def trained(rng: np.random.Generator) -> Network:
    """A network whose head has learned where backgrounds go with labels."""
    points, targets, _ = draw_points(rng, TRAINED, BIAS)
    features = rng.normal(size=(points.shape[1], WIDTH)) / np.sqrt(points.shape[1])
    embedding = np.maximum(points @ features, 0)
    inputs = np.column_stack([embedding, np.ones(TRAINED)])
    even = np.ones(TRAINED)
    head = LinearHead.fit(inputs, np.zeros((TRAINED, NONE)), targets, even, 1.0)
    return Network(features, head)


def seen(network: Network, rng: np.random.Generator, count: int, dial: float) -> Draw:
    """A draw as the network answers it."""
    points, targets, backgrounds = draw_points(rng, count, dial)
    embedding = network.embed(points)
    return Draw(targets, backgrounds, embedding, network.logits(embedding))


def task_of(draw: Draw) -> Task:
    """Each background hurts the label that is least often right before it."""
    right = draw.logits.argmax(axis=1) == draw.targets
    hurts = []
    for background in range(NONE):
        there = draw.backgrounds == background
        rates = [right[there & (draw.targets == label)].mean() for label in range(NONE)]
        hurts.append(LABELS[int(np.argmin(rates))])
    return Task(
        labels=LABELS,
        samples=draw.samples,
        shows=draw.backgrounds[:, None] == np.arange(NONE),
        hurts=tuple(hurts),
        router=Known(draw),
        ask=draw.ask,
        context=Context(),
        names=(None,) * NONE,
        capabilities=Capabilities(outputs=Answers.outputs),
    )


def figures(draw: Draw, logits: np.ndarray) -> tuple[float, float]:
    """Accuracy in percent: of the worst group of label and background, and of all."""
    right = logits.argmax(axis=1) == draw.targets
    groups = (NONE + 1) * draw.targets + draw.backgrounds
    rates = np.bincount(groups, right) / np.bincount(groups)
    return 100 * rates.min(), 100 * right.mean()


def main() -> None:
    """Draw, mend, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=4, help="networks and samples")
    parser.add_argument("--dials", default="0.35,0.85", help="own backgrounds")
    parser.add_argument(
        "--fitted", type=int, default=1500, help="samples to learn from"
    )
    given = parser.parse_args()
    for dial in map(float, given.dials.split(",")):
        table = defaultdict(list)
        for seed in range(given.draws):
            rng = np.random.default_rng((seed, round(100 * dial)))
            network = trained(rng)
            task = task_of(seen(network, rng, given.fitted, dial))
            tested = seen(network, rng, TESTED, 1 / NONE)
            trials = [
                Trial(sample=s, outputs=frozenset({"logits"})) for s in tested.samples
            ]
            table["as it was"].append(figures(tested, tested.logits))
            for name, (kind, options) in MITIGATORS.items():
                learned = kind(kind.Options(**options), Context()).fit(task)
                if hasattr(learned, "router"):
                    # what tells a cue in samples that it was not fitted to
                    learned = type(learned)(
                        **{**vars(learned), "router": Known(tested)}
                    )
                answers = learned.answer(trials, tested.ask)
                logits = np.stack([np.asarray(answer.logits) for answer in answers])
                table[name].append(figures(tested, logits))
                sys.stderr.write(f"{dial} {seed} {name} {table[name][-1]}\n")
        write(dial, given.fitted, table)


def write(
    dial: float, fitted: int, table: dict[str, list[tuple[float, float]]]
) -> None:
    """A row a remedy."""
    sys.stdout.write(f"\n{fitted} samples, {dial:.0%} before their own background\n\n")
    sys.stdout.write("| model | worst group | all |\n|---|---|---|\n")
    for name, rows in table.items():
        values = np.array(rows)
        ends = zip(values.mean(0), values.min(0), values.max(0), strict=True)
        cells = [f"{mean:.1f} ({low:.0f} to {high:.0f})" for mean, low, high in ends]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
