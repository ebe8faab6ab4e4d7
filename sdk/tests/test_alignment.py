"""Aligned attention distance: invariance by construction, bounds by brute force."""

from itertools import permutations

import numpy as np
import pytest

from cuescope_sdk.maths._alignment import aligned_distance


def attention(rng: np.random.Generator, heads: int, tokens: int) -> np.ndarray:
    weights = rng.exponential(size=(heads, tokens, tokens)).astype(np.float32)
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("tokens", [1, 2, 7, 40])
def test_a_reordered_copy_is_at_distance_zero(tokens: int) -> None:
    rng = np.random.default_rng(tokens)
    first = attention(rng, 3, tokens)
    orders = [rng.permutation(tokens) for _ in first]
    second = np.stack([m[np.ix_(o, o)] for m, o in zip(first, orders, strict=True)])
    assert aligned_distance(first, second).tolist() == [0.0] * 3
    if tokens == 40:
        assert (np.linalg.norm(first - second, axis=(1, 2)) > 0.5).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_distance_is_near_that_of_the_best_of_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = attention(rng, 2, 6), attention(rng, 2, 6)
    orders = [list(order) for order in permutations(range(6))]
    found = aligned_distance(first, second)
    for head in range(2):
        every = [np.linalg.norm(first[head] - second[head][np.ix_(o, o)]) for o in orders]
        assert min(every) <= found[head] + 1e-6
        assert found[head] < np.quantile(every, 0.2)


def test_the_order_of_either_side_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    first, second = attention(rng, 2, 12), attention(rng, 2, 12)
    order = rng.permutation(12)
    shuffled = second[:, order][:, :, order]
    np.testing.assert_allclose(
        aligned_distance(first, second), aligned_distance(first, shuffled), rtol=1e-12
    )


def test_a_change_of_one_weight_is_measured_as_it_is() -> None:
    first = attention(np.random.default_rng(2), 1, 9)
    second = first.copy()
    second[0, 3, 5] += 1e-3
    order = np.random.default_rng(3).permutation(9)
    moved = second[:, order][:, :, order]
    assert aligned_distance(first, moved)[0] == pytest.approx(1e-3, rel=1e-3)


def test_rows_and_columns_are_reordered_together() -> None:
    """Rows alone could turn a cycle into loops, but no order of the tokens does."""
    cycle = np.roll(np.eye(5, dtype=np.float32), 1, axis=1)
    loops = np.eye(5, dtype=np.float32)
    assert aligned_distance(cycle[None], loops[None])[0] == pytest.approx(np.sqrt(10))


def test_other_numbers_of_tokens_cannot_be_aligned() -> None:
    rng = np.random.default_rng(0)
    for other in (attention(rng, 2, 5), attention(rng, 1, 4), np.zeros((2, 4, 5), np.float32)):
        with pytest.raises(ValueError, match="one shape"):
            aligned_distance(attention(rng, 2, 4), other)
