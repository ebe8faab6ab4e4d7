"""Ranked lists and how well they agree with an answer sheet."""

import numpy as np
from jaxtyping import Bool, Float, Int


def precision_at_k(relevant: Bool[np.ndarray, " rank"], k: int) -> float | None:
    """Share of the first `k` that are relevant; None where the list is shorter than `k`."""
    if k < 1:
        raise ValueError(f"expected k of 1 or more, got {k}")
    return float(relevant[:k].mean()) if len(relevant) >= k else None


def r_precision(relevant: Bool[np.ndarray, " rank"], total: int) -> float | None:
    """Share of the first R that are relevant, R being the `total` of relevant items.

    It counts those that the list lacks too; ranks beyond the list count as irrelevant. None where
    nothing is relevant.
    """
    return float(relevant[:total].sum() / total) if total else None


def rank_frames(
    frame_cluster: Int[np.ndarray, " frame"],
    frame_strength: Float[np.ndarray, " frame"],
    cluster_score: Float[np.ndarray, " cluster"],
) -> Int[np.ndarray, " frame"]:
    """Frame indices: clusters by score, within a cluster by strength, strongest first.

    A cluster without a score (-inf) comes last. Ties go to the lower index.
    """
    return np.lexsort((-frame_strength, frame_cluster, -cluster_score[frame_cluster]))
