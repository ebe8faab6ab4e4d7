"""`cuescope confirm RUN`: does each cue of a run cause the answer? Tested on samples held out."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import (
    AskedAgain,
    FoldsOption,
    Output,
    Pairs,
    Run,
    ToolOptions,
    by_role,
    calls,
    open_runner,
    pairs,
    show_result,
    spread,
)
from cuescope_confirm.command import confirming

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@calls("cuescope_confirm.command.confirming:confirm")
def confirm(
    run: Run,
    asked: AskedAgain,
    output: Output,
    others: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN ...]",
            help="More runs on the same model and data: what is one cue is tested once.",
        ),
    ] = None,
    interventions: Annotated[
        Pairs,
        typer.Option(
            "--with",
            metavar="NAME",
            help="Intervention, as often as you like. [default: all that apply]",
        ),
    ] = None,
    features: Annotated[
        Pairs,
        typer.Option(
            "--feature",
            metavar="KEY[@LABEL]",
            help="Test this feature of the run, found or not. [default: the run's findings]",
        ),
    ] = None,
    own_pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FOLDER",
            help="FOLDER/with and FOLDER/without: the same scenes with the cue and without it. "
            "These alone decide.",
        ),
    ] = None,
    folds: FoldsOption = None,
    tool: Annotated[
        Pairs,
        typer.Option(
            metavar="ROLE=SPEC",
            help="detector, segmenter, image-editor or embedder; [default: the run's own]",
        ),
    ] = None,
    tool_option: ToolOptions = None,
    option: Annotated[
        Pairs, typer.Option("-O", metavar="KEY=VALUE", help="Option of the test.")
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Most findings, the first ones.")
    ] = 10,
) -> None:
    """Test whether the cues of RUN cause the answers.

    Each cue is located in samples that the run has not seen: by default the run is made again on
    half of its data, and the other half is for testing. There the cue is taken out and put in, by
    several interventions beside controls. The verdict is cause, not a cause or inconclusive, and
    then says what would decide. The report is in RUN-confirmed.
    """
    with open_runner(quiet=output.quiet, verbose=output.verbose) as runner:
        result = confirming.confirm(
            runner,
            run,
            asked.rerun,
            others=others or (),
            interventions=interventions or (),
            features=features or (),
            pairs=own_pairs,
            folds=folds,
            tools=pairs("--tool", tool or ()),
            tool_options=by_role(pairs("-T", tool_option or ())),
            options=pairs("-O", option or ()),
            top=top,
            plan=asked.plan,
            out=asked.out,
        )
        show_result(result, output)
