"""How long to wait, what a server's refusal means, and what it says."""

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from cuescope_openai.endpoint import Endpoint
from cuescope_openai.retries import (
    TransientError,
    error_of_status,
    retry_after,
    seconds_to_wait,
    server_message,
)
from cuescope_sdk import UserError

HERE = Endpoint("http://here/v1", SecretStr("sk-key"), "HERE_KEY")


def test_waits_grow_and_are_jittered() -> None:
    for attempt in range(1, 10):
        longest = min(60.0, 0.5 * 2 ** (attempt - 1))
        waits = [seconds_to_wait(attempt, 0.5, TransientError("x")) for _ in range(50)]
        assert all(longest / 2 <= wait <= longest for wait in waits)
        assert len(set(waits)) > 1


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after({"retry-after": "7"}) == 7.0
    assert retry_after({"retry-after": "0.5"}) == 0.5
    now = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, now) == 30.0
    assert retry_after({"retry-after": "Thu, 01 Jan 2015 00:00:30 GMT"}, now) == 0.0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_what_the_server_asks_for_is_waited() -> None:
    fault = error_of_status(HERE, 429, {"retry-after": "7"}, "slow down")
    assert isinstance(fault, TransientError)
    assert seconds_to_wait(1, 0.5, fault) == 7.0
    at_once = TransientError("again", 0.0)
    assert seconds_to_wait(3, 1.0, at_once) >= 2.0  # and no hammering


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_faults_that_pass(status: int) -> None:
    assert isinstance(error_of_status(HERE, status, {}, ""), TransientError)


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (
            400,
            {},
            '{"error": {"message": "no such\\n field"}}',
            "status 400: no such field",
        ),
        (413, {}, '{"detail": "too large"}', "too large"),
        (301, {}, "", "status 301"),
        (429, {"retry-after": "3600"}, "", "Come back in 3600 s"),
        (
            429,
            {},
            '{"error": {"message": "x", "code": "insufficient_quota"}}',
            "account's quota",
        ),
        (401, {}, '{"error": {"message": "bad key sk-k*y"}}', "the key in HERE_KEY"),
    ],
)
def test_faults_that_stay(
    status: int, headers: dict[str, str], body: str, words: str
) -> None:
    fault = error_of_status(HERE, status, headers, body)
    assert isinstance(fault, UserError)
    assert words in str(fault)
    assert "\n" not in str(fault)
    assert "sk-k" not in str(fault)


def test_long_messages_are_cut() -> None:
    assert server_message("x" * 1000) == "x" * 200 + "..."
    assert server_message('["a", "b"]') == "['a', 'b']"
    assert server_message("") == "nothing"
