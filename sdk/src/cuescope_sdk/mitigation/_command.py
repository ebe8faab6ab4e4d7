"""`cuescope mitigate RUN --with NAME`: a remedy for a run's cues, tried on samples held out."""

from pathlib import Path
from typing import Annotated

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
    TypedData,
    TypedModel,
    Verbose,
    open_runner,
)
from cuescope.errors import UserError
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

METHOD = "mitigation"
PARTS = 3  # found in the first, fitted and measured in the others
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def mitigate(
    run: Run,
    mitigator: Annotated[
        str, typer.Option("--with", metavar="NAME", help="Mitigator: `cuescope plugins list`.")
    ],
    on: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="Fit and measure on this split of the data. [default: the run is made again on a "
            "third of its data, and the rest is for fitting and measuring]",
        ),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("-O", metavar="KEY=VALUE", help="Option of the mitigator.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=WORDS",
            help="What a finding shows, for mitigators that tell the model: cluster-03='red "
            "corner'. [default: as the run's checks or its namer say]",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Most findings, the first ones.")] = 20,
    placebos: Annotated[
        int, typer.Option(min=0, help="Times that it is fitted to cues drawn at random.")
    ] = 3,
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
        Path | None, typer.Option(metavar="DIR", help="[default: beside RUN, RUN-mitigated-NAME]")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Learn how the model can do without the cues of RUN, and measure whether it helps.

    Cues are found on one part of the data, the remedy is learned on a second and measured on a
    third, beside two placebos. What was learned is kept: -M mitigated=DIR/mitigated audits the
    mitigated model.
    """
    from cuescope.runs import load_report
    from cuescope.spec import Spec, pairs

    report = load_report(run)
    plugin = Spec.parse(mitigator).name
    folder = out or beside(run, f"mitigated-{plugin}")
    with open_runner(out=folder, quiet=quiet, verbose=verbose) as runner:
        registry = runner.context.registry
        registry.find("mitigator", plugin)  # a wrong name is told before hours of answers
        way = {"executor": executor, "device": device, "batch_size": batch_size}
        way |= {} if seed is None else {"seed": seed}
        typed = Typed.of(model, data, model_option, data_option, allow)
        runner, request = ask_again(runner, run, typed)
        request = request.model_copy(update=way)
        require_same_data(report, runner, request)
        stamp = report.provenance.model
        own = {
            "mitigator_options": pairs("-O", option or ()),
            "names": pairs("--name", name or ()),
            "top": top,
            "placebos": placebos,
        }
        fields = registry.load(registry.find("method", METHOD)).Options.model_fields
        changed = {key: value for key, value in own.items() if value != fields[key].default}
        found, finding, rest = apart(run, request, on, registry, folder / "found", parts=PARTS)
        if name and finding is not None:
            raise UserError(
                f"--name: {run} looked at all of its data, and is made again on a third of it, "
                "where findings get other keys",
                expected="--on SPLIT, or a run made with --part 1/3",
                remedy=f"cuescope mitigate {found}"
                if (found / "report.json").exists()
                else "Add --on SPLIT",
            )
        trial = rest.model_copy(
            update={
                "method": METHOD,
                "method_options": {
                    "run": str(found),
                    "mitigator": mitigator,
                    **changed,
                    "save": str(folder / "mitigated"),
                    "model": {"model": stamp.fingerprint or "", "spec": request.model},
                },
                "tools": {},
                "tool_options": {},
            }
        )
        find_then_test(
            runner,
            run,
            finding,
            trial,
            trusting(runner, "method"),
            found=found,
            share="a third",
            why="nothing is learned or measured where the cues were found",
            plan=plan,
            as_json=as_json,
        )
