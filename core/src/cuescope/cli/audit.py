"""`cuescope audit METHOD --model SPEC --data SPEC`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import AsJson, NoCache, Observers, make_request, open_runner

if TYPE_CHECKING:
    from cuescope.request import Request
    from cuescope.runner import Runner

Pairs = list[str] | None


def audit(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="Method, NAME[:ARG].")],
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="Model, NAME[:ARG].")],
    data: Annotated[str, typer.Option("--data", metavar="SPEC", help="Data set, NAME[:ARG].")],
    model_option: Annotated[
        Pairs, typer.Option("-M", metavar="KEY=VALUE", help="Option of the model.")
    ] = None,
    data_option: Annotated[
        Pairs, typer.Option("-D", metavar="KEY=VALUE", help="Option of the data set.")
    ] = None,
    method_option: Annotated[
        Pairs, typer.Option("-O", metavar="KEY=VALUE", help="Option of the method.")
    ] = None,
    tool: Annotated[
        Pairs, typer.Option("--tool", metavar="ROLE=SPEC", help="Helper model, by its role.")
    ] = None,
    tool_option: Annotated[
        Pairs, typer.Option("-T", metavar="ROLE.KEY=VALUE", help="Option of a tool.")
    ] = None,
    verify_with: Annotated[
        Pairs, typer.Option("--verify-with", metavar="NAME", help="Method that verifies too.")
    ] = None,
    executor: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Where the model answers.")
    ] = None,
    observe: Observers = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, float16 or bfloat16.")] = "float32",
    seed: Annotated[int, typer.Option(help="Every random draw depends on it.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Audit this many samples, drawn by seed.")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Trials a model call.")] = 64,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run. [default: runs/...]")
    ] = None,
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Audit one model with one method on one data set."""
    from cuescope.spec import by_role, pairs

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
        batch_size=batch_size,
    )
    runner = open_runner(out=out, observe=observe or (), cache_responses=not no_cache)
    if plan:
        show_plan(runner, request, as_json=as_json)
    else:
        audit_and_show(runner, request, as_json=as_json)


def audit_and_show(runner: "Runner", request: "Request", *, as_json: bool = False) -> None:
    """Run a request and print its report, and where the pictures are."""
    from cuescope.cli.terminal import stdout
    from cuescope.report.terminal import show

    report = runner.run(request)
    if as_json:
        echo_json(report.model_dump_json(indent=1))
        return
    show(report, stdout())
    echo(f"pictures: {runner.folder(request).path / 'report.html'}")


def show_plan(runner: "Runner", request: "Request", *, as_json: bool = False) -> None:
    """Print what a request would cost."""
    from cuescope.report.terminal import by_condition

    plan = runner.plan(request)
    if as_json:
        echo_json(json.dumps(asdict(plan), indent=1))
        return
    least = "at least " if plan.until else ""
    pace = "unknown until this model has answered once here"
    lines = {
        "trials": f"{least}{plan.trials:,}{by_condition(plan.conditions)}",
        "cache hits": f"{plan.cached:,}",
        "model calls": f"{least}{plan.model_calls:,}",
        "time": pace if plan.seconds is None else f"{least}{plan.seconds:.0f} s",
        **{work: f"{count:,}" for work, count in plan.tool_calls.items()},
    }
    for name, words in lines.items():
        echo(f"{name:<{max(map(len, lines))}}  {words}")
    if plan.until:
        echo(f"What follows depends on {plan.until}.")
        for key, text in plan.notes.items():
            echo(f"{key}: {text}")
