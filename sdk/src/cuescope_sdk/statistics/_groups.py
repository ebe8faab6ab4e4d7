"""Which samples were drawn together: tests and intervals count groups, not samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int, Shaped
from scipy import sparse

from cuescope_core.types import Sample
from cuescope_sdk.statistics._shapes import (
    BoolPerSample,
    IntPerGroup,
    IntPerSample,
    PerSample,
)


@dataclass(frozen=True)
class Groups:
    """The group of each sample, as `codes` from 0 to `count` - 1.

    Samples of one group (one source video, patient, scene) were drawn together, so they prove
    less than as many samples of their own. `declared` is False where no sample names its group,
    and each is taken as drawn by itself.
    """

    codes: IntPerSample
    count: int
    declared: bool

    # with fewer, intervals cover less than they say, and reports say "few"
    FEW: ClassVar[int] = 20

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Groups":
        """The groups that samples name; one that names none is a group by itself."""
        numbers: dict[object, int] = {}
        codes = []
        for sample in samples:
            # a tuple, or a key could be the name of another sample's group
            name = (sample.key, None) if sample.group is None else sample.group
            codes.append(numbers.setdefault(name, len(numbers)))
        declared = any(sample.group is not None for sample in samples)
        return cls(np.array(codes, int), len(numbers), declared)

    @classmethod
    def single(cls, samples: int) -> "Groups":
        """So many samples, each drawn by itself."""
        return cls(np.arange(samples), samples, False)

    @property
    def all_single(self) -> bool:
        """True if no two samples share a group."""
        return self.count == len(self.codes)

    @property
    def few(self) -> bool:
        """True if there are too few of them for intervals that keep their promise."""
        return self.count < self.FEW

    # an interval adds up groups several times, and a p-value asks for many intervals
    @cached_property
    def _member(self) -> sparse.csr_array:
        """1 where a sample, in columns, is of a group."""
        samples = len(self.codes)
        entries = (np.ones(samples), (self.codes, np.arange(samples)))
        # a dense one would have groups x samples numbers
        return sparse.csr_array(entries, shape=(self.count, samples))

    def take(self, samples: BoolPerSample | Int[np.ndarray, " some"]) -> "Groups":
        """The groups of some of the samples, given by a mask or by their indices."""
        # numbered anew: a group that lost all its samples is no group
        kept, codes = np.unique(self.codes[samples], return_inverse=True)
        return Groups(codes, len(kept), self.declared)

    def sums(
        self, values: Float[np.ndarray, "sample ..."]
    ) -> Float[np.ndarray, "group ..."]:
        """The sum of each group."""
        return np.asarray(self._member @ values)

    def means(
        self, values: Shaped[np.ndarray, "sample ..."]
    ) -> Float[np.ndarray, "group ..."]:
        """The mean of each group."""
        sums = self.sums(values.astype(np.float64))
        sizes = np.bincount(self.codes, minlength=self.count)
        # one size a row, whatever stands in it
        return np.asarray(sums / sizes.reshape(-1, *[1] * (sums.ndim - 1)))

    def strata(self, strata: IntPerSample) -> IntPerGroup:
        """The stratum in which most of a group's samples are, the first of equals."""
        levels, codes = np.unique(strata, return_inverse=True)
        sizes = self.sums(np.eye(len(levels))[codes])
        return np.asarray(levels[sizes.argmax(axis=1)])

    def split(
        self,
        rng: np.random.Generator,
        *,
        share: float = 0.5,
        strata: IntPerSample | None = None,
    ) -> BoolPerSample:
        """A random part of about `share` of the samples, of whole groups, in each stratum alike.

        What is looked for in this part and measured in the rest is measured without bias.
        """
        if strata is None:
            strata = np.zeros(len(self.codes), int)
        sizes = np.bincount(self.codes, minlength=self.count)
        chosen = np.zeros(self.count, dtype=bool)
        for members in level_indices(self.strata(strata)):
            shuffled = rng.permutation(members)
            own_sizes = sizes[shuffled]
            # up to the group whose middle lies beyond the share
            middles = np.cumsum(own_sizes) - own_sizes / 2
            chosen[shuffled] = middles < share * own_sizes.sum()
        return np.asarray(chosen[self.codes])

    def folds(self, count: int, rng: np.random.Generator) -> IntPerSample:
        """In which of `count` folds each sample is: whole groups, and as many in each fold."""
        # of a permutation: folds differ by one group at most
        return np.asarray((rng.permutation(self.count) % count)[self.codes])

    def deal(self, strata: IntPerSample, rng: np.random.Generator) -> IntPerSample:
        """Which sample comes in each one's place, as whole groups change places within strata."""
        # one key a group: its samples stay together in the new order
        key = rng.permutation(self.count)[self.codes]
        source = np.empty(len(key), dtype=np.int64)
        source[np.lexsort((self.codes, strata))] = np.lexsort((key, strata))
        return source

    def design_effect(self, values: PerSample) -> float:
        """By how much groups multiply the variance of a mean (Kish, 1965); 1 at least."""
        if self.all_single or self.count < 2 or np.ptp(values) == 0:
            return 1.0
        residuals = values - values.mean()
        squares = (self.sums(residuals) ** 2).sum()
        clustered = self.count / (self.count - 1) * squares
        # groups that differ little by luck do not make samples count for more
        return max(1.0, float(clustered / (residuals**2).sum()))


def level_indices(
    levels: Shaped[np.ndarray, " sample"],
) -> list[Int[np.ndarray, " some"]]:
    """Which samples have each level, in the order of the levels."""
    if not len(levels):
        return []  # numpy would split nothing into one part
    # stable, so that samples of a level keep their order
    order = np.argsort(levels, kind="stable")
    ordered = levels[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.split(order, edges)
