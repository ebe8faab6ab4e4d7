"""`cuescope mitigate RUN --with NAME`: a remedy for a run's cues, tried on samples held out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.application import (
    AskedAgain,
    Folds,
    Output,
    Pairs,
    Run,
    Runner,
    Spec,
    Stage,
    apart,
    ask_again,
    beside,
    find_then_test,
    follow_test,
    foretell,
    load_report,
    make_runs,
    open_runner,
    pairs,
    parts_of_folds,
    require_same_data,
    require_whole,
    share_of_part,
    shown_cues,
    spread,
    without_each_fold,
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
        # what is learned of another eye's embeddings is of no use to a model that has none
        eye = {role: spec for role, spec in request.tools.items() if role == "embedder"}
        eye |= pairs("--tool", tool or ())
        if not eye:
            # by the classes alone: what is refused is refused before the run is made again
            model = runner.context.resolve(
                "model", request.model, request.model_options
            )
            require_fit(mitigator, remedy.plugin.requires, model.plugin.capabilities)
        # what is learned fits this model alone, and its folder refuses any other
        stamp = report.provenance.model
        options: dict[str, Any] = {
            "mitigator_options": of_remedy,
            "names": pairs("--name", name or ()),
            "top": top,
            "placebos": placebos,
        }
        fields = MitigationOptions.model_fields
        # defaults are left out, so that the folder of a run does not depend on them
        changed = {
            key: value for key, value in options.items() if value != fields[key].default
        }
        # in three parts, for what is learned must not be measured on its own samples
        other = apart(run, request, asked.on, registry, folder / "found", parts=PARTS)
        if folds is not None:
            require_whole(run, request, asked)
        foretold: Iterable[str] = ()
        if other.finding is not None:
            foretold = _prospects(StoredRun(run, runner.context), top, folds)
        if name and folds is None and other.finding is not None:
            instead = "Add --on SPLIT"
            if (other.found / "report.json").exists():
                instead = f"cuescope mitigate {other.found}"
            raise UserError(
                f"--name: {run} looked at all of its data, and is made again on a third of it, "
                "where findings get other keys",
                expected="--on SPLIT, or a run made with --part 1/3",
                remedy=instead,
            )
        of_folds: Mapping[Path, Request] = {}
        again = [other]
        if folds is not None:
            # beside what is learned, and found there again after a kill
            of_folds = without_each_fold(request, folds, folder / "found")
            again = parts_of_folds(other, of_folds)
        rest = other.rest if folds is None else request
        foreseen = partial(_stage, StoredRun(run, runner.context), rest)
        with follow_test(runner, again, METHOD, foreseen, asked) as step:
            if folds is not None:
                for line in foretold:
                    runner.context.announce(line)
                if not make_runs(runner, of_folds, asked, output, step):
                    return
                changed["folds"] = [str(path) for path in of_folds]
                whole = run if run.is_dir() else run.parent
                other = replace(other, found=whole, finding=None, rest=request)
            trial = other.rest.model_copy(
                update={
                    "method": METHOD,
                    "method_options": {
                        "run": str(other.found),
                        "mitigator": mitigator,
                        **changed,
                        "save": None if eye else str(folder / "mitigated"),
                        "model": {
                            "model": stamp.fingerprint or "",
                            "spec": request.model,
                        },
                    },
                    # the others served to find the cues, and the remedy has no use for them
                    "tools": eye,
                    "tool_options": {
                        role: options
                        for role, options in request.tool_options.items()
                        if role in eye
                    },
                }
            )
            tried = find_then_test(
                runner,
                other,
                trial,
                asked,
                output,
                step,
                share="a third",
                why="nothing is learned or measured where the cues were found",
                foretold=foretold,
                remedy=FEW,
            )
    if tried is not None and NOT_TRIED in tried.notes:
        # the page tells the cues all the same
        raise UserError(f"{mitigator} failed: {tried.notes[NOT_TRIED]}")


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
        # by thirds, or in all parts but one
        searched=1 - 1 / folds if folds else 1 / PARTS,
        tested=1.0 if folds else 1 / PARTS,
        level=level,
        least=least,
    )


def _stage(run: StoredRun, rest: Request, runner: Runner) -> Stage:
    """The remedy and its measure: answers of the run are known, others are asked for."""
    test = rest.model_copy(update={"method": METHOD})
    made = runner.folder(test)
    if made.report_file.exists():
        return Stage.of_run(METHOD, load_report(made.path), runner.cache, test)
    origin = run.report.provenance
    count = share_of_part(rest.part) * len(run.data)
    size = count * (len(run.data[0].frames) or 1)
    is_known = (origin.model.spec, origin.data.spec) == (rest.model, rest.data)
    default = 0.0 if is_known and origin.part is None else 1.0
    return Stage.of_test(METHOD, size, runner.cache, test, share=default)
