"""Named random generators; nothing in cuescope seeds globally."""

import numpy as np

from cuescope_core.digest import digest


def generator(seed: int, *names: str) -> np.random.Generator:
    """A generator of its own for each (seed, names): drawing from one never moves another."""
    return np.random.default_rng(derive(seed, *names))


def derive(seed: int, *names: str) -> int:
    """A 63-bit seed that depends on `seed` and `names` alone, for libraries that take a number."""
    # 63 bits: torch and SQLite take signed 64
    return int(digest(seed, *names)[:16], 16) >> 1
