"""`cuescope methods`: which methods there are, and which fit one's model and data."""

import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.application import DATA, MODEL, DataOptions, ModelOptions, echo, echo_json

if TYPE_CHECKING:
    from cuescope_sdk.choosing import Fit, Question

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def methods(
    model: Annotated[str | None, MODEL] = None,
    data: Annotated[str | None, DATA] = None,
    model_option: ModelOptions = None,
    data_option: DataOptions = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the methods; with a model or data: which fit, what is missing, how to get it.

    The model is judged by what its plugin declares, so its weights are not opened. The data are
    opened, and a few clips are looked at.
    """
    from cuescope.application import announce, pairs
    from cuescope_sdk import Context
    from cuescope_sdk.choosing import Question, fits

    question = Question(
        model, data, pairs("-M", model_option or ()), pairs("-D", data_option or ())
    )
    found = list(fits(question, Context(announce=announce, planning=True)))
    if as_json:
        echo_json(json.dumps([{**asdict(fit), "verdict": fit.verdict} for fit in found], indent=1))
    elif model is None and data is None:
        _show_methods(found)
    else:
        _show_fits(question, found)


def _show_methods(found: "list[Fit]") -> None:
    for fit in found:
        echo(f"{fit.method}: {fit.finds or 'not installed'}")
        if fit.installed:
            echo(f"  needs {fit.needs}")
        for lack in fit.lacks:
            echo(f"  {lack.how}")
    echo("With --model SPEC, --data SPEC or both, this says which of them fit.")


def _show_fits(question: "Question", found: "list[Fit]") -> None:
    from rich.table import Table
    from rich.text import Text

    from cuescope.application import stdout

    table = Table(box=None, padding=(0, 2, 1, 0))
    for column in ("method", "fits", "what is missing", "how to get it"):
        table.add_column(column, overflow="fold", ratio=1 if " " in column else None)
    for fit in found:
        rows = fit.lacks or (None,)
        for number, lack in enumerate(rows):
            first = (fit.method, fit.verdict) if number == 0 else ("", "")
            last = (lack.what, lack.how) if lack else ("nothing", "")
            table.add_row(*map(Text, (*first, *last)))
    stdout().print(table)
    # what runs as it stands first
    usable = [fit for fit in found if fit.verdict in ("yes", "weakly")]
    able = [fit.method for fit in sorted(usable, key=lambda fit: (len(fit.lacks), fit.enough))]
    if not able:
        echo("No installed method fits as it is.")
    elif question.model and question.data:
        line = ["cuescope", "audit", able[0], "--model", question.model, "--data", question.data]
        for flag, given in (("-M", question.model_options), ("-D", question.data_options)):
            line += [
                word for key, value in (given or {}).items() for word in (flag, f"{key}={value}")
            ]
        echo(f"What an audit would cost: {shlex.join([*line, '--plan'])}")
    else:
        other = "--data" if question.model else "--model"
        echo(f"Name {other} SPEC too, to be surer.")
