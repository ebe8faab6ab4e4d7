"""Keys seen before, against a set."""

from itertools import pairwise

import numpy as np
import pytest

from cuescope_core.key_set import SeenKeys


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_new_keys_are_those_that_a_set_has_not(size: int) -> None:
    rng = np.random.default_rng(size)
    seen = SeenKeys()
    reference: set[str] = set()
    for _ in range(200):
        keys = [f"key {number}" for number in rng.choice(400, size, replace=False)]
        assert seen.add(keys) == [key for key in keys if key not in reference]
        reference.update(keys)


def test_arrays_stay_few_and_hold_each_hash_once() -> None:
    seen = SeenKeys()
    for number in range(1000):
        seen.add([f"key {number}"])
        lengths = [len(array) for array in seen._arrays]
        assert all(first > 2 * second for first, second in pairwise(lengths))
    assert sum(lengths) == 1000 + 1


def test_nothing_added_is_nothing_new() -> None:
    assert SeenKeys().add([]) == []


def test_what_is_known_is_not_added() -> None:
    seen = SeenKeys()
    seen.add(["a", "b"])
    assert seen.known(["c", "b"]) == ["b"]
    assert seen.known([]) == []
    assert seen.add(["c"]) == ["c"]


def test_what_others_have_seen_is_merged() -> None:
    some, others = SeenKeys(), SeenKeys()
    assert len(some) == 0
    some.add([f"key {number}" for number in range(700)])
    others.add([f"key {number}" for number in range(500, 900)])
    others.add(["another"])
    some.merge(others)
    assert len(some) == 901
    assert some.add(["key 899", "another", "new"]) == ["new"]
