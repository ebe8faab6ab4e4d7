"""When a request is sent again, and after which faults."""

import json
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from random import SystemRandom

from cuescope_openai.endpoint import Endpoint
from cuescope_sdk import UserError, printable

# statuses that may pass (RFC 9110, 8470 and 6585), and all from 500
RETRIED = frozenset({408, 409, 425, 429})
MAX_RETRY_AFTER = 300.0  # s
MAX_BACKOFF = 60.0  # s
MESSAGE_LENGTH = 200  # characters of a server's message


class TransientError(Exception):
    """A fault that may pass; `wait` is the seconds that the server asks for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def seconds_to_wait(attempt: int, first: float, fault: BaseException | None) -> float:
    """Exponential backoff with jitter, or longer where the server asks for it.

    Between half and all of first * 2 ** (attempt - 1), attempts counted from 1, so that clients
    do not come back together.
    """
    requested = (isinstance(fault, TransientError) and fault.wait) or 0.0
    longest = min(MAX_BACKOFF, first * 2.0 ** (attempt - 1))
    # From the system's own source: nobody's seed decides when requests are sent
    return max(requested, longest * SystemRandom().uniform(0.5, 1.0))


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait by `Retry-After`, a number or a date; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    try:
        if text.replace(".", "", 1).isdigit():
            return float(text)
        date = parsedate_to_datetime(text).timestamp()
        return max(0.0, date - (now or time.time()))
    except (TypeError, ValueError, OverflowError):
        return None


def shorten(text: str) -> str:
    """What a server says, in one short line that no terminal obeys."""
    # cut first: the page of an error may be long
    words = text[: 10 * MESSAGE_LENGTH].split()
    line = printable(" ".join(words))
    return line if len(line) <= MESSAGE_LENGTH else f"{line[:MESSAGE_LENGTH]}..."


def server_message(body: str, without_key: Callable[[str], str] = str) -> str:
    """What an error's body says, in one short line; `without_key` blacks out the key in it."""
    try:
        error = json.loads(body)
        if isinstance(error, dict):
            error = error.get("error", error.get("detail", error))
        if isinstance(error, dict):
            error = error.get("message", error)
        text = str(error)
    except (ValueError, RecursionError):  # no JSON, or brackets without end
        text = body
    return shorten(without_key(text)) or "nothing"


def error_of_status(
    endpoint: Endpoint,
    status: int,
    headers: Mapping[str, str],
    body: str,
) -> TransientError | UserError:
    """A status that is no success, as an exception to raise."""
    if status in (401, 403):
        # The answer may quote parts of the key, so it is not shown.
        sent = (
            "no key was sent"
            if endpoint.key is None
            else f"the key in {endpoint.key_env}"
        )
        return UserError(
            f"openai: {endpoint.url} refuses",
            expected="a valid key with access to the model",
            got=f"status {status} for {sent}",
            remedy=f"Set {endpoint.key_env}, or name another variable with -O model.key_env=NAME",
        )
    if 300 <= status < 400:
        target = shorten(endpoint.without_key(headers.get("location", "")))
        return UserError(
            f"openai: {endpoint.url} sends requests on to another address",
            got=f"status {status} to {target or 'nowhere'}",
            remedy="Nothing is sent there, nor is the key. -O model.base_url=... takes "
            "an address that "
            "you trust",
        )
    if status == 404:
        return UserError(
            f"openai: no answer at {endpoint.url}",
            got=f"status 404: {server_message(body, endpoint.without_key)}",
            remedy="Check -O model.base_url (most end in /v1), and that the server has "
            "the model",
        )
    said = f"status {status}: {server_message(body, endpoint.without_key)}"
    may_pass = status in RETRIED or status >= 500
    wait = retry_after(headers)
    # OpenAI says 429 for a spent account too, and no waiting helps there.
    if (
        may_pass
        and "insufficient_quota" not in body
        and (wait or 0.0) <= MAX_RETRY_AFTER
    ):
        return TransientError(said, wait)
    if may_pass:
        later = f"Come back in {wait:.0f} s" if wait else "See to the account's quota"
        remedy = f"{later}; all answers so far are kept"
    else:
        remedy = "-O model.temperature=none, max_tokens=none and extra={...} fit a "
        "request to a server"
    return UserError(f"openai: {endpoint.url} refuses", got=said, remedy=remedy)
