"""The doors of the sdk: each says what it exports, and the pages name what is there."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sdk" / "src" / "cuescope_sdk"
ROOMS = [file.parent.name for file in PACKAGE.glob("[a-z]*/__init__.py")]
ROOMS += [file.stem for file in PACKAGE.glob("[a-z]*.py")]
DOORS = ["cuescope_sdk", *(f"cuescope_sdk.{room}" for room in sorted(ROOMS))]


def exported(door: str) -> list[str]:
    return list(import_module(door).__all__)


@pytest.mark.parametrize("door", DOORS)
def test_a_door_says_in_order_what_it_exports(door: str) -> None:
    names = exported(door)
    assert names == sorted(set(names))
    assert all(hasattr(import_module(door), name) for name in names)


def test_a_name_that_nobody_uses_leaves_its_door() -> None:
    words = set[str]()
    for pattern in (
        "plugins/*/*/**/*.py",
        "tests/**/*.py",
        "docs/**/*.md",
        "plugins/**/*.template",
    ):
        for file in ROOT.glob(pattern):
            words.update(re.findall(r"\w+", file.read_text("utf-8")))
    assert {
        door: unused for door in DOORS if (unused := set(exported(door)) - words)
    } == {}


def test_the_forty_names_can_be_imported() -> None:
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    section = page.split("## The forty names")[1].split("\n## ")[0]
    names = []
    for door, cell in re.findall(
        r"^\| `([\w.]+)`.*?\| (`.*) \|$", section, re.MULTILINE
    ):
        module = import_module(door)
        for name in re.findall(r"`(\w+)`", cell):
            assert hasattr(module, name), name
            names.append(name)
    assert len(names) == len(set(names)) == 40


def test_each_function_of_statistics_has_its_source() -> None:
    room = import_module("cuescope_sdk.statistics")
    functions = {name: getattr(room, name) for name in exported(room.__name__)}
    bare = [
        name
        for name, function in functions.items()
        if inspect.isfunction(function)
        and not re.search(r"\b(1[89]|20)\d\d\b", inspect.getsource(function))
    ]
    assert bare == []
