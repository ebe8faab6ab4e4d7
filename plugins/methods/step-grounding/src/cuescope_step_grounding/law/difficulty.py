"""Whether data out of distribution is only harder: complexity of samples, and matched pairs.

The splits of the paper are of like complexity (section 4.1). Here that is what a sample shows,
before any model answers it: a difficulty that counts wrong answers would match the loss away.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from cuescope_sdk import Cell, Sample, Table, read_answers
from cuescope_sdk.grounding import scene_of
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.traces import is_right, read_trace

CALIPER = (
    0.2  # standard deviations, root mean square, within which samples are alike (Austin, 2011)
)
MOST_STEPS = 64  # of a trace that are read
COLUMNS = ("complexity", "in distribution", "out of it", "difference (sd)", "matched (sd)")
MEASURES: Mapping[str, Callable[[Sample], float | None]] = {
    "frames": lambda sample: float(len(sample.frames)),
    "words of the question": lambda sample: float(len((sample.question or "").split())),
    "choices": lambda sample: float(len(sample.choices)),
    "things a frame": lambda sample: _per_frame(sample, "things"),
    "actions and relations a frame": lambda sample: _per_frame(sample, "actions", "relations"),
}


def _per_frame(sample: Sample, *names: str) -> float | None:
    scene = scene_of(sample)
    if not scene:
        return None
    return float(np.mean([sum(len(getattr(frame, name)) for name in names) for frame in scene]))


@dataclass(frozen=True)
class Matching:
    """Pairs of samples alike in complexity: indices into both lists, in order of the first."""

    pairs: Int[np.ndarray, "pair 2"]
    table: Table


def complexity(
    samples: Sequence[Sample], others: Sequence[Sample]
) -> tuple[Float[np.ndarray, "sample measure"], Float[np.ndarray, "other measure"], list[str]]:
    """What is known of every sample and differs, in standard deviations over both lists."""
    columns, names = [], []
    for name, measure in MEASURES.items():
        values = [measure(sample) for sample in (*samples, *others)]
        if any(value is None for value in values):
            continue
        column = np.array(values, np.float64)
        if column.std() > 0:
            columns.append((column - column.mean()) / column.std())
            names.append(name)
    table = np.stack(columns, axis=1) if columns else np.zeros((len(samples) + len(others), 0))
    return table[: len(samples)], table[len(samples) :], names


def match(samples: Sequence[Sample], others: Sequence[Sample]) -> Matching:
    """As many pairs as are alike, each sample in one at most.

    Pairs are alike where the root mean square of all differences, in standard deviations, is at
    most `CALIPER`; of all pairings the one with the least differences is taken.
    """
    own, other, names = complexity(samples, others)
    apart = own[:, None] - other[None]
    distance = np.sqrt(np.square(apart).mean(axis=2)) if names else np.zeros(apart.shape[:2])
    # A pair beyond the caliper costs more than any number of pairs within it.
    cost = np.where(distance <= CALIPER, distance, 1e6)
    rows, cols = linear_sum_assignment(cost)
    kept = cost[rows, cols] < 1e6
    pairs = np.stack([rows[kept], cols[kept]], axis=1)
    return Matching(pairs, _table(samples, others, pairs, own, other, names))


def _table(
    samples: Sequence[Sample],
    others: Sequence[Sample],
    pairs: Int[np.ndarray, "pair 2"],
    own: Float[np.ndarray, "sample measure"],
    other: Float[np.ndarray, "other measure"],
    names: Sequence[str],
) -> Table:
    apart = other.mean(axis=0) - own.mean(axis=0)
    matched = (other[pairs[:, 1]] - own[pairs[:, 0]]).mean(axis=0) if len(pairs) else None
    rows: list[tuple[Cell, ...]] = []
    for place, name in enumerate(names):
        means = (float(np.mean([MEASURES[name](s) or 0.0 for s in of])) for of in (samples, others))
        left = None if matched is None else float(matched[place])
        rows.append((name, *means, float(apart[place]), left))
    return Table(
        title="Is the other data only harder?",
        columns=COLUMNS,
        rows=tuple(dict(zip(COLUMNS, row, strict=True)) for row in rows),
        decimals=2,
        notes=(
            f"{len(pairs)} of {len(samples)} and {len(others)} samples have a like partner. "
            "Difference: out of distribution less in it, in standard deviations (paper: 0.09 to "
            "0.14); matched: of the pairs alone.",
        ),
    )


def accuracy_of(rows: Sequence[Mapping[str, Any]], samples: Sequence[Sample]) -> float | None:
    """The share of right answers about these samples among the rows of `answers.parquet`."""
    texts = {row["sample"]: row["text"] for row in rows if row["condition"] == "baseline"}
    # A sample is asked about in a style, which its key ends with.
    texts |= {key.rpartition("/")[0]: text for key, text in texts.items()}
    right = [
        is_right(read_trace(texts[sample.key] or "", sample.choices, MOST_STEPS).answer, sample)
        for sample in samples
        if sample.key in texts
    ]
    known = [answer for answer in right if answer is not None]
    return float(np.mean(known)) if known else None


def on_pairs(
    models: Sequence[MeasuredModel],
    folders: Sequence[tuple[Path, Path]],
    samples: Sequence[Sample],
    others: Sequence[Sample],
    pairs: Int[np.ndarray, "pair 2"],
) -> list[MeasuredModel]:
    """The models with their accuracy on matched samples alone; [] where one has none there."""
    own = [samples[index] for index in pairs[:, 0]]
    other = [others[index] for index in pairs[:, 1]]
    alike = []
    for model, (run, run_of_other) in zip(models, folders, strict=True):
        known, new = (
            accuracy_of(read_answers(folder).to_pylist(), chosen)
            for folder, chosen in ((run, own), (run_of_other, other))
        )
        if known is None or new is None:
            return []
        alike.append(replace(model, accuracy=known, ood_accuracy=new))
    return alike
