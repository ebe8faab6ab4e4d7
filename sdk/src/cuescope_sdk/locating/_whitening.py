"""Patches in axes of equal spread, in which what is rare is far from the middle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk.locating._linear import Grid
from cuescope_sdk.maths import on_one_thread

DRAWN = 20_000  # patches that the axes are learned from


@dataclass(frozen=True, eq=False)
class Whitening:
    """The middle of all patches, and the principal components that are kept, in their units."""

    centre: Float[np.ndarray, " dim"]
    axes: Float[np.ndarray, "dim kept"]

    @classmethod
    @on_one_thread
    def learn(
        cls, patches: Float[np.ndarray, "patch dim"], kept: int, flat: float
    ) -> "Whitening":
        """Of double precision. `flat` of the largest variance is added to each: what hardly
        varies is noise."""
        centre = patches.mean(axis=0)
        variances, axes = np.linalg.eigh(np.cov(patches, rowvar=False))
        variances = variances[-kept:]
        units = np.sqrt(variances + flat * variances[-1] + 1e-12)
        return cls(centre, axes[:, -kept:] / units)

    def halved(self) -> "Whitening":
        """Of single precision.

        Pictures have a byte a channel: half of the time, and the same to six digits.
        """
        return Whitening(self.centre.astype(np.float32), self.axes.astype(np.float32))

    def of(
        self, grid: Float[np.ndarray, "*patches dim"]
    ) -> Float[np.ndarray, "patch kept"]:
        """Patches of a grid, or a list of them."""
        return np.asarray((grid.reshape(-1, grid.shape[-1]) - self.centre) @ self.axes)


def drawn_patches(
    grids: Sequence[Grid], rng: Generator
) -> Float[np.ndarray, "patch dim"]:
    """Some patches, each as likely; not all together, of which there may be a million."""
    ends = np.cumsum([math.prod(grid.shape[:2]) for grid in grids])
    count = min(int(ends[-1]), DRAWN)
    some = np.sort(rng.choice(ends[-1], count, replace=False))
    of_grids = np.split(some, np.searchsorted(some, ends[:-1]))
    starts = [0, *ends[:-1].tolist()]
    drawn = []
    for grid, rows, start in zip(grids, of_grids, starts, strict=True):
        drawn.append(grid.reshape(-1, grid.shape[-1])[rows - start])
    return np.concatenate(drawn).astype(np.float64)
