"""What data may name: addresses below a typed root, public hosts."""

import socket
from ipaddress import ip_address

import pytest
from hypothesis import given, strategies as st

from cuescope_folder.roots import (
    Address,
    Roots,
    is_inner,
    is_inner_host,
    is_plain_name,
    parse_root,
)
from cuescope_sdk import UserError

INNER = [
    "127.0.0.1",
    "127.8.9.10",
    str(ip_address(0x0A000001)),  # 10/8; no private address stands in a file of ours
    "172.16.0.1",
    "172.31.255.255",
    str(ip_address(0xC0A80101)),
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "0.0.0.0",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.0.192",
    "198.18.0.1",
    "168.63.129.16",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "fec0::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2001::1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "::127.0.0.1",
]
OUTER = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "64:ff9b::808:808",
]


@pytest.mark.parametrize("ip", INNER)
def test_inner_addresses(ip):
    assert is_inner(ip)
    assert is_inner(ip_address(ip))
    if "." in ip and ":" not in ip:
        assert is_inner(f"::ffff:{ip}")


@pytest.mark.parametrize("ip", OUTER)
def test_public_addresses(ip):
    assert not is_inner(ip)


@given(st.ip_addresses(v=4))
def test_an_address_is_inner_in_every_spelling(ip):
    mapped, translated = ip_address(f"::ffff:{ip}"), ip_address(f"64:ff9b::{ip}")
    assert is_inner(mapped) == is_inner(translated) == is_inner(ip)
    if ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast:
        assert is_inner(ip)


def _spellings(ip: str) -> list[str]:
    """What a resolver takes for this IPv4 address, in every usual trick."""
    number = int.from_bytes(socket.inet_aton(ip), "big")
    a, *rest = ip.split(".")
    low = number & 0xFFFFFF
    return [
        *(str(number), hex(number), oct(number).replace("0o", "0")),
        *(f"{a}.{low}", f"{hex(int(a))}.{hex(low)}", f"0{int(a):o}.{'.'.join(rest)}"),
        *(f"{hex(int(a))}.{'.'.join(rest)}", f"{ip}."),
    ]


@pytest.mark.parametrize(
    "host", _spellings("127.0.0.1") + _spellings("169.254.169.254")
)
def test_odd_numbers_are_no_public_host(host):
    assert is_inner_host(host)
    assert (
        Roots(frozenset({parse_root("https://")})).problem(f"https://{host}/x")
        is not None
    )


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "a.localhost",
        "printer",
        "nas.local",
        "metadata.google.internal",
    ],
)
def test_names_of_inner_hosts(host):
    assert is_inner_host(host)
    assert not is_inner_host("images.example.org")


ODD = [
    r"https:\\h.org/x",
    r"https://h.org\@e.org/x",
    r"https://u@h.org/x",
    r"https://u:p@h.org/x",
    r"https://h.org/x::http://e.org/y",
    r"https://h.org/x%3a%3azip://y",
    r"https://h.org/x%253A%253Ay",
    r"https://h.org/../x",
    r"https://h.org/a/%2e%2e/x",
    r"https://h.org/a%2f..%2fx",
    r"https://h.org:0x50/x",
    r"https://h.org:99999/x",
    r"HTTPS://h.org/x",
    r"Https://h.org/x",
    r"https://h%2eorg/x",
    r"https:///x",
    r"https://-h.org/x",
    r"https://h..org/x",
    r"https://h.org%00/x",
    r"https://h.org/%0d%0aX",
    r"https://h.org/%5cx",
    r"https://[::1%25lo]/x",
    r"https://[x]/x",
    r"s3://../x",
    r"s3://b@d/x",
    r"s3:///x",
    r"hf://x",
    r"hf://datasets/x",
    r"hf://datasets/a/b/../../c/d/x",
    r"//h.org/x",
    r"https:h.org/x",
]


@pytest.mark.parametrize(
    "text", [*ODD, "https://h.org/\nx", "https://h.org/\x00", "https://\uff48.org/"]
)
def test_odd_spellings_are_refused_whatever_was_typed(text):
    roots = Roots.of("https://h.org/t.csv", "s3://b/t.csv", "hf://datasets/a/b/t.csv")
    assert roots.with_typed(["https://"]).problem(text) is not None


def test_only_the_named_protocols():
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install fsspec")
    from fsspec.registry import known_implementations

    roots = Roots.of(
        "https://h.org/t.csv", "s3://h.org/t.csv", "gs://h.org/t", "hf://datasets/a/b"
    )
    schemes = sorted(
        {*known_implementations, *fsspec.available_protocols(), "ssh", "file", "gopher"}
    )
    allowed = [
        s for s in schemes if roots.problem(f"{s}://h.org/datasets/x.png") is None
    ]
    assert allowed == ["gs", "https", "s3"]
    for scheme in schemes:
        assert roots.problem(f"{scheme}://x.png::https://h.org/x.png") is not None
        assert roots.problem(f"https://h.org/x.png::{scheme}://h.org/x") is not None


def test_nothing_is_allowed_where_nothing_was_typed():
    for text in (
        "https://h.org/x",
        "http://h.org/x",
        "s3://b/x",
        "gs://b/x",
        "hf://datasets/a/b/x",
    ):
        assert Roots().problem(text) == "it is below no address that was typed"


@pytest.mark.parametrize(
    ("root", "below", "beside"),
    [
        ("https://h.org", "https://h.org/a/b?key=1", "https://e.org/a"),
        (
            "https://h.org/photos/",
            "https://h.org/photos/1.png",
            "https://h.org/photos2/1.png",
        ),
        ("https://h.org", "https://h.org:443/a", "https://h.org:8443/a"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/a", "http://127.0.0.1:8001/a"),
        (
            "http://127.0.0.1:8000",
            "http://127.0.0.1:8000/a",
            "https://127.0.0.1:8000/a",
        ),
        ("http://[::1]:8000", "http://[::1]:8000/a", "http://[::2]:8000/a"),
        ("https://h.org", "https://H.ORG/a", "http://h.org/a"),
        ("s3://b/photos", "s3://b/photos/my photo.png", "s3://b/other/1.png"),
        ("gs://b", "gs://b/x", "s3://b/x"),
        ("hf://datasets/a/b", "hf://datasets/a/b@main/x", "hf://datasets/a/c/x"),
        ("hf://datasets/a/b", "hf://datasets/a/b/x", "hf://a/b/x"),
        (
            "https://",
            "https://any.example.org/x",
            f"https://{ip_address(0x0A000001)}/x",
        ),
        ("https://", "https://any.example.org:8443/x", "http://any.example.org/x"),
    ],
)
def test_below_and_beside_a_root(root, below, beside):
    roots = Roots().with_typed([root])
    assert roots.problem(below) is None
    assert roots.problem(beside) is not None


def test_the_place_of_the_data_is_a_root():
    roots = Roots.of(
        "HTTP://localhost:8000/a/t.csv", "file:///etc", "memory://x", "zip://a::s3://b"
    )
    assert roots.roots == {Address("http", "localhost:8000")}
    assert roots.web == {("http", "localhost:8000")}
    assert roots.problem("http://localhost:8000/b/1.png") is None


@pytest.mark.parametrize(
    "text", ["file:///etc", "memory://x", "ftp://h/x", "https://u@h.org", "x"]
)
def test_what_is_no_root_is_one_line(text):
    with pytest.raises(UserError, match=r"roots: '.*expected https://HOST") as caught:
        parse_root(text)
    assert "\n" not in str(caught.value)


def test_a_refusal_names_the_place_and_the_remedy():
    with pytest.raises(UserError) as caught:
        Roots().require(
            "https://h.org/a/1.png?key=secret", "folder: t.csv line 3: 'path'"
        )
    said = str(caught.value)
    assert said.startswith(
        "folder: t.csv line 3: 'path' may not be read: it is below no address"
    )
    assert said.endswith("If you trust it, add -O data.roots=https://h.org")
    assert "secret" not in said


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text):
    for candidate in (text, f"https://{text}", f"https://h.org/{text}", f"s3://{text}"):
        problem = Roots().problem(candidate)
        assert problem is not None
        assert "\n" not in problem


def test_plain_names():
    for name in ("1.png", "a/b c.png", "a/%20.png", "file:x"):
        assert is_plain_name(name)
    for name in (
        "",
        "/x",
        "../x",
        "a/../x",
        "a\\b",
        "x::y",
        "s3://b/x",
        "%2e%2e/x",
        "a\x00",
        "a%0a",
    ):
        assert not is_plain_name(name)
