"""Patterns for texts of strangers: none takes the square of a text's length, whatever it holds.

The patterns are found by looking: of each module of each package those at its top, and the ways in
which its source uses them. A text is a part of the pattern, repeated twenty thousand times: with a
square of that a search takes many seconds, and without it less than a hundredth.
"""

import importlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = (*ROOT.glob("core/*/src"), ROOT / "sdk/src", *ROOT.glob("plugins/*/*/src"))
LETTERS = 20_000
SECONDS = 1.0  # of this process; a loaded machine counts nothing of others
SIGNS = (" ", "\n", "a", "A", "0", ".", "_", " \n", "\u201c")
MOST_PARTS = 6  # of a pattern that texts are made of
WAYS = ("finditer", "findall", "search", "split", "sub", "match", "fullmatch")
# why a text that is given to it is short
SHORT = {
    "cuescope_sdk.language._proposing": "a reply is cut, and its runs of blanks are one blank each",
    "cuescope_transformers.generative.stock_attention": "source of an installed package",
    "cuescope_spurious_imagenet": "the name of a folder",
    "cuescope_covar_build.composite.photos": "the name of a file",
}


def modules() -> Iterator[Any]:
    """Each module that has a pattern, by name, with its source."""
    for source in SOURCES:
        for file in sorted(source.rglob("*.py")):
            text = file.read_text()
            parts = file.relative_to(source).with_suffix("").parts
            module = ".".join(parts).removesuffix(".__init__")
            if "re.compile(" in text and "testing" not in parts and module not in SHORT:
                yield pytest.param(module, text, id=module)


def patterns(module: str, text: str) -> Iterator[tuple[re.Pattern[Any], set[str]]]:
    """Each pattern at its top with the ways in which it is used."""
    for name, value in vars(importlib.import_module(module)).items():
        used = {way for way in WAYS if re.search(rf"\b{name}\.{way}\(", text)}
        # a list of patterns is gone through
        for pattern in value if isinstance(value, tuple) else (value,):
            if isinstance(pattern, re.Pattern):
                yield pattern, used & {"match", "fullmatch"} or {"finditer"}


def parts_of(pattern: str) -> list[str]:
    """The texts that stand in a pattern, the longest first."""
    found: set[str] = set()

    def walk(items: Any) -> None:
        run = ""
        for kind, value in [*items, (None, None)]:
            if kind is parser.LITERAL:
                run += chr(value)
                continue
            found.update(filter(None, [run]))
            run = ""
            if kind is parser.IN:
                found.update(chr(sign) for way, sign in value if way is parser.LITERAL)
            for below in value if isinstance(value, list | tuple) else ():
                if isinstance(below, parser.SubPattern):
                    walk(below)
                elif isinstance(below, list):
                    for one in below:
                        if isinstance(one, parser.SubPattern):
                            walk(one)

    walk(parser.parse(pattern))
    return sorted(found, key=lambda part: (-len(part), part))


def texts(pattern: str) -> Iterator[str]:
    """A part or a sign, repeated, behind each other part."""
    all_parts = parts_of(pattern)
    parts = all_parts[:MOST_PARTS]
    signs = [part for part in all_parts if len(part) == 1][:MOST_PARTS]
    units = dict.fromkeys([*SIGNS, *signs, *parts, *(f"{part} " for part in parts)])
    for start in ("", *parts):
        for unit in units:
            yield start + unit * (LETTERS // len(unit)) + "\0"


@pytest.mark.parametrize(("module", "source"), [*modules()])
def test_no_pattern_takes_the_square_of_a_text(module: str, source: str) -> None:
    for pattern, ways in patterns(module, source):
        is_bytes = isinstance(pattern.pattern, bytes)
        plain = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
        for text in texts(plain):
            given = text.encode("latin-1", "replace") if is_bytes else text
            for way in ways:
                began = time.process_time()
                found = getattr(pattern, way)(given)
                if way == "finditer":
                    list(found)
                taken = time.process_time() - began
                assert taken < SECONDS, (plain[:60], way, text[:40])
