"""What a server's refusals mean: wait and ask again, or tell the user in one line."""

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from random import SystemRandom

from cuescope_openai.endpoint import Endpoint
from cuescope_sdk import UserError

PASSING = frozenset({408, 409, 425, 429})  # and all from 500
LONGEST_WAIT = 300.0  # s
LONGEST_BACKOFF = 60.0  # s
WORDS = 200  # characters of a server's message


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
    asked = (isinstance(fault, TransientError) and fault.wait) or 0.0
    longest = min(LONGEST_BACKOFF, first * 2.0 ** (attempt - 1))
    # from the system's own source: nobody's seed decides when requests are sent
    return max(asked, longest * SystemRandom().uniform(0.5, 1.0))


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait by `Retry-After`, a number or a date; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    try:
        if text.replace(".", "", 1).isdigit():
            return float(text)
        return max(0.0, parsedate_to_datetime(text).timestamp() - (now or time.time()))
    except (TypeError, ValueError):
        return None


def told(body: str) -> str:
    """What an error's body says, in one short line."""
    try:
        whole = json.loads(body)
        error = whole.get("error", whole.get("detail", whole)) if isinstance(whole, dict) else whole
        text = error.get("message", error) if isinstance(error, dict) else error
    except ValueError:
        text = body
    line = " ".join(str(text).split()) or "nothing"
    return line if len(line) <= WORDS else f"{line[:WORDS]}..."


def fault_of(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: str
) -> TransientError | UserError:
    """A status that is no success, as an exception to raise."""
    if status in (401, 403):  # the answer may quote the key in parts, so it is not shown
        given = "no key was sent" if endpoint.key is None else f"the key in {endpoint.key_env}"
        return UserError(
            f"openai: {endpoint.url} refuses", expected="a valid key with access to the model",
            got=f"status {status} for {given}",
            remedy=f"Set {endpoint.key_env}, or name another variable with -M key_env=NAME",
        )  # fmt: skip
    passing = status in PASSING or status >= 500
    wait = retry_after(headers)
    if passing and "insufficient_quota" not in body and (wait or 0.0) <= LONGEST_WAIT:
        return TransientError(f"status {status}: {told(body)}", wait)
    if passing:
        later = f"Come back in {wait:.0f} s" if wait else "See to the account's quota"
        remedy = f"{later}; all answers so far are kept"
    else:
        remedy = "-M temperature=none, max_tokens=none and extra={...} fit a request to a server"
    return UserError(
        f"openai: {endpoint.url} refuses", got=f"status {status}: {told(body)}", remedy=remedy
    )
