"""Ranked lists, by hand."""

import numpy as np
import pytest

from cuescope_trove.maths.ranking import precision_at_k, r_precision, rank_frames

SHOWN = np.array([True, True, False, True, False])


def test_precision_at_k() -> None:
    assert [precision_at_k(SHOWN, k) for k in (1, 3, 5)] == pytest.approx(
        [1.0, 2 / 3, 0.6]
    )
    assert precision_at_k(SHOWN, 6) is None
    with pytest.raises(ValueError, match="1 or more"):
        precision_at_k(SHOWN, 0)


def test_r_precision_looks_as_deep_as_there_are_relevant_items() -> None:
    assert r_precision(SHOWN, int(SHOWN.sum())) == pytest.approx(2 / 3)
    assert r_precision(SHOWN, 10) == pytest.approx(0.3)
    assert r_precision(np.zeros(3, dtype=bool), 0) is None


def test_frames_by_cluster_score_then_strength() -> None:
    cluster = np.array([0, 1, 2, 1, 0, 2])
    strength = np.array([0.9, 0.2, 0.5, 0.8, 0.9, 0.7])
    ranking = rank_frames(cluster, strength, np.array([0.1, 1.4, -np.inf]))
    assert ranking.tolist() == [3, 1, 0, 4, 5, 2]
