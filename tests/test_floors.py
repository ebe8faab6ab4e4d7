"""The lowest versions that our packages declare: every one is there, and none has a known hole."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
SCAFFOLD = (
    ROOT
    / "plugins"
    / "commands"
    / "standard"
    / "src"
    / "cuescope_commands"
    / "scaffold"
)
KINDS = SCAFFOLD / "kinds.toml"


def script() -> Any:
    """`.ci/floors.py`, which is in no package."""
    spec = importlib.util.spec_from_file_location("floors", ROOT / ".ci" / "floors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["floors"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


FLOORS = script()
BOUNDS = [
    bound for project in FLOORS.read_projects() for bound in FLOORS.bounds_of(project)
]


def test_no_package_allows_a_library_with_a_known_hole() -> None:
    assert len({bound.package for bound in BOUNDS}) > 40, "the packages are not found"
    assert list(FLOORS.problems(BOUNDS, FLOORS.read_floors())) == []


def test_nor_do_packages_that_are_generated() -> None:
    """What `cuescope dev new` writes into their pyproject.toml."""
    kinds = tomllib.loads(KINDS.read_text())["kinds"].values()
    texts = {text for kind in kinds for text in kind["dependencies"]}
    bounds = list(FLOORS.bounds_of({"name": "new", "dependencies": sorted(texts)}))
    floors = FLOORS.read_floors()
    used = {
        bound.library: floors[bound.library]
        for bound in bounds
        if bound.library in floors
    }
    assert list(FLOORS.problems(bounds, used)) == []


def test_a_floor_says_why() -> None:
    for name, floor in FLOORS.read_floors().items():
        assert re.match(r"(before |to )?\d", floor.why), name
        assert len(floor.why.split()) > 5, name


def test_what_runs_here_has_no_known_hole() -> None:
    """The pins of the workspace are those that all other tests run with."""
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    pins = dict(pin.split("==") for pin in workspace["constraint-dependencies"])
    for name, floor in FLOORS.read_floors().items():
        assert Version(pins.get(name, str(floor.version))) >= floor.version, name


@pytest.mark.parametrize(
    ("dependency", "words"),
    [
        ("pillow", "new: pillow has no lowest version"),
        ("pillow<14", "new: pillow has no lowest version"),
        ("pillow!=13.0", "new: pillow has no lowest version"),
        ("Pillow>=12.9.9", "new: pillow>=12.9.9 is below 13.0: holes"),
        (
            "pillow[xmp]>=9; python_version < '3.12'",
            "new: pillow>=9 is below 13.0: holes",
        ),
        ("pillow>=13,<14", None),
        ("pillow~=13.1", None),
        ("pillow==13.0.0", None),
    ],
)
@pytest.mark.parametrize("extra", [False, True])
def test_a_bound_that_is_too_low_is_told(
    dependency: str, words: str | None, extra: bool
) -> None:
    """The check itself, also in extras."""
    project = {"name": "new", "dependencies": ["cuescope-sdk", "cuescope"]}
    if extra:
        project["optional-dependencies"] = {"images": [dependency]}  # type: ignore[assignment]
    else:
        project["dependencies"] = [dependency]
    bounds = list(FLOORS.bounds_of(project))
    floors = {"pillow": FLOORS.Floor(Version("13.0"), "holes")}
    assert list(FLOORS.problems(bounds, floors)) == ([words] if words else [])


def test_pins_of_what_packages_declare_are_taken_out() -> None:
    """Then `uv sync --resolution lowest-direct` installs the lowest; other pins stay."""
    workspace = (ROOT / "pyproject.toml").read_text()
    libraries = {bound.library for bound in BOUNDS}
    loose = tomllib.loads(FLOORS.without_pins(workspace, libraries))
    before = tomllib.loads(workspace)
    pins = loose["tool"]["uv"].pop("constraint-dependencies")
    all_pins = before["tool"]["uv"].pop("constraint-dependencies")
    assert loose == before, "something else than pins was taken out"
    names = {Requirement(pin).name for pin in pins}
    assert names.isdisjoint(libraries)
    assert names >= {"jsonschema", "hypothesis", "ruff"}
    assert {Requirement(pin).name for pin in all_pins} - names <= libraries
