"""Small products are done on one thread, and what follows has its threads again."""

import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cuescope_sdk.maths import _threads, on_one_thread


def blas_threads() -> set[int]:
    """How many threads the libraries of products have now."""
    return {
        library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }


def test_libraries_that_come_later_are_known_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    real = _threads.ThreadpoolController
    monkeypatch.setattr(
        _threads, "ThreadpoolController", lambda: made.append(1) or real()
    )
    _threads._controller.cache_clear()
    for package in ("sklearn", "torch"):
        monkeypatch.delitem(sys.modules, package, raising=False)
    work = on_one_thread(blas_threads)
    assert work() == work() == {1}
    monkeypatch.setitem(sys.modules, "torch", sys)
    assert work() == work() == {1}
    assert len(made) == 2


@pytest.mark.parametrize("fails", [False, True])
def test_a_function_has_one_thread_and_gives_back_the_others(*, fails: bool) -> None:
    inside = set[int]()

    @on_one_thread
    def work(number: int) -> int:
        """Its words."""
        inside.update(blas_threads())
        if fails:
            raise ValueError(number)
        return number + 1

    with threadpool_limits(limits=2, user_api="blas"):
        if fails:
            with pytest.raises(ValueError, match="3"):
                work(3)
        else:
            assert work(3) == 4
        assert blas_threads() == {2}
    assert inside == {1}
    assert work.__doc__ == "Its words."
