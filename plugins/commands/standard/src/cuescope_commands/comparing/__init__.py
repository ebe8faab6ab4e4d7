"""`cuescope compare RUN RUN ...`: what differs between runs, and whether it is more than chance."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import (
    Allow,
    DataOptions,
    PrintsJson,
    TypedData,
    calls,
    open_runner,
    page_file,
    pairs,
    prints,
)

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command("compare", context_settings={"help_option_names": ["-h", "--help"]})
@calls("cuescope_commands.comparing._comparing:compare")
@prints("cuescope_commands.outputs:Comparison")
def compare_runs(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN ...", help="Run folders.")
    ],
    consensus: Annotated[
        bool,
        typer.Option(
            "--consensus",
            help="Labels with findings in all, some or none of the runs.",
        ),
    ] = False,
    by_name: Annotated[
        bool,
        typer.Option(
            "--by-name",
            help="Pair samples of one name also where their pictures differ.",
        ),
    ] = False,
    as_json: PrintsJson = False,
    html: Annotated[
        Path | None,
        page_file("Write a page with the pictures here."),
    ] = None,
    data: TypedData = None,
    data_option: DataOptions = None,
    allow: Allow = None,
) -> None:
    """Show several runs side by side; the answers of each are paired with the first run's.

    Samples are paired by their keys, and must show the same pictures. Intervals and p-values are
    those of paired answers, and count groups of samples as drawn together.
    """
    # numpy and scipy load with the command, not with its help
    from cuescope.application import Words, render_table, stdout
    from cuescope_commands.comparing._comparing import compare

    with open_runner() as runner:
        result = compare(
            runner,
            runs=runs,
            consensus=consensus,
            by_name=by_name,
            html=html,
            data=data,
            data_options=pairs("-O data.KEY", data_option or ()),
            allow=allow or (),
        )
    if as_json:
        result.show()
        return
    for table in result.tables:
        stdout().print(Words(table.title, "bold"), render_table(table))
    if html is not None:
        stdout().print(Words(f"wrote {html}", "dim"))
