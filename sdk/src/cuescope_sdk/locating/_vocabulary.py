"""Kinds of small patches: a picture is described by which it has, and where.

Patches of all frames are whitened and sorted into kinds by k-means (Sivic and Zisserman, 2003;
Coates and Ng, 2011).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from cuescope_sdk.locating._linear import Grid
from cuescope_sdk.locating._whitening import Whitening, drawn_patches
from cuescope_sdk.maths import on_one_thread

# Sivic and Zisserman (2003) and others take hundreds to thousands; 200 and 400 place alike here
WORDS = 200
KEPT = (
    24  # principal components of a patch: 95% of the variance of 6 x 6 pixels of photos
)
FLAT = 0.02  # of the largest variance, which is added to each (Coates and Ng, 2012: 0.01 to 0.1)
Words = Int[np.ndarray, "row col"]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Kinds of patches."""

    whitening: Whitening
    words: Float[np.ndarray, "word kept"]

    @on_one_thread
    def read(self, grid: Grid) -> Words:
        """The word that each patch is."""
        # the patch's own length is the same for all words
        distances = self._distances(self.whitening.of(grid))
        return np.asarray(distances.argmin(axis=1).reshape(grid.shape[:2]))

    def nearness(self, grid: Grid) -> Float[np.ndarray, "patch word"]:
        """By how much each patch is nearer to a word than to the middling one; 0 where it is not.

        The triangle code of Coates and Ng (2011): a patch between words is a part of each.
        """
        patches = self.whitening.of(grid)
        distances = self._distances(patches)
        distances += (patches**2).sum(axis=1, keepdims=True)
        # rounding may take what lies on a word below zero
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        nearer = np.subtract(
            distances.mean(axis=1, keepdims=True), distances, out=distances
        )
        return np.asarray(np.maximum(nearer, 0, out=nearer))

    def _distances(
        self, patches: Float[np.ndarray, "patch kept"]
    ) -> Float[np.ndarray, "patch word"]:
        """Squared, less the patch's own length."""
        likeness = (2 * patches) @ self.words.T
        # in place: a second table of every patch and word costs as much as the product
        lengths = (self.words**2).sum(axis=1)
        return np.asarray(np.subtract(lengths, likeness, out=likeness))


@on_one_thread
def learn_vocabulary(
    grids: Sequence[Grid], rng: Generator, words: int = WORDS
) -> Vocabulary:
    """From a draw of the patches of all frames."""
    from sklearn.cluster import MiniBatchKMeans

    patches = drawn_patches(grids, rng)
    whitening = Whitening.learn(patches, KEPT, FLAT)
    kinds = MiniBatchKMeans(
        min(words, len(patches)),
        n_init=1,
        batch_size=2048,
        max_iter=30,
        random_state=int(rng.integers(2**31)),
    )
    kinds.fit(whitening.of(patches))
    return Vocabulary(whitening.halved(), kinds.cluster_centers_.astype(np.float32))
