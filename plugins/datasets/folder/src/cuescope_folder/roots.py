"""Addresses that arrive in data: only what lies below one that a person typed may be asked."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from cuescope_sdk import UserError

WEB = {"https": "443", "http": "80"}  # with the usual ports
PROTOCOLS = (*WEB, "s3", "gs", "hf")
_ODD_LETTER = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_IPV6_HOST = re.compile(r"(?<=://)\[[0-9a-fA-F:.]+\]")


def looks_like_address(text: str) -> bool:
    """True if a text is more than a path: it names a scheme, or chains addresses."""
    return "://" in text or "::" in text


def is_plain_name(name: str) -> bool:
    """True if a relative name means something below its folder and is spelled plainly."""
    if looks_like_address(name) or name.startswith("/") or not name:
        return False
    try:
        _require_plain(name)
    except ValueError:
        return False
    return True


def plain_address(text: str) -> str:
    """The address in one spelling, without its query; raises ValueError that says what is wrong."""
    _require_plain(text)
    scheme, mark, below = text.partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in PROTOCOLS:
        raise ValueError(f"its protocol is none of {', '.join(PROTOCOLS)}")
    if scheme == "hf":
        # a revision stands behind the name of its repository
        return f"hf://{re.sub(r'@[^/]*', '', below)}"
    place, _, path = below.partition("/")
    if "@" in place:
        raise ValueError("it has a name or password in it")
    if scheme in WEB:
        place = place.lower().removesuffix(f":{WEB[scheme]}")
        path = path.partition("?")[0]
    return f"{scheme}://{place}/{path}"


def _require_plain(text: str) -> None:
    """Raise ValueError for a chain of addresses, a way up, and letters that hide either."""
    while True:
        if _ODD_LETTER.search(text):
            raise ValueError("it has a backslash or control character in it")
        if "::" in _IPV6_HOST.sub("", text):
            raise ValueError("it chains several addresses")
        if ".." in re.split(r"[/?#]", text):
            raise ValueError("it leads upwards with '..'")
        # a server or a library may decode what was encoded twice
        decoded = unquote(text, errors="replace")
        if decoded == text:
            return
        text = decoded


@dataclass(frozen=True)
class Roots:
    """The addresses that a person typed: data may name what lies below them, and nothing else."""

    roots: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *typed: str) -> "Roots":
        """The whole host, bucket or repository of addresses that were typed as the place of data.

        An address of another protocol is no root: nothing that data names can be below it.
        """
        places = set()
        for text in typed:
            try:
                address = plain_address(text)
            except ValueError:
                continue
            steps = 3 if address.startswith("hf:") else 1
            scheme, _, below = address.partition("://")
            places.add(f"{scheme}://{'/'.join(below.split('/')[:steps])}")
        return cls(frozenset(places))

    def with_typed(self, typed: Iterable[str]) -> "Roots":
        """These and the roots that were typed as such; raises UserError for one that is none."""
        return Roots(self.roots | {parse_root(text) for text in typed})

    def allows_host(self, address: str) -> bool:
        """True if something of the host of a web address was typed."""
        return not Roots.of(address).roots.isdisjoint(Roots.of(*self.roots).roots)

    def problem(self, text: str) -> str | None:
        """Why data may not name an address; None where it may."""
        try:
            address = plain_address(text)
        except ValueError as error:
            return str(error)
        # with the slash: `/photos` must not let `/photos-private` in
        if any(f"{address}/".startswith(f"{root}/") for root in self.roots):
            return None
        return "it is below no address that was typed"

    def require(
        self,
        text: str,
        where: str,
        *,
        expected: str = "a path inside the data",
    ) -> None:
        """Raise UserError, beginning with `where`, for an address that data may not name."""
        problem = self.problem(text)
        if problem is None:
            return
        if self.roots:
            expected += f" or an address below {', '.join(sorted(self.roots)[:3])}"
        remedy = "Copy the file into the data's folder, and name it there"
        for root in Roots.of(text).roots:
            remedy = f"If you trust it, add -O data.roots={root}"
        raise UserError(
            f"{where} may not be read: {problem}",
            expected=expected,
            # without the query, which may hold a key
            got=f"'{text.partition('?')[0]:.80}'",
            remedy=remedy,
        )


def parse_root(text: str) -> str:
    """A root that was typed: https://host, http://host:8000/photos, s3://bucket/photos.

    Raises UserError for anything else.
    """
    try:
        root = plain_address(text).rstrip("/")
        if not root.partition("://")[2]:
            raise ValueError("it names no host")
    except ValueError as error:
        raise UserError(
            f"roots: '{text:.80}': {error}",
            expected="https://HOST, s3://BUCKET, gs://BUCKET or hf://datasets/OWNER/NAME",
        ) from None
    return root
