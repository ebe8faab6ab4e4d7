"""Where the packages of this project come from, and how a person gets one that is missing.

A name that nobody has registered on the package index belongs to whoever registers it first. So
nothing here ever asks an index for a package of this project while `REGISTERED` is false: all come
from the clone, or from the folder of wheels, that cuescope itself was installed from.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from cuescope.plugin_index import dists_of as dists_of
from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

REGISTERED = False
"""Whether every name of `own_dists()` is this project's on the package index.

Whoever publishes the packages sets it to True once ALL of those names are registered, and not
before. Remedies and `cuescope plugins install` then use the index. The install commands of
README.md and docs/install.md are to be written anew by then:
tests/test_installing.py forbids them to name the index only while this is False.
"""
ENGINE = "cuescope-core"
CORE = "cuescope"
API = "cuescope-sdk"


@dataclass(frozen=True)
class Source:
    """The place that cuescope itself was installed from, a folder of this machine."""

    folder: Path
    kind: Literal["clone", "wheels"]
    editable: bool = False

    @property
    def words(self) -> str:
        """How a remedy calls it."""
        return (
            "this clone"
            if self.kind == "clone"
            else "the wheels that cuescope came from"
        )

    def path_of(self, dist: str) -> Path:
        """The folder or wheel of a dist of this project; raises UserError where it is gone."""
        if self.kind == "clone":
            path: Path | None = self.folder / own_dists()[dist]
        else:
            wheels = self.folder.glob(f"{dist.replace('-', '_')}-[0-9]*.whl")
            # by time: as a name, version 0.10 stands before 0.9
            path = max(wheels, key=lambda wheel: wheel.stat().st_mtime, default=None)
        if path is None or not path.exists():
            of_wheels = "`make wheels` in a clone builds it"
            of_clone = "Update the clone, or install cuescope from another one"
            raise UserError(
                f"{dist} is not in {self.folder}, where cuescope was installed from",
                remedy=of_wheels if self.kind == "wheels" else of_clone,
            )
        return path


# ------------------------------------------------------------------------------- what is ours


def own_dists() -> dict[str, str]:
    """The dists of this project: name -> folder in a clone."""
    return _table()["folders"]


def is_own(dist: str) -> bool:
    """True if a dist of this name, however it is spelled, is one of this project."""
    return _normalise(dist) in own_dists()


@cache
def _table() -> dict[str, dict[str, str]]:
    text = files("cuescope").joinpath("own_dists.json").read_text("utf-8")
    table: dict[str, dict[str, str]] = json.loads(text)
    return table


def _normalise(dist: str) -> str:
    """As pip compares names (PEP 503)."""
    return re.sub(r"[-_.]+", "-", dist).lower()


# -------------------------------------------------------------------------- where it came from


def find_source() -> Source | None:
    """Find the place that cuescope was installed from; None where none is known on this machine."""
    try:
        return read_source(distribution(CORE).read_text("direct_url.json"))
    except PackageNotFoundError:
        return None


def read_source(direct_url: str | None) -> Source | None:
    """The source that cuescope's direct_url.json names (PEP 610); None for one far away."""
    if direct_url is None:  # from an index, or by --find-links
        return None
    origin = json.loads(direct_url)
    url = urlsplit(origin["url"])
    if url.scheme != "file":
        return None
    # an address spells blanks and drives in another way
    path = Path(url2pathname(url.path))
    # of a wheel PEP 610 says `archive_info` in its place
    if "dir_info" not in origin:
        return Source(path.parent, "wheels")
    clone = path.parents[own_dists()[CORE].count("/")]
    if not (clone / own_dists()[API] / "pyproject.toml").is_file():
        return None  # the core alone was copied elsewhere
    return Source(clone, "clone", origin["dir_info"].get("editable", False))


def with_needs(wanted: Iterable[str]) -> dict[str, set[str]]:
    """Dists of this project and those of it that they need: name -> extras.

    Of one that is not named, pip would ask the index.
    """
    extras: dict[str, set[str]] = {}
    for text in wanted:
        requirement = _parse(text)
        for needed in _needs(requirement):
            extras.setdefault(needed, set())
        extras.setdefault(_normalise(requirement.name), set()).update(
            requirement.extras
        )
    return extras


def local_arguments(extras: Mapping[str, Iterable[str]], source: Source) -> list[str]:
    """Arguments of pip to install dists with their extras from a source.

    Raises UserError for a dist that is not in the source.
    """
    arguments: list[str] = []
    for dist, of_dist in extras.items():
        extra = f"[{','.join(sorted(of_dist))}]" if of_dist else ""
        # as cuescope itself was: the clone's edits count in all of its packages
        arguments += ["-e"] if source.editable else []
        arguments.append(f"{source.path_of(dist)}{extra}")
    return arguments


def _needs(requirement: "Requirement") -> list[str]:
    """The dists of this project that one of them needs, those first that others need."""
    name = _normalise(requirement.name)
    if name == ENGINE:
        return []
    needed = [ENGINE] if name in (CORE, API) else [ENGINE, CORE, API]
    for wanted in [name, *(f"{name}[{extra}]" for extra in sorted(requirement.extras))]:
        # a bundle needs plugins, which may need others
        for dist in _table()["needs"].get(wanted, []):
            needed += [*_needs(_parse(dist)), dist]
    return list(dict.fromkeys(needed))


def _parse(text: str) -> "Requirement":
    from packaging.requirements import Requirement  # 20 ms, for those who install

    return Requirement(text)


# ------------------------------------------------------------------------------ what pip is told


@dataclass(frozen=True)
class Installation:
    """A call of pip: its arguments, and the lines of a file of constraints."""

    arguments: list[str]
    constraints: list[str]
    brings_torch: bool = False


def plan_installation(wanted: Sequence[str]) -> Installation:
    """How to install what a person named, each as pip takes it.

    Dists of this project come from where cuescope came from. Raises UserError for one that would
    come from an index although nobody has registered its name.
    """
    if not all(text.strip() for text in wanted):
        raise UserError(
            "a package has no name",
            expected="NAME, as pip takes it",
            got="''",
            remedy="`cuescope plugins search WORDS` finds plugins",
        )
    if REGISTERED:
        return Installation(list(wanted), [])
    own = [text for text in wanted if _is_own_name(text)]
    others = [text for text in wanted if text not in own]
    if not own:
        # guarded all the same: a stranger's plugin may need one of ours
        return Installation(others, list(_index_guard(())))
    source = find_source()
    if source is None:
        raise UserError(
            f"{own[0]} is not on the package index",
            got="a cuescope that does not say where it was installed from",
            remedy=how_to_install(own[0]),
        )
    extras = with_needs(own)
    arguments = [*local_arguments(extras, source), *others]
    brings_torch = not extras.keys().isdisjoint(_table()["torch"])
    return Installation(arguments, list(_index_guard(extras)), brings_torch)


def _is_own_name(text: str) -> bool:
    """True if pip would look a text up on an index as a dist of this project.

    Raises UserError for such a name with a version, which a folder does not offer.
    """
    from packaging.requirements import InvalidRequirement

    try:
        requirement = _parse(text)
    except InvalidRequirement:
        # a path or an address: it says itself where it comes from
        return False
    if requirement.url is not None or not is_own(requirement.name):
        return False
    if requirement.specifier:
        raise UserError(
            f"{requirement.name} is not on the package index, which has no versions of it",
            expected="the name alone",
            got=text,
            remedy="For another version, check it out in the clone",
        )
    return True


def _index_guard(local: Iterable[str]) -> Iterator[str]:
    """Constraints that keep pip from an index for all dists of this project but the local ones.

    A stranger's plugin may need one of them: what is installed stays, and what is not installed
    cannot be met (no version is below 0), so pip ends with a conflict.
    """
    for dist in sorted(own_dists().keys() - set(local)):
        try:
            yield f"{dist}=={version(dist)}"
        except PackageNotFoundError:
            yield f"{dist}<0"


# -------------------------------------------------------------------------- what a person is told


def how_to_install(wanted: str) -> str:
    """A clause that says how to get a dist, or the extra of one, as pip has it: `x[extra]`."""
    requirement = _parse(wanted)
    command = f"`pip install {shlex.quote(wanted)}` brings it"
    if not is_own(requirement.name):
        return f"{command}, which is not of this project"
    if REGISTERED:
        return command
    source = find_source()
    if source is not None:
        command = f"cuescope plugins install {shlex.quote(wanted)}"
        return f"`{command}` brings it from {source.words}"
    dists = [*_needs(requirement), _normalise(requirement.name)]
    wheels = " ".join(f"CLONE/dist/{dist.replace('-', '_')}-*.whl" for dist in dists)
    return f"`make wheels` in a clone, then `pip install {wheels}` brings it"
