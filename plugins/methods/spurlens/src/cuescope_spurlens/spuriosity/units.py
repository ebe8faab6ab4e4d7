"""What counts once: an image by itself, or all images of one source (`Sample.group`).

Ten clips of one video are no ten witnesses: the model errs on all of them or on none, and they
show the same things. So they are ranked as one, by the means over them, and go to a top or a
bottom together.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Sample
from cuescope_sdk.data import near_duplicate_groups
from cuescope_sdk.statistics import Groups


def unit_means(
    values: Float[np.ndarray, "row ..."], units: Groups
) -> Float[np.ndarray, "unit ..."]:
    """The mean over the rows of each unit."""
    sizes = np.bincount(units.codes, minlength=units.count)
    sums = units.sums(np.asarray(values, dtype=float))
    return np.asarray(sums / sizes.reshape(-1, *[1] * (values.ndim - 1)))


def unit_rows(units: Groups, chosen: Int[np.ndarray, " chosen"]) -> list[int]:
    """The rows of some units, in the order of the units."""
    order = np.argsort(units.codes, kind="stable")
    starts = np.searchsorted(units.codes[order], np.arange(units.count + 1)).tolist()
    rows = order.tolist()
    return [row for unit in chosen.tolist() for row in rows[starts[unit] : starts[unit + 1]]]


def group_look_alikes(
    audit: Audit, sets: Sequence[tuple[Sample, ...]]
) -> tuple[list[tuple[Sample, ...]], int]:
    """The sets with images that look nearly alike as one group, and how many such images there are.

    Where any sample names its group these are all that counts.
    """
    distinct = {sample.key: sample for samples in sets for sample in samples}
    ordered = [distinct[key] for key in sorted(distinct)]
    if any(sample.group is not None for sample in ordered):
        return list(sets), 0
    labels = [str(sample.label) for sample in ordered]
    groups = near_duplicate_groups(ordered, labels, audit.rng("look-alikes"))
    if not groups:
        return list(sets), 0
    named = [tuple(replace(s, group=groups.get(s.key)) for s in samples) for samples in sets]
    return named, len(groups)


def thin_groups(
    samples: Sequence[Sample], most: int, rng: np.random.Generator
) -> tuple[Sample, ...]:
    """At most so many of each group, drawn; the others would cost much and tell little."""
    units = Groups.of(samples)
    drawn = rng.random(len(samples))
    # Of each group the rank of its rows by the draw.
    order = np.lexsort((drawn, units.codes))
    starts = np.searchsorted(units.codes[order], units.codes)
    rank = np.empty(len(samples), dtype=int)
    rank[order] = np.arange(len(samples)) - starts[order]
    return tuple(samples[row] for row in np.flatnonzero(rank < most).tolist())
