"""`cuescope methods`: which methods there are, and which fit one's model and data."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.application import (
    DATA,
    MODEL,
    DataOptions,
    ModelOptions,
    PrintsJson,
    echo,
    prints,
)

if TYPE_CHECKING:
    from cuescope_sdk.choosing import Fit, Question

VERDICTS = ("yes", "weakly", "no", "not here")
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints("cuescope_commands.outputs:MethodFits")
def methods(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="Say of these what each lacks and how to get it; with --cite, cite these.",
        ),
    ] = None,
    model: Annotated[str | None, MODEL] = None,
    data: Annotated[str | None, DATA] = None,
    model_option: ModelOptions = None,
    data_option: DataOptions = None,
    as_json: PrintsJson = False,
    cite: Annotated[
        bool, typer.Option("--cite", help="Print what to cite for methods, as BibTeX.")
    ] = False,
) -> None:
    """Show the methods; with a model or data: which fit, and what is missing.

    The model is judged by what its plugin declares, so its weights are not opened. The data are
    opened, and a few clips are looked at.
    """
    from cuescope.application import Registry, Spec, announce, pairs
    from cuescope_commands.citing import citations
    from cuescope_commands.outputs import MethodFit, MethodFits
    from cuescope_sdk import Context, UserError, nearest
    from cuescope_sdk.choosing import Question

    if cite:
        for line in "\n\n".join(citations(names or [], Registry())).splitlines():
            echo(line)
        return
    model_options = pairs("-O model.KEY", model_option or ())
    data_options = pairs("-O data.KEY", data_option or ())
    question = Question(model, data, model_options, data_options)
    # as in a plan no weights are opened (docs/adr/0012)
    context = Context(announce=announce, planning=True)
    # a class in a file that is typed here
    context.registry.trust(Spec.parse(each).name for each in (model, data) if each)
    # a log has its questions in it, and nobody need name them twice
    question = question.with_own_data(context.registry)
    answers = list(question.fits(context))
    for name in names or ():
        known = [fit.method for fit in answers]
        if name not in known:
            raise UserError(f"no method '{name}'", remedy=nearest(name, known))
    if names:
        answers = [fit for fit in answers if fit.method in names]
    if as_json:
        MethodFits(methods=tuple(map(MethodFit.of, answers))).show()
    elif question.model is None and question.data is None:
        _show_methods(answers)
    else:
        _show_fits(question, answers, whole=bool(names))
        has = question.capabilities(context)
        for name, note in (has.notes if has else {}).items():
            echo(f"{name}: {note}")


def _show_methods(fits: "list[Fit]") -> None:
    for fit in fits:
        # a broken one says nothing of itself, and why it is broken is what is missing
        echo(f"{fit.method}: {fit.finds or fit.lacks[0].what}")
        if fit.installed:
            echo(f"  needs {fit.needs}")
        for lack in fit.lacks:
            echo(f"  {lack.how}")
    echo("With --model SPEC, --data SPEC or both, this says which of them fit.")


def _show_fits(question: "Question", fits: "list[Fit]", *, whole: bool) -> None:
    """The methods that fit, best first; `whole` says of each what it lacks and how to get it."""
    # late: JSON and the plain list do not pay for rich
    from rich.table import Table
    from rich.text import Text

    from cuescope.application import stdout

    ranked = sorted(fits, key=lambda fit: VERDICTS.index(fit.verdict))
    shown = [fit for fit in ranked if whole or fit.verdict in VERDICTS[:2]] or ranked
    heads = ["method", "fits", "what is missing", *(["how to get it"] if whole else [])]
    table = Table(box=None, padding=(0, 2, int(whole), 0))
    for column in heads:
        # folded: a command that is cut off cannot be copied
        table.add_column(column, overflow="fold", ratio=1 if " " in column else None)
    for fit in shown:
        first = (fit.method, fit.verdict)
        for lack in fit.lacks:
            # Text: rich would take what stands in square brackets for markup
            table.add_row(*map(Text, (*first, lack.what, lack.how)[: len(heads)]))
            # name and verdict once, above all that is missing
            first = ("", "")
        if not fit.lacks:
            table.add_row(*map(Text, (*first, "nothing")))
    stdout().print(table)
    for verdict, title in (("no", "Do not fit"), ("not here", "Not installed")):
        named = [f.method for f in ranked if f.verdict == verdict and f not in shown]
        if named:
            echo(f"{title}: {', '.join(named)}.")
    if not whole:
        echo("`cuescope methods METHOD ...` says how to get what a method lacks.")
    usable = [fit for fit in fits if fit.verdict in VERDICTS[:2]]
    if not usable:
        echo("No installed method fits as it is.")
    elif question.model and question.data:
        # what runs as it stands first
        best = min(usable, key=lambda fit: (fit.is_control, len(fit.lacks), fit.enough))
        # with --plan: it ends before costly work, so it can be tried at once (docs/adr/0012)
        line = ["cuescope", "audit", best.method, "--model", question.model]
        line += ["--data", question.data]
        options = {"model": question.model_options, "data": question.data_options}
        for owner, given in options.items():
            for key, value in (given or {}).items():
                line += ["-O", f"{owner}.{key}={value}"]
        # quoted, to be copied into a shell
        echo(f"What an audit would cost: {shlex.join([*line, '--plan'])}")
    else:
        other = "--data" if question.model else "--model"
        echo(f"Name {other} SPEC too, to be surer.")
