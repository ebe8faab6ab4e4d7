"""Whether data out of distribution is only harder: complexity of samples, and matched pairs.

The splits of the paper are of like complexity (section 4.1). Here that is what a sample shows,
before any model answers it: a difficulty that counts wrong answers would match the loss away.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from cuescope_sdk import Sample, StoredRun, Table
from cuescope_sdk.grounding import SCENE
from cuescope_sdk.report import count_of
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.scores import mean
from cuescope_step_grounding.traces import is_right, read_trace

# standard deviations, root mean square, within which samples are alike (Austin, 2011)
CALIPER = 0.2
COLUMNS = (
    "complexity",
    "in distribution",
    "out of it",
    "difference (sd)",
    "matched (sd)",
)
MEASURES: Mapping[str, Callable[[Sample], float | None]] = {
    "frames": lambda sample: float(len(sample.frames)),
    "words of the question": lambda sample: float(len((sample.question or "").split())),
    "choices": lambda sample: float(len(sample.choices)),
    "things a frame": lambda sample: _per_frame(sample, "things"),
    "actions and relations a frame": lambda sample: _per_frame(
        sample,
        "actions",
        "relations",
    ),
}


def _per_frame(sample: Sample, *names: str) -> float | None:
    scene = sample.annotations.get(SCENE)
    if not scene:
        return None
    counts = 0
    for name in names:
        counts += sum(map(len, map(attrgetter(name), scene)))
    return counts / len(scene)


@dataclass(frozen=True)
class Matching:
    """Pairs of samples alike in complexity: indices into both lists, in order of the first."""

    pairs: Int[np.ndarray, "pair 2"]
    table: Table


def complexity(
    samples: Sequence[Sample], others: Sequence[Sample]
) -> tuple[
    Float[np.ndarray, "sample measure"], Float[np.ndarray, "other measure"], list[str]
]:
    """What is known of every sample and differs, in standard deviations over both lists."""
    columns = []
    names = []
    for name, measure in MEASURES.items():
        column = np.array(list(map(measure, (*samples, *others))), float)
        # Of what is not known of a sample the deviation is none (NaN).
        if column.std() > 0:
            columns.append((column - column.mean()) / column.std())
            names.append(name)
    table = np.zeros((len(samples) + len(others), 0))
    if columns:
        table = np.array(columns).T
    return table[: len(samples)], table[len(samples) :], names


def match(samples: Sequence[Sample], others: Sequence[Sample]) -> Matching:
    """As many pairs as are alike, each sample in one at most.

    Pairs are alike where the root mean square of all differences, in standard deviations, is at
    most `CALIPER`; of all pairings the one with the least differences is taken.
    """
    known, new, names = complexity(samples, others)
    apart = known[:, None] - new[None]
    # where nothing differs any two samples are alike
    squares = np.square(apart).sum(axis=2)
    distance = np.sqrt(squares / max(len(names), 1))
    # A pair beyond the caliper costs more than any number of pairs within it.
    cost = np.where(distance <= CALIPER, distance, 1e6)
    rows, cols = linear_sum_assignment(cost)
    alike = cost[rows, cols] < 1e6
    pairs = np.stack([rows[alike], cols[alike]], axis=1)
    differences = new.mean(axis=0) - known.mean(axis=0)
    matched = [None] * len(names)
    if len(pairs):
        first, second = pairs.T
        matched = (new[second] - known[first]).mean(axis=0).tolist()
    cells = []
    for name, *apart_by in zip(names, differences.tolist(), matched, strict=True):
        measure = MEASURES[name]
        means = (mean(map(measure, samples)), mean(map(measure, others)))
        cells.append((name, *means, *apart_by))
    return Matching(
        pairs,
        Table.of(
            "Is the other data only harder?",
            COLUMNS,
            cells,
            f"{len(pairs)} of {len(samples)} and {count_of(len(others), 'samples', 'have')} a "
            "like partner. "
            "Difference: out of distribution less in it, in standard deviations (paper: 0.09 to "
            "0.14); matched: of the pairs alone.",
            decimals=2,
        ),
    )


def accuracy_of(
    rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample]
) -> float | None:
    """The share of right answers about these samples among the rows of `answers.parquet`."""
    # answers to changed videos and in other styles have no part in the accuracy
    texts = {}
    in_style = {}
    for row in rows:
        if row["condition"] == "baseline":
            texts[row["sample"]] = row["text"]
            # A sample is asked about in a style, which its key ends with.
            in_style[row["sample"].rpartition("/")[0]] = row["text"]
    texts |= in_style
    right = []
    for sample in samples:
        if sample.key in texts:
            trace = read_trace(texts[sample.key] or "", sample.choices)
            right.append(is_right(trace.answer, sample))
    return mean(right)


def on_pairs(
    models: Sequence[MeasuredModel],
    folders: Sequence[tuple[Path, Path]],
    samples: Sequence[Sample],
    others: Sequence[Sample],
    pairs: Int[np.ndarray, "pair 2"],
) -> list[MeasuredModel]:
    """The models with their accuracy on matched samples alone; [] where one has none there."""
    own = list(map(samples.__getitem__, pairs[:, 0]))
    other = list(map(others.__getitem__, pairs[:, 1]))
    alike = []
    for model, (run, run_of_other) in zip(models, folders, strict=True):
        known = accuracy_of(StoredRun(run).answers, own)
        new = accuracy_of(StoredRun(run_of_other).answers, other)
        if known is None or new is None:
            return []
        alike.append(replace(model, accuracy=known, ood_accuracy=new))
    return alike
