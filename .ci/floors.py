"""The lowest versions that our packages say they work with, and the lowest that have no known hole.

    uv run --no-project --with packaging .ci/floors.py

prints both for every library, and exits with 1 where a package allows a version with a hole, or any
version at all. The bounds are those of every pyproject.toml, the holes those of floors.toml.

    uv run --no-project --with packaging .ci/floors.py --unpin
    uv sync --all-packages --all-extras --resolution lowest-direct

installs the lowest versions: `--unpin` takes the pins of these libraries out of the workspace's
pyproject.toml. Those of tools that only tests need stay: nobody declares how old they may be.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
FLOORS = Path(__file__).with_name("floors.toml")
OURS = "cuescope"  # how the names of our own packages begin
LOWEST = {">=", "==", "~="}  # what sets a lowest version


@dataclass(frozen=True)
class Bound:
    """What a package of ours declares of a library; `lowest` is None where any version will do."""

    package: str
    library: str
    lowest: Version | None


@dataclass(frozen=True)
class Floor:
    """The first version of a library without its known holes, and `why` in words."""

    version: Version
    why: str


def read_projects() -> list[dict[str, Any]]:
    """The table `project` of each package of ours."""
    folders = [
        ROOT / "core",
        ROOT / "sdk",
        ROOT / "sdk-testing",
        *sorted(ROOT.glob("plugins/*/*")),
    ]
    files = [folder / "pyproject.toml" for folder in folders]
    return [
        tomllib.loads(file.read_text("utf-8"))["project"]
        for file in files
        if file.exists()
    ]


def read_floors(file: Path = FLOORS) -> dict[str, Floor]:
    """The floors by the names of libraries."""
    table = tomllib.loads(file.read_text("utf-8"))
    return {
        name: Floor(Version(row["version"]), row["why"]) for name, row in table.items()
    }


def bounds_of(project: Mapping[str, Any]) -> Iterator[Bound]:
    """What a package declares of libraries that are not ours, its extras among them."""
    extras = project.get("optional-dependencies", {}).values()
    texts = [
        *project.get("dependencies", []),
        *(text for extra in extras for text in extra),
    ]
    for requirement in map(Requirement, texts):
        library = canonicalize_name(requirement.name)
        if library == OURS or library.startswith(f"{OURS}-"):
            continue
        lows = [
            Version(s.version) for s in requirement.specifier if s.operator in LOWEST
        ]
        yield Bound(project["name"], library, max(lows, default=None))


def problems(bounds: list[Bound], floors: Mapping[str, Floor]) -> Iterator[str]:
    """A line for each bound that is missing or too low, and for each floor that nobody needs."""
    for bound in bounds:
        floor = floors.get(bound.library)
        if bound.lowest is None:
            yield f"{bound.package}: {bound.library} has no lowest version"
        elif floor is not None and bound.lowest < floor.version:
            yield (
                f"{bound.package}: {bound.library}>={bound.lowest} is below {floor.version}: "
                f"{floor.why}"
            )
    libraries = {bound.library for bound in bounds}
    for name in floors:
        if name not in libraries:
            yield f"floors.toml: no package declares {name}"


def table(bounds: list[Bound], floors: Mapping[str, Floor]) -> Iterator[str]:
    """A line for each library: its declared lowest versions, and its floor."""
    declared: dict[str, set[str]] = {}
    for bound in bounds:
        declared.setdefault(bound.library, set()).add(str(bound.lowest or "any"))
    for library in sorted(declared):
        versions = ", ".join(sorted(declared[library]))
        floor = floors.get(library)
        words = f"{floor.version}: {floor.why}" if floor else "no advisory known"
        yield f"{library} >= {versions}; floor {words}"


def without_pins(workspace: str, libraries: Set[str]) -> str:
    """The text of the workspace's pyproject.toml without the pins of these libraries."""
    lines = workspace.splitlines(keepends=True)
    return "".join(line for line in lines if pinned(line) not in libraries)


def pinned(line: str) -> str | None:
    """The library that a line such as `    "numpy==2.4.6",` pins; None for any other line."""
    pin = re.fullmatch(r'\s*"([\w.-]+)==[^"]+",\s*', line)
    return canonicalize_name(pin[1]) if pin else None


def main() -> int:
    """Print the table and the problems; 1 where there is any."""
    bounds = [bound for project in read_projects() for bound in bounds_of(project)]
    if sys.argv[1:] == ["--unpin"]:
        workspace = ROOT / "pyproject.toml"
        libraries = {bound.library for bound in bounds}
        workspace.write_text(
            without_pins(workspace.read_text("utf-8"), libraries), "utf-8"
        )
        return 0
    floors = read_floors()
    for line in table(bounds, floors):
        print(line)
    faults = list(problems(bounds, floors))
    for fault in faults:
        print(f"PROBLEM {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
