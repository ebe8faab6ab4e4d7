"""What data may name: addresses below a typed root."""

import pytest
from hypothesis import given, strategies as st

from cuescope_folder.roots import Roots, is_plain_name, parse_root
from cuescope_sdk import UserError

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
    assert roots.problem(text) is not None


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
    assert roots.roots == {"http://localhost:8000"}
    assert roots.allows_host("http://localhost:8000/b")
    assert not roots.allows_host("http://localhost:8001/b")
    assert not roots.allows_host("https://localhost:8000/b")
    assert roots.problem("http://localhost:8000/b/1.png") is None


@pytest.mark.parametrize(
    "text",
    ["file:///etc", "memory://x", "ftp://h/x", "https://u@h.org", "https://", "x"],
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
