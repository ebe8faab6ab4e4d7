"""`cuescope blind DATA`: what of a benchmark is answered without looking; no model is needed."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import (
    DataOptions,
    Device,
    DrawSeed,
    ModelOptions,
    Output,
    Pairs,
    Planned,
    StoredReport,
    ToolOptions,
    Tools,
    by_role,
    calls,
    echo,
    make_draft,
    open_runner,
    output_file,
    output_folder,
    pairs,
    show_result,
    spread,
)
from cuescope_blind.command import blinding
from cuescope_blind.command.blinding import MODEL

# plain help: rich would triple the time to its first line
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@calls("cuescope_blind.command.blinding:blind")
def blind(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Data set, NAME[:ARG].")],
    output: Output,
    data_option: DataOptions = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Ask this model too: without the video, with another, in other orders.",
        ),
    ] = MODEL,
    model_option: ModelOptions = None,
    option: Annotated[
        Pairs,
        typer.Option(
            "-O",
            metavar="KEY=VALUE",
            help="Option of the method `blind`, with a model of `looking`.",
        ),
    ] = None,
    tool: Tools = None,
    tool_option: ToolOptions = None,
    device: Device = "auto",
    out: Annotated[
        Path | None, output_folder("Folder of the run. [default: runs/...]")
    ] = None,
    hardest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Write so many questions that are least answered without looking.",
        ),
    ] = None,
    manifest: Annotated[
        Path | None,
        output_file(
            "Where --hardest writes: a .jsonl for `questions:FILE`.",
            ".jsonl",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Take at most this many samples, drawn by seed."),
    ] = None,
    seed: DrawSeed = 0,
    plan: Planned = False,
) -> None:
    """Find out what of a benchmark is answered without looking.

    Tells (length, place, words, how common an answer is) and a learner answer the questions from
    their text alone, each video by what other videos teach. No model is asked, unless one is given:
    then it is asked the same questions without their video, with another one, and in other orders.
    """
    with open_runner(out=out, quiet=output.quiet, verbose=output.verbose) as runner:
        draft = make_draft(
            model=model,
            data=data,
            model_options=pairs("-M", model_option or ()),
            device=device,
            data_options=pairs("-D", data_option or ()),
            tools=pairs("--tool", tool or ()),
            tool_options=by_role(pairs("-T", tool_option or ())),
            limit=limit,
            seed=seed,
        )
        choice = blinding.Choice(hardest, manifest)
        options = pairs("-O", option or ())
        result = blinding.ask(runner, draft, options, choice, plan=plan)
        show_result(result, output)
        if isinstance(result, StoredReport):
            for line in choice.write(runner, result):
                # with --json the report alone is printed
                echo(line, err=output.as_json)
