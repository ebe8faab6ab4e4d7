"""`cuescope bench NAME [--option value ...]`: a paper's own table or figure, redone."""

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import typer
from rich import box
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from cuescope.cli.terminal import Bars, out
from cuescope.context import Context
from cuescope.errors import UserError
from cuescope.types import Options, Value

Cell = str | float | int | None
bench = typer.Typer(add_completion=False, rich_markup_mode=None)


class Table(Value):
    """A paper's table: `rows` by column name, and the paper's own figures in `paper`.

    The first column names a row; rows of the same name stand beside each other.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Cell], ...]
    paper: tuple[dict[str, Cell], ...] = ()
    notes: tuple[str, ...] = ()


@runtime_checkable
class Bench(Protocol):
    """Redoes a paper's table or figure; `run` resumes from what the context has stored."""

    Options: ClassVar[type[Options]]

    def run(self) -> Iterable[Table]: ...


@bench.command(
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": ["-h", "--help"],
    }
)
def run(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Bench plugin.")],
    seed: Annotated[int, typer.Option(min=0, help="Every random draw depends on it.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Redo a paper's table or figure.

    The bench's own options follow as --option value; `cuescope plugins info NAME` lists them.
    """
    context = Context(seed=seed, device=device, progress=Bars())
    for table in context.build("bench", name, free_options(ctx.args)).run():
        if as_json:
            typer.echo(table.model_dump_json(indent=1))
        else:
            show(table, out())


def free_options(words: Sequence[str]) -> dict[str, str]:
    """`--key value`, `--key=value` and bare `--flag` as a mapping."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            raise UserError(f"bench: '{word}'", expected="--option value")
        key, equals, value = word[2:].partition("=")
        if not equals:
            value = "true" if not rest or rest[0].startswith("--") else rest.pop(0)
        found[key.replace("-", "_")] = value
    return found


def show(table: Table, console: Console) -> None:
    """Print a table: our figures, and the paper's own faint in brackets."""
    drawn = Drawn(title=table.title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    first, *others = table.columns
    drawn.add_column(first)
    for column in others:
        drawn.add_column(column, justify="right")
    ours = {row[first]: row for row in table.rows}
    paper = {row[first]: row for row in table.paper}
    for name in dict.fromkeys([*ours, *paper]):
        row, theirs = ours.get(name, {}), paper.get(name, {})
        drawn.add_row(str(name), *[_beside(row.get(c), theirs.get(c)) for c in others])
    console.print(drawn)
    for note in table.notes:
        console.print(Text(note, "dim"))


def _beside(ours: Cell, theirs: Cell) -> Text:
    text = Text(_written(ours) if ours is not None or theirs is None else "")
    return text if theirs is None else text.append(f" ({_written(theirs)})", "dim")


def _written(value: Cell) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
