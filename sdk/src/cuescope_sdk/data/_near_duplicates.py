"""Groups of samples that look nearly alike, for methods that must count such samples once."""

from collections.abc import Mapping, Sequence

import numpy as np

from cuescope_sdk import Sample
from cuescope_sdk.data._independence import picture_hash
from cuescope_sdk.data._look_alikes import RUN, alike_pairs, distances

BLOCK = 2000  # samples that are compared with each other: their shuffles take 200 MB


def near_duplicate_groups(
    samples: Sequence[Sample], labels: Sequence[str], rng: np.random.Generator
) -> Mapping[str, str]:
    """The group of each sample that looks like another one, by key; others are not in it.

    A group is named by the key of its first sample. Samples are compared as `independent_samples`
    compares them (difference hashes of rows and columns), within blocks of 2,000 in the order
    given, which should be that of the data set: neighbours come from one source sooner than others.
    What comes from one source and looks different, such as two cameras at one scene, is not found.
    `labels` are what the samples may be sorted by.
    """
    groups: dict[str, str] = {}
    for start in range(0, len(samples), BLOCK):
        groups |= _of_block(samples[start : start + BLOCK], labels[start : start + BLOCK], rng)
    return groups


def _of_block(
    samples: Sequence[Sample], labels: Sequence[str], rng: np.random.Generator
) -> dict[str, str]:
    hashes = {
        row: bits
        for row, sample in enumerate(samples)
        if (bits := picture_hash(sample)) is not None
    }
    if len(hashes) <= RUN:
        return {}
    rows = np.array(list(hashes))
    stratum = np.unique([labels[row] for row in rows.tolist()], return_inverse=True)[1]
    pairs = alike_pairs(distances(list(hashes.values())), rows, stratum, rng)
    first = list(range(len(rows)))  # of each sample the first one of its group

    def root(row: int) -> int:
        while first[row] != row:
            row = first[row]
        return row

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        first[high] = low
    paired = sorted({row for pair in pairs for row in pair})
    return {samples[rows[row]].key: f"like {samples[rows[root(row)]].key}" for row in paired}
