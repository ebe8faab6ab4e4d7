"""One version for all packages, and the range of versions that they declare of each other."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import tomlkit
from packaging.requirements import Requirement
from packaging.version import Version

from release.dists import Dist, is_ours, read_dists

CORE_VERSION = "core/app/src/cuescope/__init__.py"
CITATION = "CITATION.cff"
# other places that name the version or the range; what stands between the groups is replaced
TEXTS = {
    CORE_VERSION: r'(?m)^(__version__ = ").*(")$',
    CITATION: r"(?m)^(version: ).*()$",
}
SDK_RANGE = re.compile(r"(?<=cuescope-sdk)>=[\d.]+,<[\d.]+")


@cache
def common_metadata() -> dict[str, Any]:
    """What the metadata of all packages have in common."""
    return tomllib.loads(Path(__file__).with_name("metadata.toml").read_text("utf-8"))


def range_of(version: str) -> str:
    """What ours declare of each other: >=0.1,<0.2 for 0.1.3. Before 1.0 a minor may break."""
    parsed = Version(version)
    if parsed.major:
        return f">={parsed.major},<{parsed.major + 1}"
    return f">=0.{parsed.minor},<0.{parsed.minor + 1}"


def with_range(line: str, version: str, dist: str) -> str:
    """A requirement of a dist, with the range of a version where it names another of ours."""
    requirement = Requirement(line)
    if not is_ours(requirement.name) or requirement.name == dist:
        return line
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{range_of(version)}"


def write_version(root: Path, version: str) -> None:
    """Write a version and the common metadata into every package and text of a checkout."""
    for dist in read_dists(root):
        _write_project(dist, version)
    for name, pattern in TEXTS.items():
        file = root / name
        text = re.sub(pattern, rf"\g<1>{version}\g<2>", file.read_text("utf-8"))
        file.write_text(text, "utf-8")
    for page in root.glob("docs/*.md"):
        text = page.read_text("utf-8")
        page.write_text(SDK_RANGE.sub(range_of(version), text), "utf-8")


def _write_project(dist: Dist, version: str) -> None:
    """With tomlkit, which keeps comments and the order of lines."""
    file = dist.folder / "pyproject.toml"
    document = tomlkit.parse(file.read_text("utf-8"))
    project: Any = document["project"]
    project["version"] = version
    for key, value in common_metadata().items():
        if project.get(key) != value:
            project[key] = _multiline(value)
    extras = project.get("optional-dependencies", {}).values()
    for lines in (project.get("dependencies", []), *extras):
        for i, line in enumerate(lines):
            ranged = with_range(line, version, dist.name)
            if ranged != line:
                lines[i] = ranged
    file.write_text(tomlkit.dumps(document), "utf-8")


def _multiline(value: Any) -> Any:
    """A list of several as an array of a line each, a table as a table."""
    item = tomlkit.item(value)
    if isinstance(value, list) and len(value) > 1:
        item.multiline(True)
    return item
