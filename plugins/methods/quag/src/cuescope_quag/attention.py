"""What theorem 2.1 and lemma 2.2 say of an attention matrix, as checks of matrices.

Arrays are (head, query, key); `of_query` and `of_key` hold OTHER, VIDEO or TEXT of each token.
"""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float, Int8

from cuescope_sdk.fusion import LETTERS, TEXT, VIDEO

Weights = Float[np.ndarray, "head query key"]


def quadrant(
    of_query: Int8[np.ndarray, " query"], of_key: Int8[np.ndarray, " key"], name: str
) -> Bool[np.ndarray, "query key"]:
    """Where quadrant XY lies: queries of modality X, keys of modality Y."""
    query, key = (LETTERS[letter] for letter in name)
    return np.outer(of_query == query, of_key == key)


def visible_keys(weights: Weights) -> Bool[np.ndarray, "query key"]:
    """Which keys a query may see: those that any head gives weight to."""
    return np.asarray((weights > 0).any(axis=0))


def row_averaged(
    weights: Weights,
    of_query: Int8[np.ndarray, " query"],
    of_key: Int8[np.ndarray, " key"],
    visible: Bool[np.ndarray, "query key"],
    quadrants: Iterable[str],
) -> Float[np.ndarray, "head query key"]:
    """The operator phi of section 2.2: each row of a quadrant becomes its mean over visible keys.

    Equal to `weights` where they are row-wise constant already, which is what theorem 2.1 says of
    every layer that the edit reached.
    """
    averaged = weights.astype(np.float64)
    for name in quadrants:
        there = quadrant(of_query, of_key, name) & visible
        mass = (averaged * there).sum(axis=2, keepdims=True)
        mean = mass / np.maximum(there.sum(axis=1), 1)[:, None]
        averaged = np.where(there, mean, averaged)
    return averaged


def conformability_error(
    weights: Weights,
    of_query: Int8[np.ndarray, " query"],
    of_key: Int8[np.ndarray, " key"],
    visible: Bool[np.ndarray, "query key"],
    quadrants: Iterable[str],
) -> float:
    """How far at most a row is from its average, its sum from 1, and a hidden key from 0.

    The sum of a row that may see nothing is 0.
    """
    averaged = row_averaged(weights, of_query, of_key, visible, quadrants)
    sums = weights.sum(axis=2, dtype=np.float64)
    return max(
        float(np.abs(weights - averaged).max(initial=0)),
        float(np.abs(sums - visible.any(axis=1)).max(initial=0)),
        float(np.abs(weights[:, ~visible]).max(initial=0)),
    )


def fused_part(
    weights: Weights, of_query: Int8[np.ndarray, " query"], of_key: Int8[np.ndarray, " key"]
) -> Weights:
    """The rows and columns of video and text tokens: the whole matrix of the paper."""
    return weights[:, of_query > 0][:, :, of_key > 0]


def sees_alike(
    visible: Bool[np.ndarray, "query key"],
    of_query: Int8[np.ndarray, " query"],
    of_key: Int8[np.ndarray, " key"],
) -> bool:
    """Whether all queries see the same video keys, which lemma 2.2 takes for granted."""
    seen = visible[of_query > 0][:, of_key == VIDEO]
    return bool((seen == seen[:1]).all())


def rank_bound(of_key: Int8[np.ndarray, " key"]) -> int:
    """Lemma 2.2: the rank after the video short-circuit is at most l_T + 2."""
    return int((of_key == TEXT).sum()) + 2


def ranks(weights: Weights) -> list[int]:
    """Numerical rank of each head's matrix, at the precision of float32."""
    if 0 in weights.shape:
        return []
    tolerance = max(weights.shape[1:]) * float(np.finfo(np.float32).eps)
    return [int(rank) for rank in np.linalg.matrix_rank(weights.astype(np.float64), rtol=tolerance)]
