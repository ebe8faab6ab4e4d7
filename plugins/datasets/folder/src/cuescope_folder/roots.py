"""Addresses that arrive in data: which of them may be asked, and which hosts lie inside.

Data may name what lies below an address that a person typed, and nothing more.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import unquote, urlsplit

from cuescope_sdk import UserError

# that data may name below a root of the same scheme
SCHEMES = ("https", "s3", "gs", "hf")
PORTS = {"https": 443, "http": 80}  # http: only below a root of that scheme
ANY_PUBLIC_HOST = "https://"

_HOST = re.compile(
    r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*"
)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ODD_LETTER = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_IPV6_HOST = re.compile(r"(?<=://)\[[0-9a-fA-F:.]+\]")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_DECODINGS = 3  # a server or a library may decode what was encoded twice
_SHOWN = 80  # characters of an address in an error

# ----------------------------------------------------------------------------------------- hosts

# What Python's ipaddress calls global, though no stranger's host is there.
_INNER = (
    # protocol assignments; a cloud's metadata at 192.0.0.192
    IPv4Network("192.0.0.0/24"),
    # a cloud's metadata, on an address that looks public
    IPv4Network("168.63.129.16/32"),
    # translated to IPv4 addresses that are not named in it
    IPv6Network("64:ff9b:1::/48"),
    # 6to4 and Teredo: an IPv4 address of anybody's choice is within
    IPv6Network("2002::/16"),
    IPv6Network("2001::/32"),
    IPv6Network("fec0::/10"),  # site-local, deprecated
)
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address
_INNER_NAMES = (
    "localhost",
    "local",
    "internal",
    "lan",
    "intranet",
    "corp",
    "home",
    "arpa",
)


def is_inner(ip: str | IPv4Address | IPv6Address) -> bool:
    """Whether an IP address is one of this machine, its network, or nobody's host.

    Loopback, private, link-local, shared (CGNAT), multicast, reserved and unspecified addresses
    are, those of clouds' metadata too, and IPv6 addresses that stand for any of these.
    Raises ValueError for a text that is no IP address.
    """
    address = ip_address(ip) if isinstance(ip, str) else ip
    if isinstance(address, IPv6Address):
        embedded = _inner_address(address)
        if embedded is not None:
            return is_inner(embedded)
    # an address is in no network of the other version
    listed = any(address in network for network in _INNER)
    return listed or address.is_multicast or not address.is_global


def _inner_address(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    # the first 96 bits are zero: "IPv4-compatible", deprecated and still understood by some
    if address in _TRANSLATED or 1 < int(address) < 2**32:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def is_inner_host(host: str) -> bool:
    """Whether a host is inner by its name alone, before it is looked up.

    So are inner IP addresses, numbers that are not written as usual (0x7f.1, 2130706433), names
    without a dot, and names such as localhost, *.local and *.internal.
    """
    name = host.strip("[]").lower()
    try:
        return is_inner(name)
    except ValueError:
        labels = name.rstrip(".").split(".")
    # A resolver takes a name that ends in a number for an IP address in an odd spelling.
    is_number = _NUMBER.fullmatch(labels[-1]) is not None
    return len(labels) == 1 or is_number or labels[-1] in _INNER_NAMES


# ------------------------------------------------------------------------------------- addresses


@dataclass(frozen=True, slots=True)
class Address:
    """An address in its parts.

    `place` is "host:port" of the web, the bucket of s3 and gs, or the repository of hf ("*" in a
    root: any public host); `path` has no slash before it, and no query.
    """

    scheme: str
    place: str
    path: str = ""

    @property
    def host(self) -> str:
        """Of the web: the host without its port."""
        return self.place.rpartition(":")[0]


def looks_like_address(text: str) -> bool:
    """Whether a text is more than a path: it names a scheme, or chains addresses."""
    return "://" in text or "::" in text


def parse_address(text: str) -> Address:
    """The parts of an address that data names; raises ValueError that says what is wrong with it.

    Only the schemes that data may name are understood, spelled in one way alone, so that no
    library takes it for something else than it was taken for here.
    """
    _require_plain(text)
    # not as urlsplit has it: keys of buckets may hold "?" and "#", which are nothing special there
    scheme, mark, below = text.partition("://")
    if not mark or scheme not in (*SCHEMES, *PORTS):
        raise ValueError(f"its protocol is none of {', '.join(SCHEMES)}")
    parts = urlsplit(text)
    # the hub writes a revision so: NAME@REVISION
    if "@" in parts.netloc and scheme != "hf":
        raise ValueError("it has a name or password in it")
    if scheme in PORTS:
        return Address(scheme, _authority(text), parts.path.removeprefix("/"))
    if scheme == "hf":
        return _repository(below)
    bucket, _, path = below.partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise ValueError("its bucket is spelled in an odd way")
    return Address(scheme, bucket, path)


def is_plain_name(name: str) -> bool:
    """Whether a relative name means something below its folder and is spelled plainly."""
    if looks_like_address(name) or name.startswith("/") or not name:
        return False
    try:
        _require_plain(name)
    except ValueError:
        return False
    return True


def _require_plain(text: str) -> None:
    """Raise ValueError for a chain of addresses, a way up, and letters that hide either."""
    decoded = text
    # + 1: the text is looked at as it stands, too
    for _ in range(_DECODINGS + 1):
        if _ODD_LETTER.search(decoded):
            raise ValueError("it has a backslash or control character in it")
        if "::" in _IPV6_HOST.sub("", decoded):
            raise ValueError("it chains several addresses")
        if ".." in re.split(r"[/?#]", decoded):
            raise ValueError("it leads upwards with '..'")
        decoded = unquote(decoded, errors="replace")


def _authority(text: str) -> str:
    """ "host:port" of a web address, in lower case."""
    parts = urlsplit(text)
    host = (parts.hostname or "").lower()
    try:
        port = parts.port or PORTS[parts.scheme]
    except ValueError:
        raise ValueError("its port is no number of a port") from None
    if ":" in host:
        try:
            # in one spelling: `[::1]` may be written with its zeros
            return f"[{ip_address(host)}]:{port}"
        except ValueError:
            raise ValueError("its host is no IPv6 address") from None
    if not _HOST.fullmatch(host):
        raise ValueError("its host is spelled in an odd way")
    return f"{host}:{port}"


def _repository(below: str) -> Address:
    """A repository of the hub: its kind, owner and name, without the revision."""
    steps = below.split("/")
    # the id of a model has no kind before it
    count = 3 if steps[0] in ("datasets", "spaces", "buckets") else 2
    place = steps[:count]
    path = "/".join(steps[count:])
    name, _, _ = place[-1].partition("@")
    repository = [*place[:-1], name]
    if len(repository) < count or not all(
        _BUCKET.fullmatch(step) for step in repository
    ):
        raise ValueError("it names no repository")
    return Address("hf", "/".join(repository), path)


# ----------------------------------------------------------------------------------------- roots


@dataclass(frozen=True)
class Roots:
    """The addresses that a person typed: data may name what lies below them, and nothing else."""

    roots: frozenset[Address] = frozenset()

    @classmethod
    def of(cls, *typed: str) -> "Roots":
        """The whole host, bucket or repository of addresses that were typed as the place of data.

        An address of another protocol is no root: nothing that data names can be below it.
        """
        places = set()
        for text in typed:
            try:
                address = parse_address(_in_lower_scheme(text))
            except ValueError:
                continue
            places.add(Address(address.scheme, address.place))
        return cls(frozenset(places))

    def with_typed(self, typed: Iterable[str]) -> "Roots":
        """These and the roots that were typed as such; raises UserError for one that is none."""
        return Roots(self.roots | {parse_root(text) for text in typed})

    @property
    def web(self) -> frozenset[tuple[str, str]]:
        """Scheme and "host:port" of the web that were typed, inner ones among them."""
        return frozenset((r.scheme, r.place) for r in self.roots if r.scheme in PORTS)

    def problem(self, text: str) -> str | None:
        """Why data may not name an address; None where it may."""
        try:
            address = parse_address(text)
        except ValueError as error:
            return str(error)
        if any(_is_below(address, root) for root in self.roots):
            return None
        anywhere = Address("https", "*") in self.roots
        if anywhere and address.scheme == "https" and not is_inner_host(address.host):
            return None
        # of two reasons the one that a person should know
        if address.scheme in PORTS and is_inner_host(address.host):
            return "its host is of this machine or network"
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
        if roots := sorted(map(_words, self.roots)):
            expected += f" or an address below {', '.join(roots[:3])}"
        # without the query, which may hold a key
        shown = text.partition("?")[0][:_SHOWN]
        raise UserError(
            f"{where} may not be read: {problem}",
            expected=expected,
            got=f"'{shown}'",
            remedy=_remedy(text),
        )


def parse_root(text: str) -> Address:
    """A root that was typed: https://host, http://host:8000/photos, s3://bucket/photos, https://.

    The last one stands for any public host. Raises UserError for anything else.
    """
    if text == ANY_PUBLIC_HOST:
        return Address("https", "*")
    try:
        root = parse_address(_in_lower_scheme(text))
    except ValueError as error:
        raise UserError(
            f"roots: '{text[:_SHOWN]}': {error}",
            expected="https://HOST, s3://BUCKET, gs://BUCKET, hf://datasets/OWNER/NAME, or "
            "https:// for any public host",
        ) from None
    # with a slash at its end it is the same folder
    return Address(root.scheme, root.place, root.path.rstrip("/"))


def _is_below(address: Address, root: Address) -> bool:
    if (address.scheme, address.place) != (root.scheme, root.place):
        return False
    return (
        not root.path
        or address.path == root.path
        # with the slash: `/photos` must not let `/photos-private` in
        or address.path.startswith(f"{root.path}/")
    )


def _in_lower_scheme(text: str) -> str:
    """A person may type "HTTPS://"."""
    scheme, mark, rest = text.partition("://")
    return f"{scheme.lower()}{mark}{rest}"


def _words(root: Address) -> str:
    if root.place == "*":
        return "any public https:// host"
    default = f":{PORTS.get(root.scheme)}"
    return f"{root.scheme}://{root.place.removesuffix(default)}/{root.path}".rstrip("/")


def _remedy(text: str) -> str:
    """The option that would allow it, where one may."""
    try:
        address = parse_address(text)
    except ValueError:
        return "Copy the file into the data's folder, and name it there"
    root = _words(Address(address.scheme, address.place))
    return f"If you trust it, add -O data.roots={root}"
