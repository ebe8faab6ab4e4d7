"""Clusters of patch embeddings, and what is asked of them."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cuescope_cci.options import CCIOptions
from cuescope_cci.trials import (
    AnsweredImage,
    ClusteredImage,
    PatchClusters,
    Start,
    patch_clusters,
    with_text,
)
from cuescope_sdk import Frame, HideTokens, Sample

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
    clusters = patch_clusters(features, 3, metric, seed=2)
    assert np.array_equal(clusters, truth)
    assert clusters.dtype == np.int16


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
    first, second = (patch_clusters(features, 7, metric, seed=11) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(8))
def test_no_cluster_is_empty(metric: Metric, seed: int) -> None:
    features = np.random.default_rng(seed).normal(size=(5, 5, 3)).astype(np.float32)
    features[2:] = features[0, 0]  # many duplicates
    clusters = patch_clusters(features, 9, metric, seed)
    used = np.unique(clusters)
    assert np.array_equal(used, np.arange(len(used)))
    assert len(used) <= 9
    sizes = np.bincount(clusters.ravel())
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize("metric", METRICS)
def test_more_clusters_than_patches(metric: Metric) -> None:
    features = np.eye(4, dtype=np.float32).reshape(2, 2, 4)
    assert sorted(patch_clusters(features, 7, metric, 0).ravel()) == [0, 1, 2, 3]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [0.0, 1.5])
def test_patches_that_are_all_the_same_are_one_cluster(
    metric: Metric, value: float
) -> None:
    features = np.full((3, 4, 6), value, dtype=np.float32)
    assert not patch_clusters(features, 7, metric, 0).any()


@pytest.mark.parametrize("metric", METRICS)
def test_of_equal_sizes_the_first_to_appear_leads(metric: Metric) -> None:
    features = np.eye(3)[[2, 1, 1, 2, 0, 0, 0]][None]
    assert patch_clusters(features, 3, metric, 0).tolist() == [[1, 2, 2, 1, 0, 0, 0]]


def test_every_parameter_is_part_of_the_readout() -> None:
    """Two readouts that may differ must not share a cached answer."""
    readout = PatchClusters(k=7, metric="cosine", seed=0)
    others = ({"k": 6}, {"metric": "euclidean"}, {"seed": 1})
    assert all(readout.model_copy(update=change) != readout for change in others)


# ------------------------------------------------------------------------ what is asked


CHOICES = ("owl", "toad", "hawk")


def picture(**fields: object) -> Sample:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    return replace(
        Sample(key="a", frames=(frame,), choices=CHOICES, label="owl"), **fields
    )


def test_an_image_is_asked_whole_then_without_each_cluster() -> None:
    cluster = np.array([[0, 0, 1], [0, 2, 1]])
    whole, *hidden = ClusteredImage(picture(), cluster).trials()
    assert whole.edit is None
    masks = [trial.edit.mask for trial in hidden if isinstance(trial.edit, HideTokens)]
    assert np.array_equal(masks, [(cluster == number)[None] for number in range(3)])


def test_maps_are_the_mean_over_the_starts() -> None:
    """The second start has other clusters, and hiding them costs another choice."""
    left, top = np.array([[0, 1], [0, 1]]), np.array([[0, 0], [1, 1]])
    of_left = np.array([[3.0, 0, 0], [1, 0, 0]])
    of_top = np.array([[0.0, 0, 0], [2, 0, 0]])
    image = AnsweredImage(picture(), left, np.zeros(3), of_left)
    assert image.map_of("owl").tolist() == [[0.75, 0.25]] * 2
    both = replace(image, further=(Start(top, of_top),))
    assert both.map_of("owl").tolist() == [[0.375, 0.125], [0.875, 0.625]]


def test_the_papers_way_has_one_start_unless_it_is_set() -> None:
    paper = CCIOptions(paper=True)
    assert (paper.starts, paper.metric, paper.region) == (1, "euclidean", "iou")
    assert CCIOptions(paper=True, starts=2).starts == 2
    assert CCIOptions(paper=False) == CCIOptions(starts=3)
    with pytest.raises(ValueError, match="boolean"):
        CCIOptions.model_validate({"paper": "true"})


def test_a_text_of_its_own_takes_the_place_of_the_choices() -> None:
    plain = picture()
    assert with_text(plain, "toad") is plain
    other = with_text(plain, "a green pond")
    assert (other.choices, other.label) == (("a green pond",), None)
