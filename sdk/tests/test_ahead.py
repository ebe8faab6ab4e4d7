"""What is loaded ahead: how much, in which order, and what becomes of what nobody takes."""

from collections.abc import Callable, Hashable
from functools import partial
from threading import Event

import pytest

from cuescope_sdk.torch import LoadedAhead

Items = dict[Hashable, Callable[[], int]]


def test_a_few_wait_in_their_order_and_what_nobody_takes_is_dropped() -> None:
    begun, gate = list[int](), Event()

    def load(number: int) -> int:
        begun.append(number)
        gate.wait(10)
        if number == 3:
            raise ValueError("a broken image")
        return number * 10

    def items(*numbers: int) -> Items:
        return {number: partial(load, number) for number in numbers}

    ahead = LoadedAhead[int](most=2)
    ahead.expect(items(0, 1, 2, 3))
    assert set(begun) <= {0, 1}
    gate.set()
    assert [ahead.take(n, partial(load, n)) for n in (0, 1)] == [0, 10]
    with pytest.raises(ValueError, match="a broken image"):
        ahead.take(3, partial(load, 3))
    assert ahead.take(9, partial(load, 9)) == 90  # not expected
    ahead.expect(items(4, 5))  # 2 was not taken, and may be yet
    ahead.expect(items(6, 7))  # now it is dropped, and makes room
    assert ahead.take(4, partial(load, 4)) == 40
    assert ahead.take_all(items(7, 6, 8)) == [70, 60, 80]
    taken = [number for number in begun if number not in (2, 5)]
    assert sorted(taken) == [0, 1, 3, 4, 6, 7, 8, 9]
