"""`cuescope check INPUT`: what a log, folder or question file holds, and what is wrong there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.application import DataOptions, PrintsJson, echo, output_file, prints

if TYPE_CHECKING:
    from cuescope_commands.outputs import CheckedInput
    from cuescope_sdk import Context, Dataset

# what reads a path of which nobody says what it is, in this order
READERS = ("log", "folder", "questions")
MARKS = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints("cuescope_commands.outputs:CheckedInput")
def check(
    given: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A log, a folder or a file of questions, or a SPEC, NAME[:ARG].",
        ),
    ],
    data_option: DataOptions = None,
    pictures: Annotated[
        Path | None,
        output_file("Write eight of its pictures, as a model sees them.", ".png"),
    ] = None,
    as_json: PrintsJson = False,
) -> None:
    """Check a log, folder or file of questions before it is audited: what was read, what is wrong.

    Of a log: which figure says what is correct and in which direction, whether its accuracy follows
    from its rows, and what was parsed wrongly, doubled or lost. The exit code is 1 where there is a
    fault.
    """
    from cuescope.application import pairs
    from cuescope_sdk import Context
    from cuescope_sdk.data import contact_sheet

    # faults stand on the screen: they are not announced too
    context = Context()
    spec, data = open_input(given, pairs("-O data.KEY", data_option or ()), context)
    checked = check_input(spec, data)
    if as_json:
        checked.show()
    else:
        show_checked(checked)
    if pictures is not None and (sheet := contact_sheet(data)) is not None:
        sheet.save(pictures)
    if checked.faults:
        raise typer.Exit(1)


def open_input(
    given: str, options: dict[str, str], context: "Context"
) -> "tuple[str, Dataset]":
    """The SPEC that reads an input, and the data set; raises UserError where nothing reads it."""
    from cuescope_sdk import UserError, nearest

    path = Path(given).expanduser()
    if not path.exists():
        name = given.partition(":")[0]
        if name in {entry.name for entry in context.registry.of_kind("dataset")}:
            return given, context.build("dataset", given, options)
        beside = [entry.name for entry in path.absolute().parent.glob("*")]
        raise UserError(
            "check: no such file or folder",
            expected="a log, a folder, a file of questions, or a SPEC",
            got=f"'{given}'",
            remedy=nearest(path.name, beside),
        )
    faults = []
    for name in READERS:
        if name == "log" and not looks_like_log(path, context):
            continue
        try:
            return f"{name}:{given}", context.build(
                "dataset", f"{name}:{given}", options
            )
        except UserError as error:
            # a log is one: what is wrong with it must not be hidden by another reader's error
            if name == "log":
                raise
            faults.append(error)
    raise faults[0]


def looks_like_log(path: Path, context: "Context") -> bool:
    """True if a reader of logs knows the file or folder."""
    for entry in context.registry.of_kind("log"):
        # a reader of somebody else that does not load must not cost the others
        if context.registry.check(entry) is None and context.registry.load(entry).fits(
            path
        ):
            return True
    return False


def check_input(spec: str, data: "Dataset") -> "CheckedInput":
    """The card of a data set and its checks."""
    from cuescope_commands.outputs import CheckedInput, InputFinding
    from cuescope_sdk.data import check_choices, check_groups, describe_data

    own = getattr(data, "input_checks", ())
    checks = [*own, *check_choices(data), check_groups(data)]
    findings = tuple(
        InputFinding(check=one.check, status=one.status, detail=one.detail)
        for one in checks
    )
    return CheckedInput(
        spec=spec,
        card=describe_data(data),
        facts=dict(data.facts),
        checks=findings,
        faults=sum(finding.status == "fault" for finding in findings),
    )


def show_checked(checked: "CheckedInput") -> None:
    """Print the card, then the checks, faults first."""
    from cuescope_sdk.report import count_of

    echo(checked.spec)
    others = {
        name: words
        for name, words in checked.facts.items()
        if words != "none" and name not in ("faults", "judged by", "groups")
    }
    told = {**checked.card, **others}
    width = max(map(len, told))
    for name, words in told.items():
        echo(f"  {name:<{width}}  {words}")
    order = list(MARKS)
    for finding in sorted(checked.checks, key=lambda one: -order.index(one.status)):
        echo(f"{MARKS[finding.status]}  {finding.check}: {finding.detail}")
    echo(
        f"{count_of(checked.faults, 'faults')}" if checked.faults else "No fault found."
    )
