"""`cuescope label RUN`: a sheet for people to fill in, and what they say of a run."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.application import (
    Allow,
    DataOptions,
    Run,
    TypedData,
    echo,
    is_made_here,
    open_context,
    output_folder,
    prints_lines,
)
from cuescope_sdk import UserError
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_sdk import Report

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints_lines
def label(
    run: Run,
    read: Annotated[
        Path | None,
        typer.Option(metavar="SHEET", help="A sheet that somebody has filled in."),
    ] = None,
    # 10 as in appendix F.1 of SpurLens; 50 are enough to compare gaps, as in F.2
    each: Annotated[
        int,
        typer.Option(
            min=1, help="Questions of each kind for each cue, finding or trace."
        ),
    ] = 10,
    most: Annotated[
        int | None,
        typer.Option(min=1, help="Most questions; more are drawn from by the seed."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Another seed, another order and draw.")
    ] = 0,
    out: Annotated[
        Path | None, output_folder("[default: RUN/labels]", metavar="FOLDER")
    ] = None,
    data: TypedData = None,
    data_option: DataOptions = None,
    allow: Allow = None,
) -> None:
    """Write a sheet of pictures and questions for a person; with --read: compare it with the run.

    The sheet does not show what the run says, and its order is drawn. Fill in the column `answer`
    of sheet.csv, or open sheet.html in a browser, click, and save. What has no answer is left out.
    """
    from cuescope_commands.labelling._reading import (
        compare,
        read_sheet,
        select_answered,
        write_labels,
    )
    from cuescope_commands.labelling._sheet import write_sheet
    from cuescope_sdk import StoredRun

    # the report alone: a sheet is read without the data
    stored = StoredRun(run)
    report = stored.report
    # labels of a stranger's run are a stranger's word: this says so, and goes on
    is_made_here(run)
    folder = out or stored.place("labels")
    method = _method(report)
    if read is not None:
        items = read_sheet(read, folder, report)
        for line in compare(items):
            echo(line)
        file = write_labels(items, folder)
        echo(f"wrote {file}: {count_of(len(select_answered(items)), 'labels')}")
        option = getattr(method, "labels_option", None)
        # a stranger's run has no command
        if option is not None and report.provenance.command:
            echo(f"next: {_audit_command(report, option, file)}")
        return
    # only now with the data: a sheet needs its pictures
    stored = StoredRun(run, open_context(data, data_option, allow))
    questions = list(method.label_items(stored, each))
    if not questions:
        raise UserError(
            f"{run}: nothing for people to judge",
            expected="a cue or claim that images were compared for",
            got="none in this report",
        )
    written = write_sheet(questions, stored, folder, most, seed)
    echo(
        f"wrote {folder / 'sheet.csv'} and sheet.html: {count_of(written, 'questions')}"
    )
    words = ["cuescope", "label", str(run), "--read", str(folder / "sheet.csv")]
    # the folder is named again, or the sheet's key would be looked for beside the run
    words += ["--out", str(out)] if out else []
    echo(f"next: fill it in, then {shlex.join(words)}")


def _method(report: "Report") -> Any:
    """The class of the run's method; raises UserError where it asks people nothing."""
    from cuescope.application import Registry, Spec, find_installed

    registry = Registry()
    name = Spec.parse(report.provenance.method.spec).name
    method = registry.load(registry.find("method", name))
    # any method may ask people: whoever has the hook is able, whatever its name
    if not hasattr(method, "label_items"):
        able = find_installed(
            lambda plugin: hasattr(plugin, "label_items"), "method", registry
        )
        raise UserError(
            f"{name} asks people nothing",
            expected=f"a run of {' or '.join(able) or 'another method'}",
        )
    return method


def _audit_command(report: "Report", option: str, file: Path) -> str:
    """The run's own command with the labels; their answers are remembered, and none is asked."""
    from cuescope.application import command_words

    kept: list[str] = []
    for word in command_words(report.provenance.command):
        # labels of an earlier round go, with the -O before them
        if word.startswith(f"{option}=") and kept[-1:] == ["-O"]:
            kept.pop()
        else:
            kept.append(word)
    return shlex.join([*kept, "-O", f"{option}={file}"])
