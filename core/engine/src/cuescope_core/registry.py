"""Entry points -> plugins. Listing imports nothing; each failure is kept with its reason."""

import json
import os
import re
import sys
import traceback
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from email import message_from_string
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import (
    Distribution,
    EntryPoint,
    PackageNotFoundError,
    distribution,
    distributions,
    requires,
    version,
)
from inspect import getattr_static, getmembers_static, isclass, isfunction, signature
from itertools import chain
from pathlib import Path
from typing import Any

from cuescope_core.class_files import ClassFile, names_class_file
from cuescope_core.errors import (
    PluginError,
    UserError,
    nearest,
    reason_of,
    with_article,
)
from cuescope_core.printable import printable
from cuescope_core.remedies import dists_of, how_to_get_anew, how_to_install, is_own

IN_MEMORY = "in memory"  # the package of an object of a caller in Python
IN_FILE = "in a file"  # that of a class in a file which a person named
NOT_INSTALLED = "not-installed"  # that of a class which a test tries
NO_DISTS = (IN_MEMORY, NOT_INSTALLED)
HOOK_MARK = "cuescope_impl"  # what pluggy's marker sets on a function
GROUPS = {  # of entry points, with the kind of plugin that each lists
    "cuescope.methods": "method",
    "cuescope.models": "model",
    "cuescope.datasets": "dataset",
    "cuescope.tools": "tool",
    "cuescope.executors": "executor",
    "cuescope.observers": "observer",
    "cuescope.mitigators": "mitigator",
    "cuescope.interventions": "intervention",
    "cuescope.explainers": "explainer",
    "cuescope.logs": "log",
    "cuescope.exporters": "exporter",
    "cuescope.benches": "bench",
    "cuescope.commands": "command",
}
KINDS = tuple(GROUPS.values())
API = "cuescope-sdk"
GROUP_PREFIX = "cuescope."
MAX_REASON = 500  # characters
MAX_SUMMARY = 200
_WORD = re.compile(r"[A-Za-z0-9][\w.!+-]{0,99}", re.ASCII)
# "plugins check" is a command
_POINT = re.compile(r"\w[\w.-]*( [\w.-]+)*=[^\W\d]\w*(\.[^\W\d]\w*)*\s*:\s*[^\W\d]\w*")
# not a dist whose name only begins like it
_NAMES_API = re.compile(r"cuescope[-_.]+sdk(?![-_.]*\w)", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """Why a plugin cannot be used, and what to do."""

    reason: str
    remedy: str
    is_name: bool = False  # the plugin is sound, and its name is another one's too


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
        self._held: dict[tuple[str, str], Entry] = {}
        self._trusted = set[str]()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every plugin, broken ones too, by kind and name."""
        return self._read[0]

    @property
    def damaged(self) -> Mapping[str, Problem]:
        """Packages whose files cannot be read, by what they are called; their plugins are lost."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[tuple[Entry, ...], dict[str, Problem]]:
        by_dist: dict[str, tuple[Entry, ...]] = {}
        damaged: dict[str, Problem] = {}
        api = _api_version()
        for dist in distributions() if self._dists is None else self._dists:
            try:
                package = read_package(dist)
            # a damaged one of anybody's must not hide the others
            except Exception as error:
                reason = printable(_one_line(error))[:MAX_REASON]
                name = _folder_name(dist)
                damaged[name] = Problem(reason, f"install {name} anew")
                continue
            if package is None:
                continue
            unknown = sorted({point.group for point in package.points} - GROUPS.keys())
            if unknown:
                damaged[package.name] = _unknown_group(unknown[0], package.name)
            # the first on sys.path is the one that is imported
            by_dist.setdefault(package.name, _entries_of(package, api))
        by_name: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in chain.from_iterable(by_dist.values()):
            by_name[entry.kind, entry.name].append(entry)
        entries = sorted(
            chain.from_iterable(map(_mark_duplicates, by_name.values())),
            key=lambda entry: (KINDS.index(entry.kind), entry.name, entry.dist),
        )
        return tuple(entries), damaged

    def of_dist(self, kind: str, name: str) -> Entry | None:
        """The plugin of `DIST/NAME`, whatever else has its name; None where there is none."""
        dist, slash, plain = name.partition("/")
        for entry in self.of_kind(kind) if slash else ():
            if (entry.dist, entry.name) == (dist, plain):
                is_taken = entry.problem is not None and entry.problem.is_name
                return replace(entry, problem=None) if is_taken else entry
        return None

    def hold(self, entry: Entry, plugin: Any) -> None:
        """Hold an object or a class of a caller: found by its name, and never listed."""
        self._held[entry.kind, entry.name] = entry
        self._loaded[entry] = plugin

    @property
    def held(self) -> Mapping[tuple[str, str], str]:
        """The fingerprints of what is held, by kind and name."""
        return {
            key: getattr(self._loaded[entry], "fingerprint", None) or entry.version
            for key, entry in self._held.items()
        }

    def trust(self, names: Iterable[str]) -> None:
        """Let the code of files run, `./idea.py:Idea`: a person typed these names.

        What else names a file, as a report does, runs nothing.
        """
        self._trusted.update(filter(names_class_file, names))

    def of_kind(self, kind: str) -> list[Entry]:
        """The plugins of one kind."""
        return [entry for entry in self.entries if entry.kind == kind]

    def find(self, kind: str, name: str) -> Entry:
        """The plugin of this kind and name; raises UserError with the nearest name.

        A name may be `DIST/NAME`, that of an object which is held, or `FILE.py:CLASS`.
        """
        # before what is installed: an object may be called as a plugin is
        if held := self._held.get((kind, name)):
            return held
        if names_class_file(name):
            file = ClassFile.of(kind, name)
            target = f"{file.module}:{file.attribute}"
            return Entry(kind, name, target, IN_FILE, file.digest, summary="")
        of_kind = self.of_kind(kind)
        same = [entry for entry in of_kind if entry.name == name]
        if not same and (of_dist := self.of_dist(kind, name)):
            return of_dist
        if same:
            # a broken one of another package must not stand before a sound one
            first = next((entry for entry in same if entry.problem is None), same[0])
            for entry in same:
                if first.problem is None and entry.problem and entry.problem.is_name:
                    warnings.warn(
                        f"{kind} '{name}' is that of {first.dist}; write "
                        f"{entry.dist}/{name} for the one of {entry.dist}",
                        stacklevel=2,
                    )
            return first
        names = sorted({entry.name for entry in of_kind})
        remedy = _where_it_is(kind, name) or self._as_another_kind(kind, name)
        remedy = remedy or nearest(name, names)
        if remedy is None and kind in ("model", "dataset") and Path(name).suffix:
            remedy = (
                f"A file stands behind the {kind} that reads it, as in NAME:{name}; "
                "`cuescope plugins` lists them"
            )
        raise UserError(
            f"no {kind} '{name}' is installed",
            expected=f"one of {', '.join(names)}" if names else None,
            remedy=remedy or "`cuescope plugins` lists what is here",
        )

    def _as_another_kind(self, kind: str, name: str) -> str | None:
        """Name the other kind of a plugin that is not of this one; None where there is none."""
        others = [e.kind for e in self.entries if e.name == name and e.kind != kind]
        if not others:
            return None
        return f"'{name}' is {with_article(others[0])}: `cuescope plugins info {name}`"

    def load(self, entry: Entry) -> Any:
        """Load what the entry point names; raises PluginError with reason and remedy."""
        if self._is_strangers(entry):
            raise UserError(
                f"{entry.kind} '{entry.name}' is code in a file",
                expected="it typed on the command line",
                remedy=f"Read the file; then add --allow {entry.name}",
            )
        if problem := self.check(entry):
            raise PluginError(
                f"{_titled(entry)} cannot be used",
                got=problem.reason,
                # in a table it stands in a cell of its own, here it begins a sentence
                remedy=problem.remedy[:1].upper() + problem.remedy[1:],
            )
        return self._loaded[entry]

    def check(self, entry: Entry) -> Problem | None:
        """Import the plugin; what stands in its way, or None."""
        if self._is_strangers(entry):
            return Problem("it is code in a file, and nobody typed it", "read the file")
        if entry.problem is None and entry not in self._loaded:
            with _aside():
                # failures too: a second try would fail alike
                self._loaded[entry] = _attempt(entry)
        result = entry.problem or self._loaded[entry]
        return result if isinstance(result, Problem) else None

    def _is_strangers(self, entry: Entry) -> bool:
        return entry.dist == IN_FILE and entry.name not in self._trusted

    @contextmanager
    def blaming(self, entry: Entry) -> Iterator[None]:
        """Turn what escapes from a plugin's code into one line that names the plugin."""
        try:
            yield
        except UserError:  # such a line says it all already
            raise
        except Exception as error:
            raise blame(entry, error) from error

    def owner_of(self, error: Exception) -> Entry | None:
        """The plugin whose code was last to run before an error; None where it was nobody's.

        Of several plugins of a package it is one.
        """
        owners = {_package_of(entry): entry for entry in self.entries}
        for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
            package = str(frame.f_globals.get("__name__")).partition(".")[0]
            if package in owners:
                return owners[package]
        return None


def blame(entry: Entry, error: Exception) -> PluginError:
    """The line for an error of a plugin's code."""
    remedy = "`--debug` shows the traceback"
    # of a caller in Python, who has no option and sees the traceback
    if entry.dist in NO_DISTS:
        remedy = "Its own error stands above this one"
    return PluginError(
        f"{_titled(entry)} failed",
        got=reason_of(error) + _place_of(error, entry),
        remedy=remedy,
    )


def _titled(entry: Entry) -> str:
    """The plugin with the package that brings it, where there is one."""
    name = f"{entry.kind} '{entry.name}'"
    if entry.dist in (*NO_DISTS, IN_FILE):
        return name
    return f"{name} of {entry.dist} {entry.version}"


@contextmanager
def _aside() -> Iterator[None]:
    """Meanwhile stdout goes to stderr: no package may print into the middle of `--json`.

    That holds for file descriptor 1 too, to which C libraries and child processes write.
    """
    with redirect_stdout(sys.stderr):
        try:
            stdout = os.dup(1)
        except OSError:  # a process without a stdout
            yield
            return
        with suppress(OSError):
            os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)


def _where_it_is(kind: str, name: str) -> str | None:
    """How to get the listed dist that brings a plugin, None for a name that is not listed."""
    dist = dists_of(kind).get(name)
    return dist and how_to_install(dist)


@dataclass(frozen=True)
class Package:
    """An installed package with entry points of ours."""

    name: str
    version: str
    summary: str
    requires: tuple[str, ...]
    points: tuple[EntryPoint, ...]


def read_package(dist: Distribution) -> Package | None:
    """The package, None for one without entry points of ours; raises ValueError for damage."""
    points = dist.read_text("entry_points.txt") or ""
    # hundreds of packages, and parsing them all would cost a tenth of a second
    if f"[{GROUP_PREFIX}" not in points:
        return None
    return _parse(
        points, dist.read_text("METADATA") or dist.read_text("PKG-INFO") or ""
    )


# files are read each time, but seldom change while a program runs that asks often
@lru_cache(maxsize=1000)
def _parse(points: str, metadata: str) -> Package:
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    # names keep their capitals
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(points)
    # the readme follows after the first empty line
    fields = message_from_string(metadata.partition("\n\n")[0])
    package = Package(
        name=str(fields["Name"] or ""),
        version=str(fields["Version"] or ""),
        summary=printable(" ".join(str(fields.get("Summary", "")).split()))[
            :MAX_SUMMARY
        ],
        requires=tuple(map(str, fields.get_all("Requires-Dist", []))),
        points=tuple(
            EntryPoint(name, value, group)
            for group in parser.sections()
            if group.startswith(GROUP_PREFIX)
            for name, value in parser[group].items()
        ),
    )
    # they are copied into shells, and imported
    for text in (package.name, package.version):
        if not _WORD.fullmatch(text):
            raise ValueError(
                f"its METADATA has no Name and Version, got {text[:100]!r}"
            )
    for point in package.points:
        if not _POINT.fullmatch(f"{point.name}={point.value}"):
            raise ValueError(
                f"no entry point: {point.name[:100]!r} = {point.value[:100]!r}, expected "
                "NAME = MODULE:NAME"
            )
    return package


def _folder_name(dist: Distribution) -> str:
    """The name of a damaged package: its folder, in letters that no shell obeys."""
    name = Path(str(getattr(dist, "_path", ""))).name
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-")[:100] or "unknown"


@lru_cache(maxsize=1000)
def _entries_of(package: Package, api: str | None) -> tuple[Entry, ...]:
    """The plugins of a package; what stands in the way of all of them is a problem of each."""
    problem = _misfit(package.name, package.requires, api)
    return tuple(
        Entry(
            kind=GROUPS[point.group],
            name=point.name,
            target=point.value,
            dist=package.name,
            version=package.version,
            summary=package.summary,
            problem=problem,
        )
        for point in package.points
        if point.group in GROUPS
    )


def _unknown_group(group: str, dist: str) -> Problem:
    reason = f"it has plugins in the group {group[:100]!r}, which this cuescope does not know"
    return Problem(
        reason, nearest(group, GROUPS) or f"ask the authors of {dist} for its version"
    )


def _api_version() -> str | None:
    try:
        return version(API)
    except PackageNotFoundError:
        return None


def _misfit(dist: str, requires: Iterable[str], api: str | None) -> Problem | None:
    """Problem of a dist that declares another range than the installed API; None if it fits."""
    declared = [line for line in requires if _NAMES_API.match(line)]
    if not declared:
        return None
    if api is None:
        return Problem(f"needs {API}, which is not installed", how_to_install(API))
    from packaging.requirements import Requirement  # 20 ms, for plugins only

    try:
        for requirement in [Requirement(line) for line in declared]:
            applies = requirement.marker is None or requirement.marker.evaluate()
            # prereleases too: else a development version of the sdk fits no range
            if applies and not requirement.specifier.contains(api, prereleases=True):
                reason = f"needs {API}{requirement.specifier}, installed is {api}"
                return Problem(reason, how_to_get_anew(dist))
    except Exception as error:  # markers and versions of strangers raise much
        reason = f"declares {declared[0][:100]!r}: {_one_line(error)}"
        return Problem(reason[:MAX_REASON], f"`pip uninstall {dist}`")
    return None


def _mark_duplicates(same: list[Entry]) -> Iterator[Entry]:
    """Entries of one kind and name: the others are a problem of each, but broken ones of none.

    One of this project stays what the name means: a package that takes the name of a method must
    not switch that method off. All of them can be asked for as `DIST/NAME`.
    """
    for entry in same:
        others = [
            other.dist for other in same if other is not entry and other.problem is None
        ]
        if entry.problem is not None or not others or is_own(entry.dist):
            yield entry
            continue
        reason = f"duplicate name: {entry.kind} '{entry.name}' also comes from {', '.join(others)}"
        remedy = (
            f"ask for it as {entry.dist}/{entry.name}, or keep one of them: "
            f"`pip uninstall {entry.dist}`"
        )
        yield replace(entry, problem=Problem(reason, remedy, is_name=True))


def _attempt(entry: Entry) -> Any:
    """Import what the entry point names, or return its Problem."""
    try:
        return _import(entry)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, SystemExit included
        return _problem_of(entry, error)


def _import(entry: Entry) -> Any:
    if entry.dist == IN_FILE:
        loaded = ClassFile.of(entry.kind, entry.name).load()
    else:
        module, _, attribute = entry.target.partition(":")
        loaded = getattr(import_module(module.strip()), attribute.strip())
    require_whole(entry, loaded)
    return loaded


def require_whole(entry: Entry, loaded: Any) -> None:
    """Raise TypeError for what is no plugin of the entry's kind, or lacks what this kind has."""
    if entry.kind == "command":
        if not callable(loaded):
            raise TypeError(
                f"{entry.target} is {with_article(type(loaded).__name__)}, expected a function"
            )
        return
    # here: it imports numpy and pydantic, which a quick list of plugins does without
    from cuescope_core.capabilities import MEMBERS
    from cuescope_core.types import Options

    if not isclass(loaded):
        raise TypeError(
            f"{entry.target} is {with_article(type(loaded).__name__)}, expected a class"
        )
    options = getattr(loaded, "Options", None)
    if not (isclass(options) and issubclass(options, Options)):
        raise TypeError(
            f"{entry.target}.Options is no subclass of cuescope_sdk.Options"
        )
    for any_of in MEMBERS.get(entry.kind, ()):
        if not any(hasattr(loaded, member) for member in any_of):
            raise TypeError(
                f"{entry.target} lacks {' or '.join(any_of)}, which a {entry.kind} has"
            )
    _check_declared(entry.target, loaded)
    if entry.kind in ("method", "observer"):
        check_hooks(entry.target, loaded)


def _check_declared(target: str, loaded: type) -> None:
    """Raise TypeError for what a class declares of itself and is none: every list reads it."""
    from cuescope_core.capabilities import DECLARED

    for name, kind in DECLARED.items():
        missing = object()
        value = getattr_static(loaded, name, missing)
        # a class may work it out for each plugin that is built
        if value is missing or isinstance(value, (property, cached_property)):
            continue
        if not isinstance(value, kind):
            expected = with_article(kind.__name__)
            raise TypeError(f"{target}.{name} is {value!r:.60}, expected {expected}")


def check_hooks(target: str, loaded: type) -> None:
    """Raise TypeError for a hook that pluggy would never call, or call with what it cannot take."""
    from cuescope_core.capabilities import HOOKS

    for name, member in getmembers_static(loaded, isfunction):  # inherited ones too
        if hasattr(member, HOOK_MARK):
            if name not in HOOKS:
                hint = nearest(name, HOOKS) or f"expected one of {', '.join(HOOKS)}"
                raise TypeError(f"{target}.{name} is no hook: {hint}")
            # pluggy would refuse it too, when an audit begins, and suggest nothing
            takes = HOOKS[name]
            for argument in list(signature(member).parameters)[1:]:  # without self
                if argument not in takes:
                    hint = nearest(argument, takes) or f"it takes {', '.join(takes)}"
                    raise TypeError(
                        f"{target}.{name} has no argument '{argument}': {hint}"
                    )
        elif name in HOOKS:
            raise TypeError(
                f"{target}.{name} lacks @hookimpl, so it would never be called"
            )


def version_with_code(dist: str, module: str | None = None) -> str:
    """The version of a dist ("0.1.0"), with a digest of its source where it is installed editable.

    "none" for one that is not installed. Without a `module` the source is that of its own name.
    """
    try:
        installed = version(dist)
    except PackageNotFoundError:
        return "none"
    module = module or dist.replace("-", "_")
    # what nobody imported has had no part in an answer
    code = code_digest(dist, module) if module in sys.modules else None
    return f"{installed}+{code[:8]}" if code else installed


@cache
def code_digest(dist: str, module: str, *, installed: bool = False) -> str | None:
    """Digest of a plugin's source where its dist is installed editable, else None.

    Somebody edits such code under one version. With `installed` also of what was installed once: a
    package that is built again under its version has other code.
    """
    if not _is_editable(dist):
        files = _recorded_files(dist) if installed else None
        # an object of a caller is in no package
        if files is None:
            return None
        if files:
            return blake2b("\n".join(files).encode(), digest_size=16).hexdigest()
    # all of it: a plugin calls its neighbours
    top = sys.modules[module.partition(".")[0]]
    sources: list[Path] = []
    for folder in getattr(top, "__path__", ()):
        # sorted: a file system lists in any order
        sources += sorted(Path(folder).rglob("*.py"))
    state = blake2b(digest_size=16)
    for file in sources or [Path(str(top.__file__))]:
        state.update(blake2b(file.read_bytes(), digest_size=16).digest())
    return state.hexdigest()


def _recorded_files(dist: str) -> list[str] | None:
    """The files of a package with their digests, as its RECORD has them.

    None of them without a RECORD, and None without a package. What a machine adds is left out:
    scripts, compiled files, how it was installed.
    """
    try:
        recorded = distribution(dist).files or ()
    except PackageNotFoundError:
        return None
    except (OSError, ValueError):  # a damaged one
        recorded = ()
    files = []
    for file in recorded:
        is_own = not file.parts[0].endswith(".dist-info") and ".." not in file.parts
        if file.hash is not None and is_own and file.suffix != ".pyc":
            files.append(f"{file} {file.hash.value}")
    return sorted(files)


def _is_editable(dist: str) -> bool:
    """True if the source of a dist may change: by what pip and uv write down (PEP 610)."""
    try:
        origin = json.loads(distribution(dist).read_text("direct_url.json") or "{}")
        return bool(origin.get("dir_info", {}).get("editable"))
    except (PackageNotFoundError, ValueError, AttributeError, OSError, RecursionError):
        return False


def _problem_of(entry: Entry, error: BaseException) -> Problem:
    reason = reason_of(error)
    if entry.dist == IN_FILE:
        return Problem(reason + _place_of(error, entry), "correct the file")
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Problem(reason, _remedy_for_missing(entry, error.name.partition(".")[0]))
    if isinstance(error, TypeError):
        return Problem(
            reason, f"tell the authors of {entry.dist}, or mend the entry point"
        )
    return Problem(reason, how_to_get_anew(entry.dist))


def _remedy_for_missing(entry: Entry, module: str) -> str:
    """How to get a module: by the requirement that is called so, else by the plugin's own dist.

    The name of a module is not that of its dist (cv2, attr, google), so it is never guessed.
    """
    with suppress(PackageNotFoundError):
        for line in requires(entry.dist) or ():
            name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
            # as pip compares names
            if re.sub(r"[-_.]+", "_", name).lower() == module.lower():
                # the index may have another package of this name
                return f"install the package {name}, which {entry.dist} needs"
    return f"{how_to_get_anew(entry.dist)}; its metadata say what it needs"


def _package_of(entry: Entry) -> str:
    """The package that a plugin's code lies in, as it is imported."""
    return entry.target.partition(":")[0].strip().partition(".")[0]


def _place_of(error: BaseException, entry: Entry) -> str:
    """Where the plugin's own code was, as " (compute_scores, line 53 of cuescope_x)"; else ""."""
    package = _package_of(entry)
    own = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package
        # a loop within a function of the author: its own name says more
        and not frame.f_code.co_name.startswith("<")
    ]
    if not package or not own:
        return ""
    frame, line = own[-1]
    return f" ({frame.f_code.co_name}, line {line} of {frame.f_globals['__name__']})"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
