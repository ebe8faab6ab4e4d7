"""Which keys came before, of millions of them."""

from collections.abc import Collection
from itertools import compress

import numpy as np


class SeenKeys:
    """The keys so far, in a tenth of a set's memory: their hashes, in sorted arrays.

    One array would be copied whole for each addition, and an array for each addition makes many
    to search. So they grow as in a log-structured merge tree (O'Neil et al., 1996): each is more
    than twice as long as the next, and what is added is merged into the last until that holds.
    """

    def __init__(self) -> None:
        # no hash is -1, and an empty array cannot be searched
        self._arrays = [np.full(1, -1)]

    def __len__(self) -> int:
        """How many there are."""
        # the first of all arrays holds what is no hash
        return sum(len(array) for array in self._arrays) - 1

    def merge(self, others: "SeenKeys") -> None:
        """Add the keys that others have seen."""
        for hashes in others._arrays:
            self._add(hashes[~self._has(hashes)])

    def add(self, keys: Collection[str]) -> list[str]:
        """Add the keys, which are distinct; returns those that are new, in order."""
        hashes = np.fromiter(map(hash, keys), np.int64)
        new = ~self._has(hashes)
        self._add(hashes[new])
        return list(compress(keys, new))

    def known(self, keys: Collection[str]) -> list[str]:
        """Those of the keys that came before."""
        hashes = np.fromiter(map(hash, keys), np.int64)
        return list(compress(keys, self._has(hashes)))

    def _has(self, hashes: np.ndarray) -> np.ndarray:
        has = np.zeros(len(hashes), bool)
        for array in self._arrays:
            nearest = array.take(np.searchsorted(array, hashes), mode="clip")
            has |= nearest == hashes
        return has

    def _add(self, new: np.ndarray) -> None:
        if not len(new):
            return
        added = np.sort(new)
        while self._arrays and len(self._arrays[-1]) <= 2 * len(added):
            both = np.concatenate([self._arrays.pop(), added])
            # timsort: merges what is sorted already
            added = np.sort(both, kind="stable")
        self._arrays.append(added)
