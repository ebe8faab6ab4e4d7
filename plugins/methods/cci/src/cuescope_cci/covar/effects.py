"""What a model's data, size, patches or resolution change: pairs that differ in one thing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import SUBSETS, Images
from cuescope_cci.covar.measures import Figure, average_change, correct, ratio_difference
from cuescope_cci.covar.models import ModelEntry, pairs

SHOWN = ("background", "viewpoint", "scale")  # beside the average, subsets that the paper discusses
AVERAGE, ERRORS = "Avg", "BG-Er"


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
    """Accuracy and BG-Er of each such pair, source by source."""
    found = list(pairs(entries))
    columns = {AVERAGE: images.subsets} | {
        SUBSETS[name]: [name] for name in SHOWN if name in images.subsets
    }
    accuracy = correct(
        {
            (str(number), column): average_change(
                answers[pair.first].right, answers[pair.second].right, images, subsets, rng
            )
            for number, pair in enumerate(found)
            for column, subsets in columns.items()
        }
    )
    for number, pair in enumerate(found):
        of_pair = {column: accuracy[str(number), column] for column in columns}
        first, second = (
            (answers[i].on_background("hidden"), answers[i].known("hidden"))
            for i in (pair.first, pair.second)
        )
        of_pair[ERRORS] = ratio_difference(first, second, images.source, rng)
        names = entries[pair.first].name, entries[pair.second].name
        yield Contrast(_what(entries, pair.what, pair.first, pair.second), *names, of_pair)


def _what(entries: Sequence[ModelEntry], what: str, first: int, second: int) -> str:
    return f"{what}: {entries[first].design[what]} to {entries[second].design[what]}"
