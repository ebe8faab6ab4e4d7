"""Groups of samples that look nearly alike, for methods that must count such samples once."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import BadDataError, Frame, Sample
from cuescope_sdk.data._look_alikes import alike_samples, picture_hash

# of folders and of pictures in each: some dozen small pictures are read in a tenth of a second
FOLDERS = 8
IN_A_ROW = 6
LEAST_PAIRS = 8  # of each kind: below, the test cannot reach its level for the smaller differences
ALIKE_LEVEL = 0.05  # Fisher (1925)
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


def are_frames(folders: Sequence[Sequence[Path]]) -> bool | None:
    """True if pictures beside each other in a folder are more alike than those of other folders.

    Frames of a clip are, photos that were sorted into folders are not (one-sided test of Mann and
    Whitney, 1947, on difference hashes of a few of each). None where too little can be compared.
    """
    hashes = []
    step = max(1, len(folders) // FOLDERS)
    for folder in folders[::step][:FOLDERS]:
        bits = []
        for path in folder[:IN_A_ROW]:
            # what cannot be read is told by whoever reads all of them
            with suppress(OSError, BadDataError):
                frame = Frame.from_file(path)
                found = picture_hash(Sample(key=str(path), frames=(frame,)))
                if found is not None:
                    bits.append(found)
        hashes.append(bits)
    within = []
    across = []
    for number, bits in enumerate(hashes):
        within += [_distance(*pair) for pair in pairwise(bits)]
        for others in hashes[:number]:
            across += [_distance(*pair) for pair in zip(bits, others, strict=False)]
    if len(within) < LEAST_PAIRS or len(across) < LEAST_PAIRS or not any(across):
        return None
    # here, since scipy takes a second
    from cuescope_sdk.statistics import lower_p_value

    return lower_p_value(within, across) <= ALIKE_LEVEL


def _distance(
    first: Bool[np.ndarray, " bit"], second: Bool[np.ndarray, " bit"]
) -> float:
    return float((first != second).mean())


def _groups_in(
    samples: Sequence[Sample],
    labels: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, str]:
    from scipy.cluster.hierarchy import DisjointSet  # here, since it takes a second

    pairs = alike_samples(samples, range(len(samples)), labels, rng).pairs
    joined = DisjointSet(chain.from_iterable(pairs))
    for pair in pairs:
        joined.merge(*pair)
    return {
        samples[row].key: f"like {samples[min(rows)].key}"
        for rows in joined.subsets()
        for row in sorted(rows)
    }
