"""Clusters of patch embeddings."""

from typing import Literal

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cuescope_cci.clusters import PatchClusters, by_size, patch_clusters

Metric = Literal["cosine", "euclidean"]
METRICS: tuple[Metric, ...] = ("cosine", "euclidean")


def blobs(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A 6 x 8 grid of three tight blobs in three directions, 24, 16 and 8 patches."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat([0, 1, 2], [24, 16, 8]))
    points = np.eye(3, 5)[truth] * 10 + rng.normal(0, 0.1, (48, 5))
    return points.astype(np.float32).reshape(6, 8, 5), truth.reshape(6, 8)


@pytest.mark.parametrize("metric", METRICS)
def test_blobs_are_found_and_numbered_by_size(metric: Metric) -> None:
    features, truth = blobs()
    found = patch_clusters(features, 3, metric, seed=4)
    assert np.array_equal(found, truth)
    assert found.dtype == np.int16


def test_cosine_looks_at_directions_and_euclidean_at_distances() -> None:
    direction = np.repeat([[1.0, 0.0], [0.0, 1.0]], 8, axis=0)
    length = np.tile([1.0, 1.05, 30.0, 30.5], 4)[:, None]
    features = (direction * length).astype(np.float32).reshape(4, 4, 2)
    same_direction = np.repeat([0, 1], 8)
    cosine = patch_clusters(features, 2, "cosine", 0).ravel()
    assert adjusted_rand_score(same_direction, cosine) == 1
    euclidean = patch_clusters(features, 3, "euclidean", 0).ravel()
    short = euclidean[length.ravel() < 2]
    assert len(set(short)) == 1  # the short ones of both directions are near each other


@pytest.mark.parametrize("metric", METRICS)
def test_the_same_seed_gives_the_same_clusters(metric: Metric) -> None:
    features = np.random.default_rng(3).normal(size=(7, 7, 16)).astype(np.float32)
    one, other = (patch_clusters(features, 7, metric, seed=11) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(8))
def test_no_cluster_is_empty(metric: Metric, seed: int) -> None:
    features = np.random.default_rng(seed).normal(size=(5, 5, 3)).astype(np.float32)
    features[2:] = features[0, 0]  # many duplicates
    found = patch_clusters(features, 9, metric, seed)
    used = np.unique(found)
    assert np.array_equal(used, np.arange(len(used)))
    assert len(used) <= 9
    sizes = np.bincount(found.ravel())
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize("metric", METRICS)
def test_more_clusters_than_patches(metric: Metric) -> None:
    features = np.eye(4, dtype=np.float32).reshape(2, 2, 4)
    assert sorted(patch_clusters(features, 7, metric, 0).ravel()) == [0, 1, 2, 3]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [0.0, 1.5])
def test_patches_that_are_all_the_same_are_one_cluster(metric: Metric, value: float) -> None:
    features = np.full((3, 4, 6), value, dtype=np.float32)
    assert not patch_clusters(features, 7, metric, 0).any()


def test_of_equal_sizes_the_first_to_appear_leads() -> None:
    assert by_size(np.array([9, 4, 4, 9, 7, 7, 7])).tolist() == [1, 2, 2, 1, 0, 0, 0]


def test_every_parameter_is_part_of_the_reading() -> None:
    """Two readings that may differ must not share a cached answer."""
    one = PatchClusters(k=7, layer=-1, metric="cosine", seed=0)
    others = ({"k": 6}, {"layer": 2}, {"metric": "euclidean"}, {"seed": 1})
    assert all(one.model_copy(update=change) != one for change in others)
