"""Maps against torch's own interpolation, closed forms and brute force."""

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from cuescope_sdk.maths._maps import energy_share, rank_pixels, upsample


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("size", [(14, 21), (7, 9), (224, 224), (15, 10)])
def test_upsamples_as_torch_does(
    rng: np.random.Generator, size: tuple[int, int]
) -> None:
    values = rng.normal(size=(7, 9)).astype(np.float32)
    expected = interpolate(
        torch.from_numpy(values)[None, None], size=size, mode="bilinear"
    )
    found = upsample(values, size)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected[0, 0], atol=1e-5)


def test_rescales_to_the_unit_interval() -> None:
    found = upsample(np.array([[-1.0, 0.0, 3.0]]), (1, 3), rescaled=True)
    np.testing.assert_array_equal(found, [[0, 0.25, 1]])
    same = upsample(np.full((2, 2), 5.0), (4, 4), rescaled=True)
    np.testing.assert_array_equal(same, np.zeros((4, 4)))
    found = upsample(np.array([[0.0, 1.0]]), (1, 5), rescaled=True)
    assert (found.min(), found.max()) == (0, 1)


def test_ranks_by_importance_and_ties_by_chance(rng: np.random.Generator) -> None:
    values = np.array([[0.5, 2.0, 0.5], [0.5, -1.0, 0.5]])
    orders = [rank_pixels(values, rng) for _ in range(200)]
    assert all(order[0] == 1 and order[-1] == 4 for order in orders)
    second = np.bincount([order[1] for order in orders], minlength=6)
    assert set(np.flatnonzero(second)) == {0, 2, 3, 5}
    again = [rank_pixels(values, np.random.default_rng(3)) for _ in range(2)]
    np.testing.assert_array_equal(*again)


def test_energy_counts_what_is_positive() -> None:
    values = np.array([[1.0, 3.0], [-5.0, 0.0]])
    mask = np.array([[False, True], [True, False]])
    assert energy_share(values, mask) == 0.75
    assert energy_share(-np.abs(values), mask) == 0.5  # nothing positive: as a flat map


@pytest.mark.wrong_shapes
def test_refuses_a_mask_of_another_shape() -> None:
    with pytest.raises(ValueError, match="shape"):
        energy_share(np.ones((2, 2)), np.ones((1, 2), bool))
