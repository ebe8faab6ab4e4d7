"""Addresses that a person types: reports, pages and logs show them, so they hold no secret."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from cuescope_core.errors import UserError


def require_no_secret(address: str) -> str:
    """The address; raises UserError, without it, for a user, password, query or fragment in it."""
    try:
        parts = urlsplit(address)
        # the hub writes a revision so: NAME@REVISION
        has_user = "@" in parts.netloc and parts.scheme != "hf"
    except ValueError:
        has_user = "@" in address
    if has_user or (set("?#") & set(address)):
        # no ValueError: where a path may be meant too, the address would be taken for one
        raise UserError(
            "an address with a user, password, query or #",
            expected="an address alone, with credentials in the environment, not in what reports "
            "and logs show",
        )
    return address


Address = Annotated[str, AfterValidator(require_no_secret)]
