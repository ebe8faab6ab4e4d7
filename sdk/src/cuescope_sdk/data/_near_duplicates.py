"""Groups of samples that look nearly alike, for methods that must count such samples once."""

from collections.abc import Mapping, Sequence

import numpy as np

from cuescope_sdk import Sample
from cuescope_sdk.data._independence import picture_hash
from cuescope_sdk.data._look_alikes import RUN, alike_pairs, distances

BLOCK = 2000  # samples that are compared with each other: their shuffles take 200 MB


def near_duplicate_groups(
    samples: Sequence[Sample],
    labels: Sequence[str],
    rng: np.random.Generator,
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
        block = slice(start, start + BLOCK)
        groups |= _groups_in(samples[block], labels[block], rng)
    return groups


def _groups_in(
    samples: Sequence[Sample],
    labels: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, str]:
    from scipy import sparse  # here, since it takes a second
    from scipy.sparse.csgraph import connected_components

    keys = []
    hashes = []
    rows = []
    for row, sample in enumerate(samples):
        bits = picture_hash(sample)
        if bits is not None:
            keys.append(sample.key)
            hashes.append(bits)
            rows.append(row)
    if len(keys) <= RUN:
        return {}
    _, stratum = np.unique([labels[row] for row in rows], return_inverse=True)
    pairs = alike_pairs(distances(hashes), np.array(rows), stratum, rng)
    count = len(keys)
    links = np.array(pairs, dtype=int).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(pairs)), tuple(links)), shape=(count, count))
    _, group = connected_components(graph, directed=False)
    _, first = np.unique(group, return_index=True)
    return {keys[row]: f"like {keys[first[group[row]]]}" for row in np.unique(links)}
