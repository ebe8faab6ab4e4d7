"""Entry points -> plugins. Listing imports nothing; each failure is kept with its reason."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    distributions,
    requires,
    version,
)
from importlib.resources import files
from inspect import getmembers_static, isclass, isfunction, signature
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any

from cuescope.errors import PluginError, UserError, nearest
from cuescope.installing import (
    how_to_install,
    how_to_install_what_it_needs,
    how_to_reinstall,
    how_to_remove,
    how_to_update,
)

HOOK_MARK = "cuescope_impl"  # what pluggy's marker sets on a function
KINDS: tuple[str, ...] = ("method", "model", "dataset", "tool", "executor", "observer")
KINDS += ("mitigator", "intervention", "bench", "command")
GROUPS = {f"cuescope.{kind}{'es' if kind == 'bench' else 's'}": kind for kind in KINDS}
API = "cuescope-sdk"
IMPORT_SECONDS = 20.0  # a first import of torch from a slow disk takes many
_NAMES_API = re.compile(r"cuescope[-_.]+sdk(?![-_.]*\w)", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """Why a plugin cannot be used, and what to do."""

    reason: str
    remedy: str


@dataclass(frozen=True)
class Entry:
    """A plugin as its package metadata describes it; nothing of it is imported."""

    kind: str
    name: str
    target: str
    dist: str
    version: str
    summary: str
    problem: Problem | None = None


class Registry:
    """The installed plugins. Each is imported when it is asked for, and not before."""

    def __init__(self, dists: Iterable[Distribution] | None = None) -> None:
        self._dists = dists
        self._loaded: dict[Entry, Any] = {}

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every plugin, broken ones too, by kind and name."""
        by_dist: dict[str, list[Entry]] = {}
        api = _installed_api()
        for dist in distributions() if self._dists is None else self._dists:
            with suppress(Exception):  # a damaged dist of anybody's must not hide the others
                # whole: a dist that fails half way lists nothing
                if of_dist := list(_entries_of(dist, api)):
                    # the first on sys.path is the one that is imported
                    by_dist.setdefault(of_dist[0].dist, of_dist)
        named: dict[tuple[str, str], list[Entry]] = {}
        for entry in chain.from_iterable(by_dist.values()):
            named.setdefault((entry.kind, entry.name), []).append(entry)
        marked = [entry for same in named.values() for entry in _unless_alone(same)]
        return tuple(sorted(marked, key=lambda e: (KINDS.index(e.kind), e.name, e.dist)))

    def of_kind(self, kind: str) -> list[Entry]:
        """The plugins of one kind."""
        return [entry for entry in self.entries if entry.kind == kind]

    def find(self, kind: str, name: str) -> Entry:
        """The plugin of this kind and name; raises UserError with the nearest name."""
        of_kind = self.of_kind(kind)
        for entry in of_kind:
            if entry.name == name:
                return entry
        known = sorted({entry.name for entry in of_kind})
        raise UserError(
            f"no {kind} '{name}' is installed",
            expected=f"one of {', '.join(known)}" if known else None,
            remedy=_where_it_is(kind, name)
            or nearest(name, known)
            or "`cuescope plugins` lists what is here",
        )

    def load(self, entry: Entry) -> Any:
        """What the entry point names; raises PluginError with reason and remedy."""
        if problem := self.check(entry):
            raise PluginError(
                f"{entry.kind} '{entry.name}' of {entry.dist} {entry.version} cannot be used",
                got=problem.reason,
                remedy=problem.remedy,
            )
        return self._loaded[entry]

    def check(self, entry: Entry, *, seconds: float | None = None) -> Problem | None:
        """Import the plugin; what stands in its way, or None.

        With `seconds` an import that takes longer is a problem too, and so is a KeyboardInterrupt
        that the plugin raises itself: of a list, one plugin must not cost the others.
        """
        if entry.problem is None and entry not in self._loaded:
            # What a package prints as it is imported must not land in the middle of `--json`.
            with redirect_stdout(sys.stderr):
                # failures too: a second try would fail alike
                self._loaded[entry] = _bounded(entry, seconds) if seconds else _attempt(entry)
        result = entry.problem or self._loaded[entry]
        return result if isinstance(result, Problem) else None

    @contextmanager
    def blaming(self, entry: Entry) -> Iterator[None]:
        """Turn what escapes from a plugin's code into one line that names the plugin."""
        try:
            yield
        except UserError:  # such a line says it all already
            raise
        except Exception as error:
            raise PluginError(
                f"{entry.kind} '{entry.name}' of {entry.dist} {entry.version} failed",
                got=f"{type(error).__name__}: {_one_line(error)}",
                remedy="`--debug` shows the traceback",
            ) from error


def _where_it_is(kind: str, name: str) -> str | None:
    """The dist of this project that brings a plugin, None for a name that none of them has."""
    table = json.loads(files("cuescope").joinpath("known_plugins.json").read_text())
    dist = table.get(kind, {}).get(name)
    return dist and how_to_install(dist)


def _entries_of(dist: Distribution, api: str | None) -> Iterator[Entry]:
    if "[cuescope." not in (dist.read_text("entry_points.txt") or ""):
        return  # hundreds of dists, and parsing them all would cost a tenth of a second
    metadata = dist.metadata
    problem = _misfit(metadata["Name"], metadata.get_all("Requires-Dist", []), api)
    for point in dist.entry_points:
        if point.group in GROUPS:
            yield Entry(
                kind=GROUPS[point.group],
                name=point.name,
                target=point.value,
                dist=metadata["Name"],
                version=metadata["Version"],
                summary=" ".join(metadata.get_all("Summary", [])),
                problem=problem,
            )


def _installed_api() -> str | None:
    try:
        return version(API)
    except PackageNotFoundError:
        return None


def _misfit(dist: str, requires: Iterable[str], api: str | None) -> Problem | None:
    """Whether the installed API lies outside the range that the dist declares."""
    declared = [line for line in requires if _NAMES_API.match(line)]
    if not declared:
        return None
    from packaging.requirements import InvalidRequirement, Requirement  # 20 ms, for plugins only

    if api is None:
        return Problem(f"needs {API}, which is not installed", how_to_install(API))
    try:
        requirements = [Requirement(line) for line in declared]
    except InvalidRequirement as error:
        return Problem(f"declares {declared[0]!r}: {_one_line(error)}", how_to_remove(dist))
    for needed in requirements:
        applies = needed.marker is None or needed.marker.evaluate()
        if applies and not needed.specifier.contains(api, prereleases=True):
            return Problem(
                f"needs {API}{needed.specifier}, installed is {api}", how_to_update(dist)
            )
    return None


def _unless_alone(same: list[Entry]) -> Iterator[Entry]:
    """Entries of one kind and name: two of them are a problem of each."""
    for entry in same:
        others = [other.dist for other in same if other is not entry]
        reason = f"duplicate name: {entry.kind} '{entry.name}' also comes from {', '.join(others)}"
        remedy = f"keep one of them: {how_to_remove(entry.dist)}"
        yield replace(entry, problem=Problem(reason, remedy)) if others else entry


def _attempt(entry: Entry, *, survive: type[BaseException] | None = None) -> Any:
    """What the entry point names, or the Problem with it."""
    try:
        return _import(entry)
    except KeyboardInterrupt as error:
        if survive is not KeyboardInterrupt:
            raise
        return _problem_of(entry, error)
    except BaseException as error:  # a plugin may raise anything, SystemExit included
        return _problem_of(entry, error)


def _bounded(entry: Entry, seconds: float) -> Any:
    """As `_attempt`, within a time; the user's own Ctrl-C reaches the main thread alone."""
    results: list[Any] = []
    worker = Thread(
        target=lambda: results.append(_attempt(entry, survive=KeyboardInterrupt)), daemon=True
    )
    worker.start()
    worker.join(seconds)  # a thread cannot be killed: as a daemon it ends with us
    if results:
        return results[0]
    reason = f"its import takes more than {seconds:g} seconds"
    return Problem(reason, f"tell the authors of {entry.dist}, or {how_to_remove(entry.dist)}")


def _import(entry: Entry) -> Any:
    module, _, attribute = entry.target.partition(":")
    loaded = getattr(import_module(module.strip()), attribute.strip())
    if entry.kind == "command":
        if not callable(loaded):
            raise TypeError(f"{entry.target} is a {type(loaded).__name__}, expected a function")
        return loaded
    from cuescope.capabilities import MEMBERS
    from cuescope.types import Options

    if not isclass(loaded):
        raise TypeError(f"{entry.target} is a {type(loaded).__name__}, expected a class")
    options = getattr(loaded, "Options", None)
    if not (isclass(options) and issubclass(options, Options)):
        raise TypeError(f"{entry.target}.Options is no subclass of cuescope_sdk.Options")
    for any_of in MEMBERS.get(entry.kind, ()):
        if not any(hasattr(loaded, member) for member in any_of):
            raise TypeError(f"{entry.target} lacks {' or '.join(any_of)}, which a {entry.kind} has")
    if entry.kind in ("method", "observer"):
        check_hooks(entry.target, loaded)
    return loaded


def check_hooks(target: str, loaded: type) -> None:
    """Raise TypeError for a hook that pluggy would never call, or call with what it cannot take."""
    from cuescope.capabilities import HOOKS

    for name, member in getmembers_static(loaded):  # inherited ones too
        if isfunction(member) and hasattr(member, HOOK_MARK):
            if name not in HOOKS:
                known = f"expected one of {', '.join(HOOKS)}"
                raise TypeError(f"{target}.{name} is no hook: {nearest(name, HOOKS) or known}")
            for argument in list(signature(member).parameters)[1:]:  # without self
                if argument not in HOOKS[name]:
                    hint = nearest(argument, HOOKS[name]) or f"it takes {', '.join(HOOKS[name])}"
                    raise TypeError(f"{target}.{name} has no argument '{argument}': {hint}")
        elif isfunction(member) and name in HOOKS:
            raise TypeError(f"{target}.{name} lacks @hookimpl, so it would never be called")


def version_with_code(dist: str) -> str:
    """The version of a dist ("0.1.0"), with a digest of its source where it is installed editable.

    "none" for one that is not installed.
    """
    try:
        installed = version(dist)
    except PackageNotFoundError:
        return "none"
    module = dist.replace("-", "_")
    code = code_digest(dist, module) if module in sys.modules else None
    return f"{installed}+{code[:8]}" if code else installed


@cache
def code_digest(dist: str, module: str) -> str | None:
    """Digest of a plugin's source where its dist is installed editable, else None.

    An installed version does not change; code that somebody edits does, under one version.
    """
    try:
        origin = distribution(dist).read_text("direct_url.json") or "{}"
    except PackageNotFoundError:
        return None
    # what pip and uv write down (PEP 610)
    if not json.loads(origin).get("dir_info", {}).get("editable"):
        return None
    top = sys.modules[module.partition(".")[0]]  # all of it: a plugin calls its neighbours
    folders = [Path(folder) for folder in getattr(top, "__path__", ())]
    sources = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    state = blake2b(digest_size=16)
    for file in sources or [Path(str(top.__file__))]:
        state.update(blake2b(file.read_bytes(), digest_size=16).digest())
    return state.hexdigest()


def _problem_of(entry: Entry, error: BaseException) -> Problem:
    reason = f"{type(error).__name__}: {_one_line(error)}".rstrip(": ")
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Problem(reason, _remedy_for_missing(entry, error.name.partition(".")[0]))
    if isinstance(error, TypeError):
        return Problem(reason, f"tell the authors of {entry.dist}, or mend the entry point")
    return Problem(reason, how_to_reinstall(entry.dist))


def _remedy_for_missing(entry: Entry, module: str) -> str:
    """How to get a module: by the requirement that is called so, else by the plugin's own dist.

    The name of a module is not that of its dist (cv2, attr, google), so it is never guessed.
    """
    with suppress(PackageNotFoundError):
        for line in requires(entry.dist) or ():
            name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
            if re.sub(r"[-_.]+", "_", name).lower() == module.lower():  # as pip compares names
                return how_to_install_what_it_needs(entry.dist, name)
    return f"{how_to_reinstall(entry.dist)}, which says what it needs"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
