"""The number of clusters on the sphere, against scikit-learn and planted groups."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from cuescope_sdk.maths import normalise
from cuescope_trove.maths.clustering import CosineSilhouette, best_clusters


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
    monkeypatch.setattr("cuescope_trove.maths.clustering.BLOCK", 7)
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


def test_no_number_of_clusters_is_refused() -> None:
    with pytest.raises(ValueError, match="got none"):
        best_clusters(np.ones((3, 3)), [], seed=0)
