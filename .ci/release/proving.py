"""Every package from a local index into empty environments: alone, oldest and newest, and used."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from packaging.requirements import Requirement

from release import ReleaseError
from release.building import find_uv
from release.dists import Dist, closure, is_ours, read_dists
from release.kept import Kept, Question, contents
from release.machine import Machine, find_python, local_index
from release.using import OLDER_NEEDS, readme_section, use, use_older

START = "cuescope-start"
OLDER_PLUGIN = "older"  # as --only names it
BROKEN = "BROKEN: "
NONE_HERE = "no wheels: "
NO_WHEELS = re.compile(
    r"no wheels|no usable wheels|no `[^`]+`-compatible wheels|Building from source"
)
CHECK = """
import pkgutil
import sys
from importlib import import_module
from importlib.metadata import metadata, version
from importlib.util import find_spec
if find_spec("cuescope"):
    import cuescope.application
from cuescope_core.registry import Registry
registry = Registry()
entries = registry.entries
problems = {f"{e.kind} {e.name}": p.reason for e in entries if (p := registry.check(e))}
problems |= {name: fault.reason for name, fault in registry.damaged.items()}
name = sys.argv[1].replace("-", "_")
modules = [name, *(m.name for m in pkgutil.walk_packages(import_module(name).__path__, name + "."))]
may_lack = set(modules if metadata(sys.argv[1]).get_all("Provides-Extra") else ())
if find_spec("torch"):
    modules.append("cuescope_sdk.torch")
for module in modules:
    if not module.endswith("__main__"):
        try:
            import_module(module)
        except ImportError as error:
            if module not in may_lack:
                problems[module] = str(error)
print(version(sys.argv[1]), len(entries), "plugins", problems or "ok")
sys.exit(bool(problems))
"""

RESOLUTIONS = ("highest", "lowest-direct")


def prove(
    root: Path,
    files: Path,
    only: Sequence[str],
    pythons: Sequence[str],
    resolutions: Sequence[str],
    *,
    install: bool = True,
) -> None:
    """Print a line for each package, Python and resolution; raise ReleaseError where one fails.

    What passed in the last days, with packages of the same contents, is not proved again.
    """
    dists = {dist.name: dist for dist in read_dists(root)}
    names = list(only or [*dists, OLDER_PLUGIN])
    if unknown := set(names) - dists.keys() - {OLDER_PLUGIN}:
        raise ReleaseError(f"{', '.join(sorted(unknown))}: no package of this checkout")
    if unknown := set(resolutions) - set(RESOLUTIONS):
        raise ReleaseError(
            f"{', '.join(sorted(unknown))}: expected of {', '.join(RESOLUTIONS)}"
        )
    kept = Kept(files.with_name(f"{files.name}.proofs.jsonl"))
    faults: dict[str, None] = {}
    with TemporaryDirectory() as place, local_index(files) as index:
        machine = Machine(find_uv(root), index, Path(place))
        for version in pythons:
            python = find_python(machine.uv, version) if install else None
            proofs = proofs_on(
                machine, root, dists, names, version, python, resolutions
            )
            for name, how, proof in proofs:
                wheels = contents_for(name, dists, files, root)
                question = Question(name, version, how, python is not None, wheels)
                outcome = kept.find(question)
                if outcome is None:
                    started = time.monotonic()
                    outcome = outcome_of(proof)
                    if not outcome.startswith((BROKEN, NONE_HERE)):
                        kept.add(question, outcome)
                    outcome += f" ({time.monotonic() - started:.0f} s)"
                typer.echo(f"{name}, Python {version}, {how}: {outcome}")
                if outcome.startswith(BROKEN):
                    faults[name] = None
    if faults:
        raise ReleaseError(f"{len(faults)} proofs failed: {', '.join(faults)}")


def proofs_on(
    machine: Machine,
    root: Path,
    dists: dict[str, Dist],
    names: Sequence[str],
    version: str,
    python: str | None,
    resolutions: Sequence[str],
) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """What is proved on a version of Python: a name, how it is installed, what to call.

    Without an interpreter, packages are resolved for that version and not installed.
    """
    packages = [name for name in names if name != OLDER_PLUGIN]
    for resolution, name in product(resolutions, packages):
        lines = requirements(dists, name, resolution)
        if python is None:
            yield (
                name,
                resolution,
                partial(resolve, machine, lines, resolution, version),
            )
            continue
        yield name, resolution, partial(load, machine, python, name, lines, resolution)
        if name == START and resolution == "highest":
            readme = partial(follow, machine, root, python, lines, resolution)
            yield name, "README", readme
    if OLDER_PLUGIN in names and python:
        yield OLDER_PLUGIN, "highest", partial(use_older, machine, dists, python)


def outcome_of(proof: Callable[[], str]) -> str:
    """What a proof says, or in one line what it failed of."""
    try:
        return proof()
    except ReleaseError as error:
        is_missing = NO_WHEELS.search(str(error))
        return f"{NONE_HERE if is_missing else BROKEN}{error}"


def contents_for(name: str, dists: dict[str, Dist], files: Path, root: Path) -> str:
    """A digest of the packages that a proof stands on, and of the README that it follows."""
    wanted = OLDER_NEEDS if name == OLDER_PLUGIN else [name]
    modules = [dists[each].module for each in closure(wanted, dists.values())]
    wheels = [wheel for module in modules for wheel in files.glob(f"{module}-*.whl")]
    more = [readme_section(root)] if name == START else []
    return contents(wheels, *more)


# ------------------------------------------------------------------------------------------ alone


def load(
    machine: Machine, python: str, name: str, lines: Sequence[str], resolution: str
) -> str:
    """Install a package with what it declares and nothing else, and load its plugins."""
    machine.create(python)
    machine.install(lines, resolution)
    return machine.run("-c", CHECK, name).strip()


def follow(
    machine: Machine, root: Path, python: str, lines: Sequence[str], resolution: str
) -> str:
    """Install a package, and do what the README says beside it."""
    machine.create(python)
    machine.install(lines, resolution)
    return use(machine, root)


def resolve(
    machine: Machine, lines: Sequence[str], resolution: str, version: str
) -> str:
    """Find the wheels of a package and of all that it needs."""
    count = machine.resolve(lines, resolution, version)
    return f"wheels of {count} packages, not installed"


def requirements(dists: dict[str, Dist], name: str, resolution: str) -> list[str]:
    """What is asked of the installer to prove a package."""
    if resolution.startswith("lowest"):
        return declared(dists, [name])
    return [f"{name}=={dists[name].project['version']}"]


def declared(dists: dict[str, Dist], wanted: Sequence[str]) -> list[str]:
    """All that packages declare, and those of ours that they need, as direct requirements.

    uv takes the lowest version of what is direct. Of what others need it takes the highest: their
    lower bounds are not ours to prove.
    """
    waiting = [Requirement(line) for line in wanted]
    lines: dict[str, None] = {}
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        if not is_ours(requirement.name):
            lines[str(requirement)] = None
            continue
        project = dists[requirement.name].project
        lines[f"{requirement.name}=={project['version']}"] = None
        extras = project.get("optional-dependencies", {})
        waiting += map(Requirement, project.get("dependencies", []))
        for extra in requirement.extras:
            waiting += map(Requirement, extras[extra])
    return list(lines)
