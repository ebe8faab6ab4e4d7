"""`cuescope plugins info NAME` and `cuescope plugins install DIST`."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Annotated, get_args

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
        typer.echo(f"{entry.kind} {entry.name} ({entry.dist} {entry.version}): {entry.summary}")
        loaded = registry.load(entry)
        if entry.kind == "command":
            continue
        for what in ("requires", "capabilities"):
            for key, value in getattr(loaded, what, ()):
                words = ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)
                typer.echo(f"{what} {key}: {words or 'none'}")
        table = Table("option", "takes", "default", "meaning", box=None, padding=(0, 2, 0, 0))
        for option, field in loaded.Options.model_fields.items():
            shown = f"{option} (ARG)" if option == loaded.Options.argument else option
            default = "needed" if field.is_required() else str(field.get_default())
            plain = isinstance(field.annotation, type) and not get_args(field.annotation)
            takes = field.annotation.__name__ if plain else str(field.annotation)
            takes = takes.replace("typing.", "")
            table.add_row(*map(Text, (shown, takes, default, field.description or "")))
        if table.row_count:
            out().print(table)


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
