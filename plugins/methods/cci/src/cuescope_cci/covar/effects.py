"""What a model's data, size, patches or resolution change: pairs that differ in one thing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import SUBSETS, Images
from cuescope_cci.covar.measures import average_change, correct
from cuescope_cci.covar.models import ModelEntry, pairs
from cuescope_cci.scores import Figure

# beside the average, subsets that the paper discusses
SHOWN = ("background", "viewpoint", "scale")
AVERAGE = "Avg"


@dataclass(frozen=True)
class Contrast:
    """Two models that differ in `what`; the second less the first."""

    what: str
    first: str
    second: str
    figures: dict[str, Figure]


def contrasts(
    entries: Sequence[ModelEntry],
    answers: Sequence[Answers],
    images: Images,
    rng: np.random.Generator,
) -> Iterator[Contrast]:
    """The accuracy of each such pair, source by source."""
    found = list(pairs(entries))
    columns = {AVERAGE: images.subsets}
    for name in SHOWN:
        # a data set need not have all eight subsets
        if name in images.subsets:
            columns[SUBSETS[name]] = [name]
    # collected first: Holm corrects over all pairs and columns together
    accuracy: dict[str, dict[str, Figure]] = {}
    for number, (_, one, other) in enumerate(found):
        right = answers[one].right
        right_after = answers[other].right
        changes = accuracy[str(number)] = {}
        for column, subsets in columns.items():
            changes[column] = average_change(right, right_after, images, subsets, rng)
    for (what, one, other), figures in zip(
        found,
        correct(accuracy).values(),
        strict=True,
    ):
        first = entries[one]
        second = entries[other]
        yield Contrast(
            f"{what}: {first.design[what]} to {second.design[what]}",
            first.name,
            second.name,
            figures,
        )
