"""What must hold of a checkout before anything of it is built. Each fault is one line."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

from release.changelog import Changelog
from release.dists import Dist, read_dists
from release.versions import CITATION, CORE_VERSION, common_metadata, with_range

RELATIVE_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)]+)\)")
OWN_DISTS = "core/app/src/cuescope/own_dists.json"
INDEX = "core/app/src/cuescope/plugins.csv"
COLUMNS = ["kind", "name", "dist", "finds"]
# as pip takes it, perhaps with extras: the command to install it is copied into a shell
DIST = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?", re.ASCII)


def faults(root: Path, version: str) -> Iterator[str]:
    """What stands in the way of a release of a checkout."""
    dists = read_dists(root)
    for dist in dists:
        for fault in faults_of(dist, root, version):
            yield f"{dist.folder.relative_to(root)}: {fault}"
    yield from faults_of_names(root, dists)
    yield from faults_of_index(root)
    yield from faults_of_texts(root, dists, version)


def faults_of(dist: Dist, root: Path, version: str) -> Iterator[str]:
    """What is wrong with the metadata of a package."""
    project = dist.project
    rewrite = f"`make version VERSION={version}` writes it"
    if project["version"] != version:
        yield f"version {project['version']}, expected {version}: {rewrite}"
    for key, value in common_metadata().items():
        if project.get(key) != value:
            yield f"{key} are not those of .ci/release/metadata.toml: {rewrite}"
    for line in [*project.get("dependencies", []), *_extras(dist)]:
        if with_range(line, version, dist.name) != line:
            yield f"needs {line}, expected {with_range(line, version, dist.name)}: {rewrite}"
    licence = dist.folder / "LICENSE"
    if not licence.is_file():
        yield "LICENSE is missing"
    elif licence.read_bytes() != (root / "LICENSE").read_bytes():
        yield "LICENSE is not that of the project"
    readme = dist.folder / "README.md"
    if not readme.is_file():
        yield "README.md is missing"
    elif link := RELATIVE_LINK.search(readme.read_text("utf-8")):
        yield f"README.md links to {link[1]}, which leads nowhere on the package index"


def _extras(dist: Dist) -> Iterator[str]:
    for lines in dist.project.get("optional-dependencies", {}).values():
        yield from lines


def faults_of_names(root: Path, dists: list[Dist]) -> Iterator[str]:
    """Where the lists of names that ship with the core are not those of the packages."""
    folders = {dist.name: dist.folder.relative_to(root).as_posix() for dist in dists}
    try:
        listed = json.loads((root / OWN_DISTS).read_text("utf-8"))["folders"]
    except (ValueError, KeyError) as error:
        yield f"{OWN_DISTS} cannot be read: {error}"
        return
    for name in sorted(folders.keys() ^ listed.keys()):
        where = "lacks" if name in folders else "names a package that is not there:"
        yield f"{OWN_DISTS} {where} {name}"
    for name in sorted(folders.keys() & listed.keys()):
        if folders[name] != listed[name]:
            yield f"{OWN_DISTS}: {name} is in {folders[name]}, not in {listed[name]}"


def faults_of_index(root: Path) -> Iterator[str]:
    """Lines of the list of plugins that nobody could install from."""
    rows = csv.reader((root / INDEX).read_text("utf-8").splitlines())
    columns = ", ".join(COLUMNS)
    for number, row in enumerate(rows, 1):
        is_head = row == COLUMNS
        is_line = len(row) == len(COLUMNS) and all(row) and DIST.fullmatch(row[2])
        if not (is_head if number == 1 else is_line):
            got = ",".join(row) or "nothing"
            yield f"{INDEX} line {number}: expected {columns}, got {got}"


def faults_of_texts(root: Path, dists: list[Dist], version: str) -> Iterator[str]:
    """Where texts of the project name another version, or say nothing of a package."""
    rewrite = f"`make version VERSION={version}` writes it"
    for name, line in {
        CORE_VERSION: f'__version__ = "{version}"',
        CITATION: f"version: {version}",
    }.items():
        if line not in (root / name).read_text("utf-8").splitlines():
            yield f"{name} does not say {line}: {rewrite}"
    changelog = Changelog.read(root / "CHANGELOG.md")
    yield from changelog.faults(version, [dist.name for dist in dists])
