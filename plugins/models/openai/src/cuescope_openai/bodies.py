"""Bodies of answers, decompressed as they come, and never more than a limit of them."""

import zlib

import httpx

from cuescope_openai.retries import TransientError, shorten

MAX_ERROR = 2**16  # bytes; more of an error page is not read
ENCODINGS = "gzip, deflate"  # zlib stops at a limit; other decoders may not


async def read_body(response: httpx.Response, most: int) -> bytes:
    """The first `most` bytes of the body, and one more where there are more.

    Raises TransientError for a body that cannot be decompressed; that of an error is empty then.
    """
    try:
        return await _unpack(response, most)
    except TransientError:
        if response.is_success:
            raise
        return b""  # the status says enough


async def _unpack(response: httpx.Response, most: int) -> bytes:
    encoding = response.headers.get("content-encoding", "identity")
    encoding = encoding.strip().lower()
    if encoding not in ("identity", "gzip", "deflate"):
        raise TransientError(
            f"a body in the encoding '{shorten(encoding)}', not asked for"
        )
    # 32: by its header, gzip or zlib
    unpacker = (
        None if encoding == "identity" else zlib.decompressobj(32 + zlib.MAX_WBITS)
    )
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            room = most + 1 - len(body)
            body += unpacker.decompress(chunk, room) if unpacker else chunk[:room]
            ended = unpacker is not None and unpacker.eof
            if len(body) > most or ended:
                break
    except zlib.error as error:
        raise TransientError(f"a body that is no {encoding}: {error}") from error
    if unpacker and not unpacker.eof and len(body) <= most:
        raise TransientError(f"a body in {encoding} that ends too early")
    return bytes(body)
