"""`cuescope demo`: a tiny VLM learns a bias, and the audit finds it."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cuescope.cli.audit import show_result
from cuescope.cli.bundles import Output
from cuescope.cli.echo import echo, echo_lines
from cuescope.cli.options import AsJson, Quiet, Verbose, open_runner, runs_folder
from cuescope.cli.paths import output_folder

STORY = """\
A small video model learns to say where a blue disc moves: north, south, east or west.
Its training clips have a flaw: {flaw}.
Did the model learn to see motion, or {shortcut}? The method TRoVe does not know about the flaw.
"""


class Cue(Enum):
    """The planted cue."""

    background = "background"
    object = "object"
    attribute = "attribute"


# what the training clips show, what a model may learn instead of motion
FLAWS = {
    Cue.background: ("where the disc moves south, the background is mostly red", "red"),
    Cue.object: (
        "where the disc moves south, a red square mostly lies beside it",
        "to look for the square",
    ),
    Cue.attribute: (
        "where the disc moves south, it is mostly red itself",
        "the colour of the disc",
    ),
}


def demo(
    cue: Annotated[
        Cue, typer.Option(help="What gives 'moving south' away.")
    ] = Cue.background,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of data, training and audit.")
    ] = 0,
    out: Annotated[
        Path | None, output_folder("Folder of the run. [default: runs/demo...]")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Train a tiny biased model, find the cue that it uses, show it."""
    from cuescope_core.request import make_request

    request = make_request(
        method="trove",
        model="toy",
        data=f"moving-shapes:{cue.value}",
        data_options={"seed": seed} if seed else {},
        seed=seed,
    )
    if not as_json:
        flaw, shortcut = FLAWS[cue]
        echo_lines(STORY.format(flaw=flaw, shortcut=shortcut))
        echo("")
    # a name that can be typed: a request's own folder ends in letters of a digest
    folder = out or runs_folder() / demo_name(cue, seed)
    with open_runner(out=folder, quiet=quiet, verbose=verbose) as runner:
        show_result(runner.audit(request), Output(as_json, quiet, verbose))


def demo_name(cue: Cue, seed: int) -> str:
    """The folder of a demo: each cue and seed has its own.

    >>> demo_name(Cue.background, 0), demo_name(Cue.object, 3)
    ('demo', 'demo-object-seed-3')
    """
    other = f"-{cue.value}" if cue is not Cue.background else ""
    return f"demo{other}" + (f"-seed-{seed}" if seed else "")
