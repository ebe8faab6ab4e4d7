"""`cuescope mitigate RUN --with NAME`: a remedy for a run's cues, tried on samples held out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.application import (
    AskedAgain,
    Folds,
    Output,
    Pairs,
    Run,
    Spec,
    apart,
    ask_again,
    beside,
    find_then_test,
    foretell,
    in_folds,
    open_runner,
    pairs,
    require_same_data,
    require_whole,
    shown_cues,
    spread,
)
from cuescope_mitigation.options import NOT_TRIED, MitigationOptions, require_fit
from cuescope_sdk import Request, StoredRun, UserError

METHOD = "mitigation"
FEW = (
    "Take more samples, name another split with --on, or let few samples serve all jobs with "
    "--folds 4"
)
PARTS = 3  # found in the first, fitted and measured in the others
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
def mitigate(
    run: Run,
    mitigator: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="NAME",
            help="Mitigator: `cuescope plugins list`.",
        ),
    ],
    asked: AskedAgain,
    output: Output,
    option: Annotated[
        Pairs, typer.Option("-O", metavar="KEY=VALUE", help="Option of the mitigator.")
    ] = None,
    name: Annotated[
        Pairs,
        typer.Option(
            metavar="KEY=WORDS",
            help="What a finding shows, for mitigators that tell the model: cluster-03='red "
            "corner'. [default: as the run's checks or its namer say]",
        ),
    ] = None,
    folds: Folds = None,
    tool: Annotated[
        Pairs,
        typer.Option(
            metavar="embedder=SPEC",
            help="Whose eye tells which samples show a cue. [default: the run's own, or the model]",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Most findings, the first ones.")
    ] = 20,
    placebos: Annotated[
        int,
        typer.Option(min=0, help="Times that it is fitted to cues drawn at random."),
    ] = 3,
) -> None:
    """Learn how the model can do without the cues of RUN, and measure whether it helps.

    Cues are found on one part of the data, the remedy is learned on a second and measured on a
    third, beside two placebos. With --folds it is learned on all parts but one, and measured on
    that one, in turn. What was learned is kept in RUN-mitigated-NAME, or in --out DIR:
    -M mitigated=DIR/mitigated audits the mitigated model.
    """
    report = StoredRun(run).report
    plugin = Spec.parse(mitigator).name
    # another mitigator has another folder: both can be compared
    folder = asked.out or beside(run, f"mitigated-{plugin}")
    with open_runner(out=folder, quiet=output.quiet, verbose=output.verbose) as runner:
        registry = runner.context.registry
        of_remedy = pairs("-O", option or ())
        # a wrong name is told before hours of answers
        remedy = runner.context.resolve("mitigator", mitigator, of_remedy)
        runner, request = ask_again(runner, run, asked)
        require_same_data(report, runner, request)
        # the others served to find the cues, and the remedy has no use for them
        eye = {role: spec for role, spec in request.tools.items() if role == "embedder"}
        eye |= pairs("--tool", tool or ())
        if not eye:
            # by the classes alone: what is refused is refused before the run is made again
            model = runner.context.resolve(
                "model", request.model, request.model_options
            )
            require_fit(mitigator, remedy.plugin.requires, model.plugin.capabilities)
        changed = _changed_options(
            {
                "mitigator_options": of_remedy,
                "names": pairs("--name", name or ()),
                "top": top,
                "placebos": placebos,
            }
        )
        found = folder / "found"
        if folds is None:
            # in three parts, for what is learned must not be measured on its own samples
            held = apart(run, request, asked.on, registry, found, parts=PARTS)
            if name and held.again:
                _refuse_names(run, found)
        else:
            require_whole(run, request, asked)
            held = in_folds(run, request, folds, found)
            # all findings of the run are tested, each where it is found again
            changed["folds"] = [str(path) for path in held.found]
        whole = run if run.is_dir() else run.parent
        stamp = report.provenance.model
        method_options = {
            "run": str(whole if held.by_folds else held.found[0]),
            "mitigator": mitigator,
            **changed,
            # what is learned of another eye's embeddings is of no use to a model that has none
            "save": None if eye else str(folder / "mitigated"),
            # what is learned fits this model alone, and its folder refuses any other
            "model": {"model": stamp.fingerprint or "", "spec": request.model},
        }
        trial = _trial(held.rest, method_options, eye)
        stored = StoredRun(run, runner.context)
        foretold = _prospects(stored, top, folds) if held.again else ()
        tried = find_then_test(
            runner,
            held,
            trial,
            asked,
            output,
            share="a third",
            why="nothing is learned or measured where the cues were found",
            foretold=foretold,
            remedy=FEW,
        )
    if tried is not None and NOT_TRIED in tried.notes:
        # the page tells the cues all the same
        raise UserError(f"{mitigator} failed: {tried.notes[NOT_TRIED]}")


def _changed_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those that are no defaults: the folder of a run does not depend on defaults."""
    fields = MitigationOptions.model_fields
    return {
        name: value for name, value in options.items() if value != fields[name].default
    }


def _trial(
    rest: Request, method_options: dict[str, Any], eye: dict[str, str]
) -> Request:
    """The remedy learned and measured on what is held out, with the embedder alone as tool."""
    tool_options = {
        role: options for role, options in rest.tool_options.items() if role in eye
    }
    update = {
        "method": METHOD,
        "method_options": method_options,
        "tools": eye,
        "tool_options": tool_options,
    }
    return rest.model_copy(update=update)


def _refuse_names(run: Path, found: Path) -> None:
    """Raise UserError: keys that were typed are those of `run`, not of the one made anew."""
    is_made = (found / "report.json").exists()
    raise UserError(
        f"--name: {run} looked at all of its data, and is made again on a third of it, "
        "where findings get other keys",
        expected="--on SPLIT, or a run made with --part 1/3",
        remedy=f"cuescope mitigate {found}" if is_made else "Add --on SPLIT",
    )


def _prospects(run: StoredRun, top: int, folds: int | None) -> Iterator[str]:
    """How many samples will show each cue, and how likely a gain will be shown on them."""
    # numpy and scipy, which no other command needs
    from cuescope_mitigation.prospects import prospects

    options = MitigationOptions.model_fields
    least = options["least"].default
    yield from foretell(run, top, parts=PARTS, folds=folds, least=least)
    cues = list(shown_cues(run, top))
    # all cues are tested together
    level = (1 - options["confidence"].default) / max(len(cues), 1)
    yield from prospects(
        run,
        cues,
        folds=folds,
        level=level,
        least=least,
    )
