"""Whether data out of distribution is only harder, by what a sample shows (section 4.1).

A difficulty that counts wrong answers would explain away the loss that is looked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np

from cuescope_sdk import Cell, Sample, Table
from cuescope_sdk.grounding import SCENE
from cuescope_sdk.report import count_of

COLUMNS = ("complexity", "in distribution", "out of it", "difference (sd)")
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


def difficulty_table(samples: Sequence[Sample], others: Sequence[Sample]) -> Table:
    """Return the means of what is known of every sample and differs, and their difference."""
    return Table.of(
        "Is the other data only harder?",
        COLUMNS,
        list(_rows(samples, others)),
        f"{count_of(len(samples), 'samples')} in distribution, {len(others)} out of it. "
        "Difference: of their means, in standard deviations (paper: 0.09 to 0.14).",
        decimals=2,
    )


def _rows(
    samples: Sequence[Sample], others: Sequence[Sample]
) -> Iterator[tuple[Cell, ...]]:
    for name, measure in MEASURES.items():
        known = np.array(list(map(measure, samples)), float)
        new = np.array(list(map(measure, others)), float)
        spread = np.concatenate([known, new]).std()
        # Of what is not known of a sample the deviation is none (NaN).
        if spread > 0:
            means = (float(known.mean()), float(new.mean()))
            yield name, *means, (means[1] - means[0]) / float(spread)
