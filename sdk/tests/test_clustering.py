"""Clusters on the sphere."""

import numpy as np
import pytest

from cuescope_sdk.maths import normalise, spherical_kmeans


def groups(
    count: int, each: int, spread: float, dim: int = 16
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    member = np.repeat(np.arange(count), each)
    middle = np.linalg.qr(rng.normal(size=(dim, count)))[0].T
    return normalise(
        middle[member] + spread * rng.normal(size=(len(member), dim))
    ), member


def test_a_seed_is_a_seed() -> None:
    points, _ = groups(3, 50, 1.0)
    first, again = (spherical_kmeans(points, 9, seed=4) for _ in range(2))
    for before, after in zip(first, again, strict=True):
        assert np.array_equal(before, after)
    _, other, _ = spherical_kmeans(points, 9, seed=5)
    assert not np.array_equal(first[1], other)


def test_equal_points_are_one_cluster_and_few_points_are_few_clusters() -> None:
    points, _ = groups(2, 3, 0.01)
    centroid, same, _ = spherical_kmeans(np.repeat(points[:1], 9, axis=0), 4, seed=0)
    assert (len(centroid), same.tolist()) == (1, [0] * 9)
    centroid, few, _ = spherical_kmeans(points, 40, seed=0)
    assert len(centroid) <= 6
    assert set(few.tolist()) == set(range(len(centroid)))
    _, twice, _ = spherical_kmeans(np.repeat(points[[0, -1]], 5, axis=0), 6, seed=0)
    assert len(set(zip(twice[:5].tolist(), twice[5:].tolist(), strict=True))) == 1


def test_all_points_are_used_however_many_there_are_for_a_centroid() -> None:
    points, _ = groups(2, 1500, 0.4)
    centroid, cluster, _ = spherical_kmeans(points, 2, seed=0)
    for group in range(2):
        mean = points[cluster == group].mean(axis=0)
        assert centroid[group] == pytest.approx(mean / np.linalg.norm(mean), abs=5e-3)


def test_nothing_to_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="0 points"):
        spherical_kmeans(np.zeros((0, 3), dtype=np.float32), 2, seed=0)
    assert not normalise(np.zeros((2, 3))).any()
