"""`cuescope audit METHOD --model SPEC --data SPEC`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli import completion
from cuescope.cli.bundles import Asked, Output, spread
from cuescope.cli.calling import current_call
from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import Observers, Pairs
from cuescope.cli.program import program
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.conclusions import Report
    from cuescope.request import Request
    from cuescope.runner import Runner

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
            help="Method, NAME[:ARG].",
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
    """Audit one model with one method on one data set."""
    from cuescope.spec import pairs

    options: dict[str, Any] = dict(pairs("-O", method_option or ()))
    if cue:
        if method not in (None, CUE):
            raise UserError("--cue", expected="no METHOD beside it", got=method)
        method, options = CUE, {**options, "cue": list(map(str, cue))}
    elif method is None:
        raise UserError(
            "METHOD is missing", remedy="Name one, or a cue of yours: --cue FILE"
        )
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
    test = load_confirm() if confirm else None
    with asked.runner(output, observe=observe or ()) as runner:
        if asked.plan:
            from cuescope.cli.planning import show_plan

            show_plan(runner, request, as_json=output.as_json, measure=measure)
            if test is not None:
                runner.context.announce(PLAN_OF_CONFIRM)
            return
        if output.as_json and test is not None:  # the dossier alone is printed
            report = runner.run(request)
        else:
            report = audit_and_show(runner, request, as_json=output.as_json)
        run = runner.folder(request).path
    if test is None:
        return
    if report.found:
        test([str(run), *words_for_confirm(request, output)])
        return
    echo("cuescope: no finding is there to be tested", err=True)
    if output.as_json:
        echo_json(report.model_dump_json(indent=1))


def words_for_confirm(request: "Request", output: Output) -> list[str]:
    """What was typed for an audit, as `confirm` takes it: nothing need be typed again."""
    # what the audit was run with holds for the test too
    words = ["--device", request.device, "--batch-size", str(request.batch_size)]
    if request.executor:
        words += ["--executor", request.executor]
    names = list(request.model_options)
    for options in request.tool_options.values():
        names += options
    for name in names:
        # typed for this audit: a guard that it opened need not be opened twice
        words += ["--allow", name]
    flags = {"--json": output.as_json, "--quiet": output.quiet}
    words += [flag for flag, given in flags.items() if given]
    return words + ["--verbose"] * output.verbose


def load_confirm() -> Callable[[list[str]], object]:
    """The command `confirm`, by its words; raises UserError where its package is missing."""
    from cuescope.registry import Registry

    registry = Registry()
    registry.find("method", "confirm")
    # by name: the core imports no package that brings a command (docs/adr/0022)
    command = registry.load(registry.find("command", "confirm"))
    # its errors come back as exceptions, to be printed in one line
    return partial(command, prog_name="cuescope confirm", standalone_mode=False)


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
    if (call := current_call()) is not None:
        call.report = report
        call.folder = runner.folder(request).path
        return
    from cuescope.cli.terminal import stdout
    from cuescope.report.terminal import show

    if as_json:
        echo_json(report.model_dump_json(indent=1))
        return
    run = runner.folder(request).path
    show(report, stdout(), str(run), program(), runner.detail)
