"""Kinds of backgrounds: by what is annotated, else by how the model itself embeds them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

DIMS = 10  # principal components that kinds are told apart by
MOST_KINDS = 8
BY_SIZE = 0.5  # of the variance of size: a factor that explains more is the object's size itself


def clustered_kinds(
    embeddings: Float[np.ndarray, "image dim"], rng: np.random.Generator
) -> Int[np.ndarray, " image"] | None:
    """Return the kind of each background, 0 the most frequent; None where there is one kind only.

    A mixture of normal distributions over principal components; BIC chooses how many (Fraley and
    Raftery, 2002).
    """
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    # equal embeddings leave rounding errors only
    if np.ptp(embeddings, axis=0).max() < np.finfo(np.float32).eps:
        return None
    points = PCA(min(DIMS, *embeddings.shape)).fit_transform(embeddings)
    fits = []
    # a spread a component: fewer than as many images a kind would leave it open
    most = min(MOST_KINDS, len(points) // (2 * points.shape[1]))
    for count in range(1, most + 1):
        seed = int(rng.integers(2**32))
        mixture = GaussianMixture(count, covariance_type="diag", random_state=seed)
        fits.append(mixture.fit(points))
    best = min(fits, key=lambda fit: float(fit.bic(points)), default=None)
    if best is None or best.n_components == 1:
        return None
    _, kind, sizes = np.unique(
        best.predict(points), return_inverse=True, return_counts=True
    )
    return np.asarray(np.argsort(np.argsort(-sizes, kind="stable"))[kind])


def follows_size(
    values: Sequence[str | None], area: Float[np.ndarray, " image"]
) -> bool:
    """Whether a factor is the object's size by another name: it explains most of the variance."""
    is_known = np.array([value is not None for value in values])
    # by ratio: a thing of 2% and one of 4% differ as those of 20% and 40% do
    size = np.log(np.maximum(area[is_known], 1e-6))
    # without any variance nothing can be explained of it
    if len(size) < 2 or np.ptp(size) == 0:
        return False
    size -= size.mean()
    _, code, counts = np.unique(
        np.array(values, dtype=str)[is_known],
        return_inverse=True,
        return_counts=True,
    )
    sums = np.bincount(code, size)
    explained = (sums**2 / counts).sum() / (size**2).sum()
    # each of many values explains a little by chance
    by_chance = (len(counts) - 1) / (len(size) - 1)
    return bool(explained - by_chance > BY_SIZE)
