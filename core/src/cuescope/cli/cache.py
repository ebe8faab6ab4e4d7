"""`cuescope cache repair`: what can be read of damaged cache files is saved."""

import typer

from cuescope.cli.echo import echo

app = typer.Typer(help="Look after the answers that are kept on this computer.")


@app.callback()
def cache() -> None:
    """Look after the answers that are kept on this computer."""


@app.command("repair")
def repair() -> None:
    """Check every row of every cache file; of a damaged file, save what can be read."""
    from cuescope.context import cache_folder
    from cuescope.errors import UserError
    from cuescope.store import AnyCache

    folder = cache_folder()
    files = sorted(folder.rglob("*.sqlite"))
    for file in files:
        name = file.relative_to(folder)
        try:
            kept, lost = AnyCache(file).repair()
        except UserError as error:
            echo(f"{name}: {error}")
        else:
            echo(f"{name}: {kept:,} rows" + (f", {lost:,} were lost" if lost else ", all sound"))
    if not files:
        echo(f"There is nothing in {folder}.")
    for file in sorted(folder.rglob("*.damaged-*")):
        if file.suffix != "-wal":
            echo(f"{file.relative_to(folder)}: set aside; delete it when you do not need it")
