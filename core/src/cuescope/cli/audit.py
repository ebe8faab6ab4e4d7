"""`cuescope audit METHOD --model SPEC --data SPEC`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli import completion
from cuescope.cli.bundles import Asked, Output, spread
from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import Observers, Pairs, open_runner
from cuescope.cli.program import program
from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from cuescope.python.stored import StoredReport
    from cuescope.rerun import Rerun
    from cuescope.runner import Runner
    from cuescope_core.conclusions import Report
    from cuescope_core.planning import Plan
    from cuescope_core.request import Request

CUE = "cue"  # the method that measures given cues
PLAN_OF_CONFIRM = (
    "that is the audit alone. --confirm then makes it again on half of the data and tests its "
    "findings; how many there are nobody knows before: `cuescope confirm RUN --plan` tells the cost"
)


@spread
def audit(
    asked: Asked,
    output: Output,
    method: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD",
            help="Method, NAME[:ARG]. [default: all that fit]",
            autocompletion=completion.complete_names("method"),
            show_default=False,
        ),
    ] = None,
    cue: Annotated[
        list[Path] | None,
        typer.Option(
            "--cue",
            metavar="FILE",
            help="Measure this cue, in place of METHOD: `cuescope cue make`.",
        ),
    ] = None,
    method_option: Annotated[
        Pairs,
        typer.Option(
            "-O",
            metavar="KEY=VALUE",
            help="Option of the method.",
            autocompletion=completion.complete_method_option,
        ),
    ] = None,
    verify_with: Annotated[
        Pairs,
        typer.Option("--verify-with", metavar="NAME", help="Method that verifies too."),
    ] = None,
    observe: Observers = None,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Audit part K of N, of whole groups; 2+3/3 is two parts.",
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(help="Ask each question N times (for sampled text)."),
    ] = 1,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="With --plan: ask a few trials, for the pace and for what depends on answers.",
        ),
    ] = False,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm", help="Then test the findings: `cuescope confirm` on the run."
        ),
    ] = False,
) -> None:
    """Audit a model on a data set: with one METHOD, or with every one that fits, as investigate.

    What stands in cuescope.toml need not be typed (`cuescope init`).
    """
    from cuescope_core.spec import pairs

    options: dict[str, Any] = dict(pairs("-O", method_option or ()))
    if cue:
        if method not in (None, CUE):
            raise UserError("--cue", expected="no METHOD beside it", got=method)
        method, options = CUE, {**options, "cue": list(map(str, cue))}
    elif method is None:
        raise UserError("METHOD is missing", remedy="Name one: `cuescope methods`")
    request = asked.request(
        method,
        options,
        verify_with=tuple(verify_with or ()),
        part=part,
        repeats=repeats,
    )
    if measure and not asked.plan:
        raise UserError("--measure", expected="it with --plan")
    # before the audit: a missing package is told now, not after hours
    test = None
    if confirm:
        from cuescope.python.words import load_function

        test = load_function("confirm")
    with asked.runner(output, observe=observe or ()) as runner:
        if asked.plan:
            from cuescope.cli.planning import show_plan

            show_plan(runner, request, as_json=output.as_json, measure=measure)
            if test is not None:
                runner.context.announce(PLAN_OF_CONFIRM)
            return
        report = runner.audit(request)
    if test is None or not report.found:
        if test is not None:
            echo("cuescope: no finding is there to be tested", err=True)
        show_result(report, output)
        return
    if not output.as_json:  # else the dossier alone is printed
        show_result(report, output)
    with open_runner(quiet=output.quiet, verbose=output.verbose) as runner:
        tested = test(runner, report.folder, rerun=rerun_of(request))
    show_result(tested, output)


def rerun_of(request: "Request") -> "Rerun":
    """Words of an audit for the test of its findings: nothing need be given again."""
    from cuescope.rerun import Rerun

    # typed for this audit: a guard that it opened need not be opened twice
    names = list(request.model_options)
    for options in request.tool_options.values():
        names += options
    return Rerun(
        allow=tuple(names),
        executor=request.executor,
        device=request.device,
        batch_size=request.batch_size,
    )


def audit_and_show(
    runner: "Runner",
    request: "Request",
    *,
    as_json: bool = False,
) -> "Report":
    """Run a request and print its report."""
    report = runner.run(request)
    show_report(runner, request, report, as_json=as_json)
    return report


# one way for audits, demos and commands of other packages
def show_report(
    runner: "Runner",
    request: "Request",
    report: "Report",
    *,
    as_json: bool,
) -> None:
    """Print a report that is stored."""
    _print_report(
        report, runner.folder(request).path, as_json=as_json, detail=runner.detail
    )


def show_result(result: "StoredReport | Plan", output: Output) -> None:
    """Print what a function of the application returned: a report, or what it would cost."""
    from cuescope.python.stored import StoredReport

    if isinstance(result, StoredReport):
        _print_report(
            result, result.folder, as_json=output.as_json, detail=output.verbose
        )
        return
    from cuescope.cli.planning import print_plan

    print_plan(result, as_json=output.as_json)


def _print_report(
    report: "Report", folder: Path, *, as_json: bool, detail: int
) -> None:
    from cuescope.cli.terminal import stdout
    from cuescope.report.terminal import show

    if as_json:
        echo_json(report.model_dump_json(indent=1))
    else:
        show(report, stdout(), str(folder), program(), detail)
