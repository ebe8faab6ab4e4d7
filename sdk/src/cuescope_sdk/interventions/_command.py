"""`cuescope confirm RUN`: does each cue of a run cause the answer? Tested on samples held out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.cli.options import (
    Allow,
    AsJson,
    BatchSize,
    DataOptions,
    Device,
    Executor,
    ModelOptions,
    Quiet,
    ToolOptions,
    TypedData,
    TypedModel,
    Verbose,
    by_role,
    open_runner,
)
from cuescope.errors import UserError, nearest
from cuescope_sdk._other_part import (
    Planned,
    Run,
    Seed,
    Typed,
    apart,
    ask_again,
    beside,
    find_then_test,
    require_same_data,
    trusting,
)
from cuescope_sdk.interventions._several import find_others

METHOD = "confirm"
PARTS = 2  # found in the first, tested in the other
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def confirm(
    run: Run,
    others: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN ...]",
            help="More runs on the same model and data: what is one cue is tested once.",
        ),
    ] = None,
    interventions: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME",
            help="Intervention, as often as you like. [default: all that apply]",
        ),
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--feature",
            metavar="KEY[@LABEL]",
            help="Test this feature of the run, found or not. [default: the run's findings]",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="Test on this split of the data. [default: the run is made again on half of its "
            "data, and the other half is for testing]",
        ),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=SPEC",
            help="detector, segmenter or image-editor; [default: the run's own]",
        ),
    ] = None,
    tool_option: ToolOptions = None,
    option: Annotated[
        list[str] | None, typer.Option("-O", metavar="KEY=VALUE", help="Option of the test.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Most findings, the first ones.")] = 10,
    model: TypedModel = None,
    model_option: ModelOptions = None,
    data: TypedData = None,
    data_option: DataOptions = None,
    allow: Allow = None,
    executor: Executor = None,
    device: Device = "auto",
    seed: Seed = None,
    batch_size: BatchSize = 64,
    plan: Planned = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="[default: beside RUN, RUN-confirmed]")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Test whether the cues of RUN cause the answers, or only accompany them.

    Each cue is located in samples that the run has not seen, taken out and put in, in every way
    that applies, and each way is held against a placebo. The verdict is causes, accompanies or
    cannot tell, and says what is missing.
    """
    from cuescope.runs import load_report
    from cuescope.spec import pairs

    report = load_report(run)
    folder = out or beside(run, "confirmed")
    typed = Typed.of(model, data, model_option, data_option, allow)
    of_tools = by_role(pairs("-T", tool_option or ()))
    # what is typed for a tool here is as good as allowed
    words = {option for options in of_tools.values() for option in options}
    typed = replace(typed, allow=typed.allow | words)
    with open_runner(out=folder, quiet=quiet, verbose=verbose) as runner:
        registry = runner.context.registry
        registry.find("method", METHOD)  # a missing package is told before hours of answers
        way = {"executor": executor, "device": device, "batch_size": batch_size}
        way |= {} if seed is None else {"seed": seed}
        runner, request = ask_again(runner, run, typed)
        request = request.model_copy(update=way)
        tools = {role: spec for role, spec in request.tools.items() if role in _roles(registry)}
        named = pairs("--tool", tool or ())
        settings = {r: o for r, o in request.tool_options.items() if r in tools.keys() - named}
        for role, set_by_user in of_tools.items():
            settings[role] = {**settings.get(role, {}), **set_by_user}
        tools |= named
        if unknown := sorted(settings.keys() - tools.keys()):
            raise UserError(
                f"-T {unknown[0]}: no tool has this role here",
                remedy=nearest(unknown[0], tools) or f"Add --tool {unknown[0]}=SPEC",
            )
        _check(registry, request, interventions or [], tools)
        if not (features or others or report.findings):
            raise UserError(
                f"{run} has no finding",
                expected="a run that found a cue",
                remedy="There is nothing to confirm; --feature KEY tests what is no finding",
            )
        given = [each.resolve() for each in (run, *(others or ()))]
        if len(set(given)) < len(given):
            raise UserError("a run is named twice", expected="each run once")
        require_same_data(report, runner, request)
        found, finding, rest = apart(run, request, on, registry, folder / "found", parts=PARTS)
        own: dict[str, Any] = {"run": str(found)}
        own |= {"interventions": interventions} if interventions else {}
        own |= {"features": features} if features else {}
        own |= {"top": top} if top != 10 else {}
        if others:
            place = folder / "found-others"
            more = find_others(runner, others, request, typed, on, place, parts=PARTS, plan=plan)
            own["others"] = [str(each) for each in more]
        trial = rest.model_copy(
            update={
                "method": METHOD,
                "method_options": own | pairs("-O", option or ()),
                "tools": tools,
                "tool_options": settings,
            }
        )
        find_then_test(
            runner,
            run,
            finding,
            trial,
            trusting(runner, "method"),
            found=found,
            share="half",
            why="no cue is tested where it was found",
            plan=plan,
            as_json=as_json,
            any_feature=bool(features or others),
        )


def _roles(registry: Any) -> frozenset[str]:
    requires = registry.load(registry.find("method", METHOD)).requires
    return frozenset(requires.tools | requires.may_use)


def _check(registry: Any, request: Any, names: list[str], tools: dict[str, str]) -> None:
    """Raise UserError for an intervention that this model or these tools cannot serve."""
    from cuescope.spec import Spec

    model = registry.load(registry.find("model", Spec.parse(request.model).name))
    for name in names:
        kind = registry.load(registry.find("intervention", Spec.parse(name).name))
        if lacking := kind.lacks(model.capabilities, list(tools)):
            raise UserError(
                f"--with {name} cannot be used on {request.model}",
                got=lacking,
                remedy="Leave --with out: all interventions that apply are taken",
            )
