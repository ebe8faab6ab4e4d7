"""Bodies of answers, never more than a limit of them."""

import httpx

from cuescope_openai.retries import TransientError, shorten

MAX_ERROR = 2**16  # bytes; more of an error page is not read
# a bomb cannot be unpacked that was not asked for
ENCODINGS = "identity"


async def read_body(response: httpx.Response, most: int) -> bytes:
    """The first `most` bytes of the body, and one more where there are more.

    Raises TransientError for a body in an encoding; that of an error is empty then.
    """
    encoding = response.headers.get("content-encoding", ENCODINGS).strip().lower()
    if encoding != ENCODINGS:
        if not response.is_success:
            return b""  # the status says enough
        raise TransientError(
            f"a body in the encoding '{shorten(encoding)}', not asked for"
        )
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk[: most + 1 - len(body)]
        if len(body) > most:
            break
    return bytes(body)
