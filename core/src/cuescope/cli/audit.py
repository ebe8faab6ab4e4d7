"""`cuescope audit METHOD --model SPEC --data SPEC`."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli import completion
from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import (
    AsJson,
    BatchSize,
    DataOptions,
    DataSpec,
    Device,
    DrawSeed,
    Dtype,
    Executor,
    ModelOptions,
    ModelSpec,
    NoCache,
    Observers,
    Pairs,
    Quiet,
    ToolOptions,
    Tools,
    Verbose,
    by_role,
    make_request,
    open_runner,
)
from cuescope.cli.program import program
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.conclusions import Report
    from cuescope.registry import Registry
    from cuescope.request import Request
    from cuescope.runner import Runner

PLAN_OF_CONFIRM = (
    "that is the audit alone. --confirm then makes it again on half of the data and tests its "
    "findings; how many there are nobody knows before: `cuescope confirm RUN --plan` tells the cost"
)


def audit(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="Method, NAME[:ARG].", autocompletion=completion.complete_method
        ),
    ],
    model: ModelSpec,
    data: DataSpec,
    model_option: ModelOptions = None,
    data_option: DataOptions = None,
    method_option: Annotated[
        Pairs,
        typer.Option(
            "-O",
            metavar="KEY=VALUE",
            help="Option of the method.",
            autocompletion=completion.complete_method_option,
        ),
    ] = None,
    tool: Tools = None,
    tool_option: ToolOptions = None,
    verify_with: Annotated[
        Pairs, typer.Option("--verify-with", metavar="NAME", help="Method that verifies too.")
    ] = None,
    executor: Executor = None,
    observe: Observers = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    seed: DrawSeed = 0,
    limit: Annotated[
        int | None, typer.Option(help="Audit this many samples, drawn by seed.")
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Audit part K of N, of whole groups; 2+3/3 is two parts."),
    ] = None,
    batch_size: BatchSize = 64,
    repeats: Annotated[
        int, typer.Option(help="Ask each question so often; for text models at a temperature.")
    ] = 1,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost.")] = False,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="With --plan: ask a few trials, for the pace and for what depends on answers.",
        ),
    ] = False,
    confirm: Annotated[
        bool,
        typer.Option("--confirm", help="Then test the findings: `cuescope confirm` on the run."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run. [default: runs/...]")
    ] = None,
    no_cache: NoCache = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit one model with one method on one data set."""
    from cuescope.cli.hints import refuse_bare_argument
    from cuescope.registry import Registry
    from cuescope.spec import pairs

    registry = Registry()
    refuse_bare_argument("model", model, registry)
    refuse_bare_argument("dataset", data, registry)
    request = make_request(
        method=method,
        model=model,
        data=data,
        method_options=pairs("-O", method_option or ()),
        model_options=pairs("-M", model_option or ()),
        data_options=pairs("-D", data_option or ()),
        tools=pairs("--tool", tool or ()),
        tool_options=by_role(pairs("-T", tool_option or ())),
        verify_with=tuple(verify_with or ()),
        executor=executor,
        device=device,
        dtype=dtype,
        seed=seed,
        limit=limit,
        part=part,
        batch_size=batch_size,
        repeats=repeats,
    )
    if measure and not plan:
        raise UserError("--measure", expected="it with --plan")
    test = confirming(registry) if confirm else None
    with open_runner(
        out=out, observe=observe or (), cache_responses=not no_cache, quiet=quiet, verbose=verbose
    ) as runner:
        if plan:
            from cuescope.cli.planning import show_plan

            show_plan(runner, request, as_json=as_json, measure=measure)
            if test is not None:
                runner.context.announce(PLAN_OF_CONFIRM)
            return
        silent = as_json and test is not None  # the dossier alone is printed
        report = runner.run(request) if silent else audit_and_show(runner, request, as_json=as_json)
        run = runner.folder(request).path
    if test is None:
        return
    if not report.findings:
        echo("cuescope: no finding is there to be tested", err=True)
        if as_json:
            echo_json(report.model_dump_json(indent=1))
        return
    flags = {"--json": as_json, "--quiet": quiet, "--verbose": verbose}
    words = ["--device", device, "--batch-size", str(batch_size)]
    words += ["--executor", executor] if executor else []
    # what was typed here need not be typed again
    of_tools = (name for options in request.tool_options.values() for name in options)
    words += [word for name in (*request.model_options, *of_tools) for word in ("--allow", name)]
    test([str(run), *words, *(flag for flag, given in flags.items() if given)])


def confirming(registry: "Registry") -> Callable[[list[str]], object]:
    """The command `confirm`, by its words; raises UserError where its packages are missing."""
    registry.find("method", "confirm")
    command = registry.load(registry.find("command", "confirm"))
    return partial(command, prog_name="cuescope confirm", standalone_mode=False)


def audit_and_show(runner: "Runner", request: "Request", *, as_json: bool = False) -> "Report":
    """Run a request and print its report, and where the pictures are."""
    from cuescope.cli.terminal import stdout
    from cuescope.report.terminal import show

    report = runner.run(request)
    if as_json:
        echo_json(report.model_dump_json(indent=1))
        return report
    run = runner.folder(request).path
    show(report, stdout(), str(run), program())
    echo(f"pictures: {run / 'report.html'} ({program()} open {shlex.quote(str(run))})")
    return report
