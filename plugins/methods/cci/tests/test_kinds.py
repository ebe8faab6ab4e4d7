"""Kinds of backgrounds: found where there are any, and nowhere else."""

import numpy as np
import pytest

from cuescope_cci.kinds import clustered_kinds, follows_size


def test_kinds_that_are_apart_are_found() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 20, 10])
    points = rng.normal(size=(3, 16))[truth] * 5 + rng.normal(size=(60, 16))
    kinds = clustered_kinds(points, rng)
    assert kinds is not None
    assert np.array_equal(kinds, truth)  # the largest is the first


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(1, marks=pytest.mark.long),
        pytest.param(3, marks=pytest.mark.long),
        40,
    ],
)
def test_mere_noise_has_no_kinds(shape: int) -> None:
    wrong = sum(
        clustered_kinds(np.random.default_rng(seed).normal(size=(80, shape)), rng)
        is not None
        for seed, rng in enumerate(map(np.random.default_rng, range(100, 120)))
    )
    assert not wrong


@pytest.mark.parametrize("count", [1, 5, 40])
def test_too_few_or_all_the_same_have_no_kinds(count: int) -> None:
    rng = np.random.default_rng(1)
    assert clustered_kinds(np.ones((count, 4)), rng) is None
    assert clustered_kinds(rng.normal(size=(count, 4))[:5], rng) is None


def test_a_factor_that_is_the_size_is_known() -> None:
    rng = np.random.default_rng(2)
    area = rng.uniform(0.02, 0.5, 90)
    size = np.where(
        area < 0.1, "small", np.where(area < 0.3, "medium", "large")
    ).tolist()
    assert follows_size(size, area)
    assert not follows_size(rng.choice(["sky", "sea"], 90).tolist(), area)
    # a name for each image
    assert not follows_size([str(index) for index in range(90)], area)
    assert not follows_size([None] * 90, area)
    assert not follows_size(size, np.full(90, 0.2))
