"""`cuescope bench NAME [--option value ...]`: a paper's own table or figure, redone."""

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import typer
from rich.text import Text

from cuescope.cli.terminal import Bars, out
from cuescope.context import Context
from cuescope.errors import UserError
from cuescope.report.tables import drawn
from cuescope.types import Options, Table

bench = typer.Typer(add_completion=False, rich_markup_mode=None)


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
            out().print(Text(table.title, "bold"), drawn(table))


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
