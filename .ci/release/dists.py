"""The packages of the workspace, as their pyproject.toml describe them."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release import ReleaseError

OURS = "cuescope"  # how the names of our own packages begin
A_DAY = 4  # new projects that the index lets one account make
BUNDLES = ("cuescope-start", "cuescope-all")
# Folders of plugins whose names are published first, and last; all others come between.
FIRST = ("methods", "models", "tools", "commands")
LAST = ("datasets",)


@dataclass(frozen=True)
class Dist:
    """A package of ours; `folder` holds its pyproject.toml."""

    folder: Path

    @cached_property
    def project(self) -> dict[str, Any]:
        """The table `project`."""
        file = self.folder / "pyproject.toml"
        try:
            table: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))["project"]
        except (ValueError, KeyError) as error:
            raise ReleaseError(f"{file} cannot be read: {error}") from error
        return table

    @property
    def name(self) -> str:
        """As pip takes it."""
        name: str = self.project["name"]
        return name

    @property
    def module(self) -> str:
        """As files of the package begin, and as Python imports it."""
        return self.name.replace("-", "_")

    @property
    def requirements(self) -> Iterator[Requirement]:
        """All that it declares, its extras among them."""
        extras = self.project.get("optional-dependencies", {}).values()
        for lines in (self.project.get("dependencies", []), *extras):
            yield from map(Requirement, lines)

    @property
    def needs(self) -> set[str]:
        """Names of our packages that come with it."""
        lines = map(Requirement, self.project.get("dependencies", []))
        return {line.name for line in lines if is_ours(line.name)}


def is_ours(name: str) -> bool:
    """Whether a name is that of a package of ours."""
    name = canonicalize_name(name)
    return name == OURS or name.startswith(f"{OURS}-")


def read_dists(root: Path) -> list[Dist]:
    """Every package of a checkout, engine, application and sdk first."""
    folders = [
        root / "core" / "engine",
        root / "core" / "app",
        root / "sdk",
        root / "sdk-testing",
        *sorted(root.glob("plugins/*/*")),
    ]
    return [Dist(f) for f in folders if (f / "pyproject.toml").exists()]


def closure(wanted: Iterable[str], dists: Iterable[Dist]) -> list[str]:
    """Names of packages with all of ours that they need, those first that others need."""
    by_name = {dist.name: dist for dist in dists}
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        for needed in sorted(by_name[name].needs - ordered.keys()):
            add(needed)
        ordered[name] = None

    for name in wanted:
        if name not in ordered:
            add(name)
    return list(ordered)


def publishing_order(dists: list[Dist]) -> list[list[str]]:
    """The names that are registered on each day."""
    first = [*closure(["cuescope-sdk"], dists), *BUNDLES]
    start = closure(["cuescope-start"], dists)
    bundles = {dist.folder.parent.name for dist in dists if dist.name in BUNDLES}
    by_kind = sorted(
        (dist for dist in dists if dist.folder.parent.name not in bundles),
        key=lambda dist: (_rank(dist.folder.parent.name), dist.name),
    )
    rest = closure([dist.name for dist in by_kind], dists)
    names = list(dict.fromkeys([*first, *start, *rest]))
    return [names[i : i + A_DAY] for i in range(0, len(names), A_DAY)]


def _rank(folder: str) -> int:
    """Before which folders of plugins a folder comes."""
    if folder in LAST:
        return len(FIRST) + 1
    return FIRST.index(folder) if folder in FIRST else len(FIRST)
