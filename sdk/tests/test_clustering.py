"""Clusters on the sphere, against scikit-learn and planted groups."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from cuescope_sdk.maths._clustering import (
    CosineSilhouette,
    best_clusters,
    euclidean_kmeans,
    normalise,
    spherical_kmeans,
)


def groups(
    count: int, each: int, spread: float, dim: int = 16
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    member = np.repeat(np.arange(count), each)
    middle = np.linalg.qr(rng.normal(size=(dim, count)))[0].T
    return normalise(
        middle[member] + spread * rng.normal(size=(len(member), dim))
    ), member


@pytest.mark.parametrize("offset", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("clusters", [2, 7, 60])
def test_silhouette_is_that_of_scikit_learn(offset: float, clusters: int) -> None:
    rng = np.random.default_rng(clusters)
    points = normalise(rng.normal(size=(300, 12)) + offset)
    cluster = rng.integers(clusters, size=300)
    cluster[17] = 999  # a singleton, and a gap in the numbering
    expected = silhouette_samples(points.astype(np.float64), cluster, metric="cosine")
    assert CosineSilhouette(points).of(cluster) == pytest.approx(expected, abs=1e-5)
    assert CosineSilhouette(points).of(cluster)[17] == 0.0


def test_silhouette_does_not_depend_on_the_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points, member = groups(4, 30, 0.3)
    whole = CosineSilhouette(points).of(member)
    monkeypatch.setattr("cuescope_sdk.maths._clustering.BLOCK", 7)
    assert CosineSilhouette(points).of(member) == pytest.approx(whole, abs=1e-6)


def test_silhouette_of_one_cluster_and_of_equal_points_is_zero() -> None:
    points, member = groups(1, 6, 0.1)
    assert not CosineSilhouette(points).of(member).any()
    same = np.repeat(points[:1], 6, axis=0)
    assert CosineSilhouette(same).of(np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(
        0.0, abs=1e-3
    )


def test_planted_groups_come_back_the_largest_first_whatever_the_scale() -> None:
    points, member = groups(5, 40, 0.1)
    keep = np.concatenate([np.flatnonzero(member == g)[: 40 - 5 * g] for g in range(5)])
    scale = np.random.default_rng(0).uniform(0.1, 50, (len(keep), 1))
    found, silhouettes = best_clusters(points[keep] * scale, [2, 3, 5, 8], seed=1)
    assert max(silhouettes, key=lambda count: silhouettes[count]) == found.count == 5
    assert adjusted_rand_score(member[keep], found.cluster) == 1.0
    assert np.bincount(found.cluster).tolist() == [40, 35, 30, 25, 20]
    assert np.linalg.norm(found.centroid, axis=1) == pytest.approx(1.0, abs=1e-6)
    cosine = (normalise(points[keep]) * found.centroid[found.cluster]).sum(axis=1)
    assert found.strength == pytest.approx(cosine, abs=1e-6)


def test_a_seed_is_a_seed() -> None:
    points, _ = groups(3, 50, 1.0)
    first, again = (spherical_kmeans(points, 9, seed=4) for _ in range(2))
    assert np.array_equal(first.cluster, again.cluster)
    assert np.array_equal(first.centroid, again.centroid)
    other = spherical_kmeans(points, 9, seed=5)
    assert not np.array_equal(first.cluster, other.cluster)


def test_equal_points_are_one_cluster_and_few_points_are_few_clusters() -> None:
    points, _ = groups(2, 3, 0.01)
    same = spherical_kmeans(np.repeat(points[:1], 9, axis=0), 4, seed=0)
    assert (same.count, same.cluster.tolist()) == (1, [0] * 9)
    few = spherical_kmeans(points, 40, seed=0)
    assert few.count <= 6
    assert set(few.cluster.tolist()) == set(range(few.count))
    twice = spherical_kmeans(np.repeat(points[[0, -1]], 5, axis=0), 6, seed=0)
    assert (
        len(
            set(
                zip(twice.cluster[:5].tolist(), twice.cluster[5:].tolist(), strict=True)
            )
        )
        == 1
    )


def test_all_points_are_used_however_many_there_are_for_a_centroid() -> None:
    points, _ = groups(2, 1500, 0.4)
    found = spherical_kmeans(points, 2, seed=0)
    for group in range(2):
        mean = points[found.cluster == group].mean(axis=0)
        assert found.centroid[group] == pytest.approx(
            mean / np.linalg.norm(mean), abs=1e-4
        )


def test_nothing_to_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="0 points"):
        spherical_kmeans(np.zeros((0, 3), dtype=np.float32), 2, seed=0)
    with pytest.raises(ValueError, match="got none"):
        best_clusters(np.ones((3, 3)), [], seed=0)
    assert not normalise(np.zeros((2, 3))).any()


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
