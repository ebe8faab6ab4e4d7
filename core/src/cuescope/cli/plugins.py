"""`cuescope plugins`: what is installed, and what is wrong with it."""

import sys
from typing import Annotated, get_args

import typer

from cuescope.cli.external import PluginsCommands
from cuescope.errors import UserError, nearest
from cuescope.registry import Registry

app = typer.Typer(cls=PluginsCommands, help="List, describe, check and install plugins.")
Check = Annotated[bool, typer.Option("--check", help="Import each plugin, and say what is broken.")]
Strict = Annotated[bool, typer.Option("--strict", help="As --check; exit 1 if one is broken.")]


@app.callback(invoke_without_command=True)
def plugins(ctx: typer.Context, check: Check = False, strict: Strict = False) -> None:
    """List the installed plugins (without importing any, unless --check)."""
    if ctx.invoked_subcommand is None:
        show_list(check=check, strict=strict)


@app.command("list")
def list_(check: Check = False, strict: Strict = False) -> None:
    """List the installed plugins."""
    show_list(check=check, strict=strict)


def show_list(*, check: bool, strict: bool) -> None:
    """Print every plugin by kind; broken ones with reason and remedy."""
    registry = Registry()
    problems = {
        entry: registry.check(entry) if check or strict else entry.problem
        for entry in registry.entries
    }
    broken = {entry: problem for entry, problem in problems.items() if problem}
    if not problems:
        typer.echo("No plugin is installed: `pip install cuescope-trove` is a start.")
    for entry in [entry for entry in problems if entry not in broken]:
        does = entry.summary if entry.kind != "command" else f"`cuescope {entry.name}`"
        typer.echo(f"{entry.kind:<8}  {entry.name:<14}  {entry.version:<8}  {does}")
    for entry, problem in broken.items():
        typer.secho(f"broken: {entry.kind} {entry.name} ({entry.dist} {entry.version})", fg="red")
        typer.echo(f"  reason: {problem.reason}\n  remedy: {problem.remedy}")
    if not (check or strict):
        typer.echo("Nothing was imported; `cuescope plugins --check` tries each one.")
    elif not broken:
        typer.echo(f"All {len(problems)} can be imported.")
    if strict and broken:
        raise typer.Exit(1)


@app.command()
def info(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Describe a plugin: where it comes from, what it can do, its options."""
    from rich.table import Table
    from rich.text import Text

    from cuescope.cli.terminal import out

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


@app.command()
def install(dist: Annotated[str, typer.Argument(metavar="DIST", help="As pip takes it.")]) -> None:
    """Install a plugin's package into this environment."""
    import shutil
    import subprocess
    from importlib.util import find_spec

    if dist.startswith("-"):
        raise UserError("plugins install", expected="a package name", got=f"'{dist}'")
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
