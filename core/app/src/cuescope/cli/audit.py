"""`cuescope audit METHOD --model SPEC --data SPEC`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.bundles import Asked, Output, spread
from cuescope.cli.echo import echo_json
from cuescope.cli.options import Observers, Pairs, complete
from cuescope.cli.program import program
from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from cuescope.python.stored import StoredReport
    from cuescope_core.conclusions import Report
    from cuescope_core.planning import Plan

CUE = "cue"  # the method that measures given cues


@spread
def audit(
    asked: Asked,
    output: Output,
    method: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD",
            help="Method, NAME[:ARG]. [default: all that fit]",
            autocompletion=complete("names", "method"),
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
            autocompletion=complete("options", "method"),
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
    with asked.runner(output, observe=observe or ()) as runner:
        if asked.plan:
            from cuescope.cli.planning import show_plan

            show_plan(runner, request, as_json=output.as_json)
            return
        show_result(runner.audit(request), output)


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
