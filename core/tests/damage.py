"""Random damage to a cache file: bits flipped, ends cut off."""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cuescope.store import ResponseCache
from cuescope.types import Response


def damage_survived(
    path: Path, kept: Mapping[str, Response], folder: Path, *, tries: int, seed: int
) -> float:
    """The share of answers that come back from damaged copies; a wrong one is an AssertionError.

    After each, the same file takes new answers.
    """
    rng, content, came_back = np.random.default_rng(seed), path.read_bytes(), 0
    for number in range(tries):
        copy = folder / str(number) / path.name
        copy.parent.mkdir(parents=True)
        data = bytearray(content)
        if number % 5 == 4:
            del data[int(rng.integers(len(data))) :]
        else:
            # every second time among the first pages, where SQLite keeps header and tree
            last = len(data) if number % 2 else 3 * 8192
            data[int(rng.integers(last))] ^= 1 << int(rng.integers(8))
        copy.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cache = ResponseCache(copy)
            answers = cache.get(kept)
            cache.put(kept)
            # a bit in an index may hide a row for ever; `repair` makes the index anew
            assert len(cache.get(kept)) >= 0.9 * len(kept), number
            cache.repair()
            cache.put(kept)
            assert cache.get(kept).keys() == kept.keys(), number
            cache.close()
        came_back += len(answers)
        for key, answer in answers.items():
            assert str(answer.text) == str(kept[key].text), number
            np.testing.assert_array_equal(answer.logits, kept[key].logits)
            np.testing.assert_array_equal(answer.embedding, kept[key].embedding)
    return came_back / (tries * len(kept))
