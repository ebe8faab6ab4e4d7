"""Clusters by distance, against planted groups."""

import numpy as np
import pytest

from cuescope_cci.kmeans import euclidean_kmeans


def test_clusters_by_distance_are_found_and_follow_the_seed() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 20, 10])
    points = 9 * np.eye(3)[truth] + rng.normal(size=(60, 3))
    centroid, cluster = euclidean_kmeans(
        points, 3, np.random.default_rng(1), restarts=5
    )
    pairs = set(zip(truth.tolist(), cluster.tolist(), strict=True))
    assert len(pairs) == 3
    for number in range(3):
        assert centroid[number] == pytest.approx(points[cluster == number].mean(axis=0))
    _, again = euclidean_kmeans(points, 3, np.random.default_rng(1), restarts=5)
    assert np.array_equal(cluster, again)


def test_more_restarts_are_no_looser() -> None:
    points = np.random.default_rng(2).normal(size=(200, 2))

    def spread(restarts: int) -> float:
        rng = np.random.default_rng(3)
        centroid, cluster = euclidean_kmeans(points, 8, rng, restarts=restarts)
        return float(((points - centroid[cluster]) ** 2).sum())

    assert spread(10) <= spread(1)


def test_distance_has_no_more_clusters_than_distinct_points() -> None:
    points = np.repeat(np.eye(2), 4, axis=0)
    centroid, _ = euclidean_kmeans(points, 5, np.random.default_rng(0))
    assert len(centroid) == 2
    with pytest.raises(ValueError, match="some points"):
        euclidean_kmeans(points[:0], 5, np.random.default_rng(0))
