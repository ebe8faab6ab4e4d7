"""The child in which files of strangers are parsed: what it gives, and what ends it."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from cuescope_core.errors import UserError
from cuescope_core.plain_json import parse_json
from cuescope_core.trust import child
from cuescope_core.trust.child import ParserLimitError, each_in_child, in_child

ENDLESS = "sum(iter(int, 1))"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Children that have a second and half a gigabyte."""
    child.end_children()
    monkeypatch.setattr(child, "SECONDS", 1)
    monkeypatch.setattr(child, "BYTES", 2**29)
    yield
    child.end_children()


def test_a_child_is_used_again() -> None:
    assert in_child("x", os.getpid) == in_child("x", os.getpid) != os.getpid()


def test_an_error_comes_back_as_it_was() -> None:
    with pytest.raises(UserError, match="a log is no JSON: got"):
        in_child("x", parse_json, "{", "a log")
    assert in_child("x", len, "ab") == 2


def test_a_parser_without_an_end_is_ended(quick: None) -> None:
    values = each_in_child("far.xlsx", map, eval, ["0", "1", "2", ENDLESS])
    assert [next(values) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(
        ParserLimitError, match=r"far\.xlsx .* at most 1 s of processor"
    ):
        next(values)
    assert in_child("x", len, "ab") == 2


def test_a_parser_without_memory_is_refused(quick: None) -> None:
    with pytest.raises(ParserLimitError, match=r"at most 0\.5 GB"):
        in_child("x", eval, "len(bytearray(2**30))")
    assert in_child("x", len, "ab") == 2


def test_a_decoder_that_crashes_ends_nobody_else() -> None:
    with pytest.raises(ParserLimitError, match="a crash of its decoder"):
        in_child("x", os.abort)
    assert in_child("x", len, "ab") == 2


def test_threads_have_children_of_their_own() -> None:
    with ThreadPoolExecutor(4) as pool:
        sizes = list(pool.map(lambda size: in_child("x", int, str(size)), range(200)))
    assert sizes == list(range(200))


def test_values_that_nobody_wants_leave_nothing_behind() -> None:
    values = each_in_child("x", range, 100_000)
    assert next(values) == 0
    values.close()
    assert in_child("x", len, "ab") == 2


def test_a_child_that_somebody_ended_is_replaced() -> None:
    number = in_child("x", os.getpid)
    os.kill(number, signal.SIGINT)
    assert in_child("x", os.getpid) == number, "an interrupt is not its own"
    os.kill(number, signal.SIGKILL)
    time.sleep(0.2)
    assert in_child("x", os.getpid) != number
