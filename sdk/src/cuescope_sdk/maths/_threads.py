"""Small products of matrices on one thread."""

import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

# packages that bring a library of their own
WITH_BLAS = ("sklearn", "torch")
P = ParamSpec("P")
T = TypeVar("T")


def on_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function with its BLAS products on one thread, for fits of a few thousand numbers a row.

    Threads gain next to nothing there, and lose much where others use the computer: each waits for
    the slowest. And sums of one thread are the same on a computer of any number of cores.
    """

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        loaded = frozenset(name for name in WITH_BLAS if name in sys.modules)
        with _controller(loaded).limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return alone


@cache
def _controller(loaded: frozenset[str]) -> ThreadpoolController:
    """Controller of the libraries that are loaded with these packages, and of none later."""
    # SciPy, which these fits use, brings one of its own
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
