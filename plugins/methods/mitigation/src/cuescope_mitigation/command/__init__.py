"""`cuescope mitigate RUN --with NAME`: a remedy for a run's cues, tried on samples held out."""

from typing import Annotated

import typer

from cuescope.application import (
    AskedAgain,
    FoldsOption,
    Output,
    Pairs,
    Run,
    UnfinishedError,
    calls,
    open_runner,
    pairs,
    show_result,
    spread,
)
from cuescope_mitigation.command import mitigating

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@calls("cuescope_mitigation.command.mitigating:mitigate")
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
    folds: FoldsOption = None,
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
    -O model.mitigated=DIR/mitigated audits the mitigated model.
    """
    with open_runner(quiet=output.quiet, verbose=output.verbose) as runner:
        try:
            result = mitigating.mitigate(
                runner,
                run,
                asked.rerun,
                mitigator=mitigator,
                options=pairs("-O", option or ()),
                names=pairs("--name", name or ()),
                folds=folds,
                tools=pairs("--tool", tool or ()),
                top=top,
                placebos=placebos,
                plan=asked.plan,
                out=asked.out,
            )
        except UnfinishedError as stopped:
            show_result(stopped.report, output)
            raise stopped.error from None
        show_result(result, output)
