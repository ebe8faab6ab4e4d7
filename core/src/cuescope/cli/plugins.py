"""`cuescope plugins`: what is installed, and what is wrong with it."""

from typing import Annotated

import typer

from cuescope.cli.external import PluginsCommands
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
