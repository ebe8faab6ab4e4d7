"""`cuescope.toml`, or `[tool.cuescope]` of pyproject.toml: what need not be typed in this folder.

Nobody typed what a file that lies in a folder says, so it is used once a person has allowed it
(`cuescope init`): for its content at its place, on this machine.
"""

import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuescope.matrix import Project

NAME = "cuescope.toml"
SHARED = "pyproject.toml"
COMMANDS = ("audit", "investigate", "methods")
NO_AUDIT = {"--help", "-h", "--cite"}
SETTINGS = {"executor", "seed", "limit", "device", "dtype", "batch_size"}


def project_file() -> Path | None:
    """The file of the working folder; None where there is none."""
    own = Path(NAME)
    if own.is_file():
        return own
    shared = Path(SHARED)
    if shared.is_file() and "cuescope" in _table(shared.read_bytes()).get("tool", {}):
        return shared
    return None


def allow(file: Path) -> None:
    """Use this file from now on, until its content changes."""
    from cuescope_core.atomic_files import write_atomically

    write_atomically(_mark(file), str(file.resolve()))


def allowed_project() -> "Project | None":
    """What the file of the working folder says; None where there is none, or it is not allowed."""
    if (file := project_file()) is None:
        return None
    if not _mark(file).is_file():
        warnings.warn(
            f"{file} is not used: you have not allowed what it says now. `cuescope init` shows it "
            "and allows it",
            FutureWarning,
            stacklevel=1,
        )
        return None
    return read_project(file)


def read_project(file: Path) -> "Project":
    """The file; raises UserError with the place of what does not fit."""
    from cuescope.matrix import Project, read_file

    return read_file(file, Project)


def with_project(words: Sequence[str]) -> list[str]:
    """The words of a command line, with what the file of the folder says and nobody typed.

    `audit` without a method is `investigate`: every method that fits, or those of the file.
    """
    if not words or words[0] not in COMMANDS or set(words) & NO_AUDIT:
        return list(words)
    command, *typed = words
    project = allowed_project()
    methods = () if project is None else project.methods
    own: list[str] = []
    if command == "audit" and not _names_method(typed):
        if len(methods) == 1:
            own.append(methods[0].use)
        else:
            command = "investigate"
    if project is not None:
        own += list(_own_words(project, command, [*own, *typed]))
    return [command, *own, *typed]


def _names_method(typed: Sequence[str]) -> bool:
    if typed and not typed[0].startswith("-"):
        return True
    from cuescope.cli.external import installed

    names = {entry.name for entry in installed().of_kind("method")}
    return "--cue" in typed or any(word.partition(":")[0] in names for word in typed)


def _own_words(project: "Project", command: str, typed: Sequence[str]) -> Iterator[str]:
    """What the file says, as it is typed; what is typed goes before it."""
    from cuescope_core.request import option_text

    flags = {word.partition("=")[0] for word in typed}
    keys = {value.partition("=")[0] for value in typed}
    options: dict[str, Any] = {}
    for role, uses in (("model", project.models), ("data", project.data)):
        if f"--{role}" not in flags and len(uses) == 1:
            yield from (f"--{role}", uses[0].use)
            options |= _under(role, uses[0].options)
    if command != "methods":
        for name in sorted(project.model_fields_set & SETTINGS):
            flag = f"--{name.replace('_', '-')}"
            if flag not in flags:
                yield from (flag, str(getattr(project, name)))
        for role, spec in project.tools.items():
            if role not in keys:
                yield from ("--tool", f"{role}={spec}")
                options |= _under(f"tool.{role}", project.tool_options.get(role, {}))
        by_name = {method.use: method.options for method in project.methods}
        if command == "audit":
            options |= by_name.get(typed[0], {})
        else:
            if by_name and "--methods" not in flags:
                yield from ("--methods", ",".join(by_name))
            for name, given in by_name.items():
                options |= _under(name, given)
    for key, value in options.items():
        if key not in keys:
            yield from ("-O", f"{key}={option_text(value)}")


def _under(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{name}.{key}": value for key, value in options.items()}


def _mark(file: Path) -> Path:
    """Where it is kept that this file may be used, with this content at this place."""
    import platformdirs

    from cuescope_core.digest import digest

    told = digest("cuescope project", str(file.resolve()), file.read_bytes())
    return platformdirs.user_data_path("cuescope") / "allowed" / told


@lru_cache(maxsize=1)
def _table(content: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError):  # not ours to judge
        return {}
