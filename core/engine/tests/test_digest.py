"""The one digest: content and type in, nothing else; and the generators named by it."""

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from cuescope_core import seeds
from cuescope_core.conclusions import Metric
from cuescope_core.digest import digest

from .edits import DropTokens, ScaleHeads

DISTINCT = [
    None,
    "",
    "None",
    b"",
    b"None",
    0,
    0.0,
    "0",
    b"0",
    False,
    True,
    b"True",
    "True",
    1,
    1.0,
    (),
    ("",),
    ((),),
    (1, 2),
    (2, 1),
    (12,),
    ("a", "b"),
    ("ab",),
    ("a,b",),
    {"a": "b"},
    {"a", "b"},
    {"a": {"b": 1}},
    {("a", "b"): 1},
    np.zeros(2),
    np.zeros(2, np.float32),
    np.zeros((2, 1)),
    np.zeros((1, 2)),
    np.zeros(0),
    np.array(0.0),
    np.array(["0"]),
    Metric(name="a", title="b", meaning="c"),
    {"name": "a", "title": "b", "meaning": "c"},
    DropTokens(names=frozenset({"video"})),
    DropTokens(names=frozenset({"text"})),
]


def test_different_content_has_different_digests() -> None:
    for one, other in combinations(DISTINCT, 2):
        assert digest(one) != digest(other), (one, other)
    assert digest("a", "b") != digest("ab") != digest(("a", "b"))


def test_mappings_and_sets_have_no_order() -> None:
    words = [f"word {i}" for i in range(50)]
    assert digest({w: i for i, w in enumerate(words)}) == digest(
        {w: i for i, w in reversed(list(enumerate(words)))}
    )
    assert digest(set(words)) == digest(frozenset(reversed(words)))
    assert digest(words) == digest(tuple(words)) != digest(words[::-1])


def test_arrays_by_value_not_by_memory() -> None:
    grid = np.arange(12).reshape(3, 4)
    assert (
        digest(grid)
        == digest(np.asfortranarray(grid))
        == digest(np.repeat(grid, 2, 0)[::2])
    )
    changed = grid.copy()
    changed[2, 1] += 1
    assert digest(grid) != digest(changed)


def test_numbers_of_numpy_that_are_python_numbers_are_equal() -> None:
    assert digest(np.float64(0.1)) == digest(0.1)


@pytest.mark.parametrize(
    "opaque",
    [object(), Path("a"), np.float32(1), np.array(["a"], object), 1j, lambda: 0],
)
def test_what_cannot_be_seen_is_refused(opaque: object) -> None:
    with pytest.raises(TypeError, match="cannot take the digest"):
        digest(opaque)


def test_other_processes_agree() -> None:
    program = (
        "from cuescope_core.digest import digest; from edits import ScaleHeads\n"
        "words = frozenset(map(str, range(20)))\n"
        "nested = frozenset({words, frozenset({'a', 'b', 'c'})})\n"
        "print(digest(words, nested, dict.fromkeys(words, 1.5)),"
        " digest(ScaleHeads(heads=frozenset({'VV', 'VT', 'TV'}))))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    words = frozenset(map(str, range(20)))
    nested = frozenset({words, frozenset({"a", "b", "c"})})
    here = digest(words, nested, dict.fromkeys(words, 1.5))
    edit = digest(ScaleHeads(heads=frozenset({"TV", "VT", "VV"})))
    assert said == {f"{here} {edit}\n"}


# ---------------------------------------------------------------------------------------- seeds


def test_generators_are_named() -> None:
    draws = {
        tuple(seeds.generator(seed, *names).integers(0, 2**32, 4))
        for seed in (0, 1)
        for names in ((), ("a",), ("b",), ("a", "b"), ("ab",))
    }
    assert len(draws) == 10
    first, again = (seeds.generator(3, "kmeans").normal(size=5) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_derived_seeds_are_of_63_bits() -> None:
    found = [seeds.derive(seed, "name") for seed in range(200)]
    assert len(set(found)) == 200
    assert all(0 <= seed < 2**63 for seed in found)
    assert max(found) > 2**61
