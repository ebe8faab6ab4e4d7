"""`cuescope plugins info NAME` and `cuescope plugins install DIST`."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from rich.table import Table
from rich.text import Text

from cuescope.cli.terminal import out
from cuescope.errors import UserError, nearest
from cuescope.registry import Registry

HELP = {"help_option_names": ["-h", "--help"]}
info = typer.Typer(add_completion=False, rich_markup_mode=None)
install = typer.Typer(add_completion=False, rich_markup_mode=None)


@info.command(context_settings=HELP)
def describe(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Describe a plugin: where it comes from, what it can do, its options."""
    registry = Registry()
    entries = [entry for entry in registry.entries if entry.name == name]
    if not entries:
        known = sorted({entry.name for entry in registry.entries if entry.kind != "command"})
        raise UserError(
            f"no plugin '{name}' is installed",
            remedy=nearest(name, known) or "`cuescope plugins` lists them",
        )
    for entry in entries:
        loaded = registry.load(entry)
        said = loaded.__doc__ if entry.kind != "command" and loaded.__doc__ else entry.summary
        head = f"{entry.kind} {entry.name} ({entry.dist} {entry.version})"
        typer.echo(f"{head}: {said.strip().splitlines()[0]}")
        if entry.kind == "command":
            continue
        for what in ("requires", "capabilities"):
            for key, value in getattr(loaded, what, ()):
                words = ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)
                typer.echo(f"{what} {key}: {words or 'none'}")
        table = Table("option", "takes", "default", "meaning", box=None, padding=(0, 2, 0, 0))
        for option, field in loaded.Options.model_fields.items():
            shown = f"{option} (ARG)" if option == loaded.Options.argument else option
            default = "needed" if field.is_required() else default_in_words(field.get_default())
            takes = type_in_words(field.annotation)
            table.add_row(*map(Text, (shown, takes, default, field.description or "")))
        if table.row_count:
            out().print(table)


def type_in_words(annotation: Any) -> str:
    """What an option takes, as it is written on a command line.

    >>> type_in_words(tuple[Literal["a", "b"], ...] | None)
    'a or b, several, or none'
    """
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind is Annotated:
        return type_in_words(parts[0])
    if kind is Literal:
        return " or ".join(map(str, parts))
    if kind in (Union, UnionType):
        return ", or ".join(map(type_in_words, parts))
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "{key: value}"
    if kind in (tuple, list, frozenset, set):
        return f"{type_in_words(parts[0])}, several"
    words = {str: "text", float: "number", int: "whole number", bool: "true or false"}
    words |= {NoneType: "none", Any: "anything"}
    return words.get(annotation, getattr(annotation, "__name__", str(annotation)).lower())


def default_in_words(value: Any) -> str:
    """A default as it is written on a command line."""
    if isinstance(value, (tuple, list, frozenset, set)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value in (None, {}) else str(value)


@install.command(context_settings=HELP)
def fetch(dist: Annotated[str, typer.Argument(metavar="DIST", help="As pip takes it.")]) -> None:
    """Install a plugin's package into this environment."""
    if find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", dist]
    elif uv := shutil.which("uv"):
        command = [uv, "pip", "install", "--python", sys.executable, dist]
    else:
        raise UserError(
            "neither pip nor uv is here", remedy=f"`{sys.executable} -m ensurepip` brings pip"
        )
    if code := subprocess.run(command, check=False).returncode:
        raise typer.Exit(code)
