"""`cuescope.toml`, or `[tool.cuescope]` of pyproject.toml: what need not be typed in this folder.

Nobody typed what a file that lies in a folder says, so it is used once a person has allowed it
(`cuescope init`): for its content at its place, on this machine.
"""

import tomllib
import warnings
from collections.abc import Mapping, Sequence
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


def with_project(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """The words of a command line, and what the file of the folder says, by command and parameter.

    `audit` without a method is `investigate`: every method that fits, or those of the file.
    """
    if not words or words[0] not in COMMANDS or set(words) & NO_AUDIT:
        return list(words), {}
    command, *typed = words
    project = allowed_project()
    if command == "audit" and not _names_method(typed):
        methods = () if project is None else project.methods
        if len(methods) == 1:
            typed = [methods[0].use, *typed]
        else:
            command = "investigate"
    own = (
        {} if project is None else _values(project, typed if command == "audit" else ())
    )
    return [command, *typed], {command: own}


def _names_method(typed: Sequence[str]) -> bool:
    if typed and not typed[0].startswith("-"):
        return True
    from cuescope.cli.external import installed

    names = {entry.name for entry in installed().of_kind("method")}
    return "--cue" in typed or any(word.partition(":")[0] in names for word in typed)


def _values(project: "Project", typed: Sequence[str]) -> dict[str, Any]:
    """What the file says, by the parameters of commands; `typed` begins with the method, if any."""
    values: dict[str, Any] = {
        name: getattr(project, name) for name in project.model_fields_set & SETTINGS
    }
    for role, uses in (("model", project.models), ("data", project.data)):
        if len(uses) == 1:
            values[role] = uses[0].use
            values[f"{role}_option"] = _pairs(uses[0].options)
    values["tool"] = _pairs(project.tools)
    values["tool_option"] = _pairs(_by_owner(project.tool_options))
    by_name = {method.use: method.options for method in project.methods}
    if typed:
        values["method_option"] = _pairs(by_name.get(typed[0], {}))
    else:
        values["methods"] = ",".join(by_name) or None
        values["method_option"] = _pairs(_by_owner(by_name))
    return {name: value for name, value in values.items() if value not in (None, [])}


def _by_owner(options: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{name}.{key}": v for name, of in options.items() for key, v in of.items()}


def _pairs(options: Mapping[str, Any]) -> list[str]:
    from cuescope_core.request import option_text

    return [f"{key}={option_text(value)}" for key, value in options.items()]


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
