"""`cuescope dev new KIND NAME`: a plugin package that works, to be changed into one's own."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import echo, prints_lines
from cuescope_commands.scaffold.kinds import KINDS

new = typer.Typer(add_completion=False, rich_markup_mode=None)


@new.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints_lines
def run(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"One of {', '.join(KINDS)}.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="As in 'my-method'.")],
    folder: Annotated[
        Path,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Where the package's folder is made.",
        ),
    ] = Path(),
    hooks: Annotated[
        bool,
        typer.Option("--hooks", help="A method that changes samples, by its hooks."),
    ] = False,
    classifier: Annotated[
        bool,
        typer.Option("--classifier", help="A model with fixed outputs, own weights."),
    ] = False,
) -> None:
    """Write a plugin package whose tests pass as they are."""
    from cuescope_commands.scaffold.package import write

    form = "hooks" if hooks else "classifier" if classifier else None
    made = write(kind, name, folder, form)
    echo(f"Wrote {made}. Next:")
    echo(f"  pip install -e '{made}[testing]'")
    echo(f"  pytest {made}")
    echo(f"  cuescope plugins info {name}")
