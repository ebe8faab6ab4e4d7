"""How far apart two attention maps are, whatever the order of their tokens.

The representation sensitivity analysis of CLAVI, appendix B.7 (Rawal et al., 2024): complement
pairs hold other tokens, or the same ones in another order, so tokens are matched first.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment, quadratic_assignment
from scipy.spatial.distance import cdist


def aligned_distance(
    first: Float[np.ndarray, "head token token"], second: Float[np.ndarray, "head token token"]
) -> Float[np.ndarray, " head"]:
    """L2 distance of each head's two attention matrices, after matching their tokens.

    A matrix is a weighted directed graph, and one order of its tokens arranges rows and columns
    alike; the order of the least distance is a quadratic assignment. The paper takes a linear one
    (Crouse, 2016) and leaves open what it costs to match two tokens. Here tokens are matched
    first by what every order shows of them (`_signatures`), and from there by linear assignments
    to the gradient of the distance (FAQ: Vogelstein et al., 2015); the nearer of both counts. Two
    orders of one graph are at distance 0, up to tokens that look alike; otherwise the result is
    at least the distance under the best of all orders. Time grows with the cube of the tokens.

    Raises ValueError where the two are not of one square shape: an alignment needs as many tokens.
    """
    if first.shape != second.shape or first.ndim != 3 or first.shape[1] != first.shape[2]:
        raise ValueError(
            f"expected two arrays of one shape (head, token, token), "
            f"got {first.shape} and {second.shape}"
        )
    heads = zip(first.astype(np.float64), second.astype(np.float64), strict=True)
    return np.array([_nearest(one, other) for one, other in heads], dtype=np.float64)


def _nearest(
    one: Float[np.ndarray, "token token"], other: Float[np.ndarray, "token token"]
) -> float:
    cost = cdist(_signatures(one), _signatures(other), "sqeuclidean")
    order = linear_sum_assignment(cost)[1]
    alike = _distance(one, other, order)
    if alike == 0:
        return 0.0
    options = {
        "maximize": True,
        "P0": np.eye(len(one))[order],
        "rng": np.random.default_rng(0),  # draws nothing, but without it the global one is asked
    }
    refined = quadratic_assignment(one, other, method="faq", options=options).col_ind
    return min(alike, _distance(one, other, refined))


def _distance(
    one: Float[np.ndarray, "token token"],
    other: Float[np.ndarray, "token token"],
    order: Int[np.ndarray, " token"],
) -> float:
    return float(np.linalg.norm(one - other[np.ix_(order, order)]))


def _signatures(matrix: Float[np.ndarray, "token token"]) -> Float[np.ndarray, "token feature"]:
    """What a token sends and receives, each sorted, and what it sends to itself."""
    sent, received = np.sort(matrix, axis=1), np.sort(matrix.T, axis=1)
    return np.concatenate([sent, received, np.diag(matrix)[:, None]], axis=1)
