"""`cuescope investigate`: all methods that fit, their cues merged and tested, one report."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import (
    Asking,
    FoldsOption,
    Output,
    Pairs,
    UnfinishedError,
    by_role,
    calls,
    echo,
    open_runner,
    pairs,
    prints,
    show_result,
    spread,
    stdout,
)
from cuescope_confirm.command import investigating
from cuescope_confirm.command.outputs import InvestigationPlan
from cuescope_sdk.report import count_of

command = typer.Typer(add_completion=False, rich_markup_mode=None)
COLUMNS = (
    "runs",
    "answers known",
    "model calls",
    "inputs",
    "time of the model",
    "until",
)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@calls("cuescope_confirm.command.investigating:investigate")
@prints(
    "cuescope_core.conclusions:Report",
    "cuescope_confirm.command.outputs:InvestigationPlan",
)
def investigate(
    asked: Asking,
    output: Output,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Find cues in these recorded answers. A --model is asked only what decides.",
        ),
    ] = None,
    log_option: Annotated[
        Pairs, typer.Option("-L", metavar="KEY=VALUE", help="Option of the log.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Only these. [default: all that fit]"),
    ] = None,
    method_option: Annotated[
        Pairs,
        typer.Option(
            "-O",
            metavar="METHOD.KEY=VALUE",
            help="Option of a method, or of confirm.",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="Test on this split of the data. [default: cues are found in one half of the "
            "data, and tested in the other]",
        ),
    ] = None,
    folds: FoldsOption = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run the methods again that have run.")
    ] = False,
) -> None:
    """Run every installed method that fits, and test whether the cues that they find are causes.

    Cues are found in one half of the data. Findings that are one cue are merged, each cue is tested
    in the other half by interventions beside controls, and one report tells which are causes, the
    most harmful first. With --folds each part of the data is tested by what was found in the
    others. What was interrupted goes on when the same command is given again. With --log cues are
    found in recorded answers, at no model call, and --model is asked what decides.
    """
    with open_runner(
        cache_responses=not asked.no_cache,
        quiet=output.quiet,
        verbose=output.verbose,
    ) as runner:
        try:
            result = investigating.investigate(
                runner,
                asked.draft,
                methods=None if methods is None else (methods,),
                options=by_role(pairs("-O", method_option or ()), "-O method"),
                on=on,
                folds=folds,
                again=again,
                log=log,
                log_options=pairs("-L", log_option or ()),
                plan=asked.plan,
                out=asked.out,
            )
        except UnfinishedError as stopped:
            show_result(stopped.report, output)
            raise stopped.error from None
        if isinstance(result, InvestigationPlan):
            show_plan(result, as_json=output.as_json)
            return
        show_result(result, output)


def show_plan(planned: InvestigationPlan, *, as_json: bool) -> None:
    """Print what would run, what not and why, and what it would cost."""
    from rich.table import Table
    from rich.text import Text

    if as_json:
        planned.show()
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    for name in planned.done:
        table.add_row(name, "", "has run", "", "", "")
    silent = 0
    for name, plan in planned.plans.items():
        # without another part the same is asked, and was counted there
        if "/" in name and not plan.model_calls and plan.until is None:
            silent += 1
            continue
        calls = f"{plan.model_calls:,}"
        until = ""
        if not plan.is_whole:
            calls = f"at least {calls}"
            until = plan.until or ""
            if plan.more:
                calls += f", at most {plan.model_calls + plan.more:,}"
        inputs = f"{plan.model_inputs:,}"
        cells = (name, f"{plan.cached:,}", calls, inputs, plan.model_time, until)
        table.add_row(*map(Text, cells))
    stdout().print(table)
    if silent:
        echo(
            f"{count_of(silent, 'runs')} more, each without one part of the data, ask nothing new."
        )
    for line in planned.lines:
        echo(line)
