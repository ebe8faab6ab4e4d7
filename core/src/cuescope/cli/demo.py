"""`cuescope demo`: a tiny VLM learns a bias, and the audit finds it."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.cli.audit import audit_and_show
from cuescope.cli.echo import echo
from cuescope.cli.options import RUNS, make_request, open_runner

STORY = """\
A small video model learns to say where a blue disc moves: north, south, east or west.
Its training clips have a flaw: where the disc moves south, the background is mostly red.
Did the model learn to see motion, or red? The method TRoVe does not know about the flaw.
"""


def demo(
    cue: Annotated[str, typer.Option(help="background, object or attribute.")] = "background",
    seed: Annotated[int, typer.Option(help="Seed of data, training and audit.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run. [default: runs/demo]")
    ] = None,
) -> None:
    """Train a tiny biased model, find the cue that it uses, show it."""
    request = make_request(
        method="trove",
        model="toy",
        data=f"moving-shapes:{cue}",
        data_options={"seed": seed} if seed else {},
        seed=seed,
    )
    echo(STORY)
    audit_and_show(open_runner(out=out or RUNS / "demo"), request)
    echo("next: cuescope demo --cue object; cuescope plugins; cuescope audit --help")
