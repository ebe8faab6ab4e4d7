"""`cuescope bench NAME [--option value ...]`: a paper's own table or figure, redone."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import typer
from rich.text import Text

from cuescope.cli.terminal import Bars, out
from cuescope.context import Context
from cuescope.errors import UserError
from cuescope.report.tables import drawn
from cuescope.store import write_atomically
from cuescope.types import Options, Picture, Table

bench = typer.Typer(add_completion=False, rich_markup_mode=None)


@runtime_checkable
class Bench(Protocol):
    """Redoes a paper's table or figure; `run` resumes from what the context has stored."""

    Options: ClassVar[type[Options]]

    def run(self) -> Iterable[Table | Picture]: ...


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
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with the pictures here.")
    ] = None,
) -> None:
    """Redo a paper's table or figure.

    The bench's own options follow as --option value; `cuescope plugins info NAME` lists them.
    """
    context = Context(seed=seed, device=device, progress=Bars())
    shown = []
    for item in context.build("bench", name, free_options(ctx.args)).run():
        shown.append(item)
        if as_json:
            typer.echo(item.model_dump_json(indent=1))
        elif isinstance(item, Table):
            out().print(Text(item.title, "bold"), drawn(item))
        elif html is None:
            out().print(Text(item.title, "bold"), Text("--html FILE shows this picture.", "dim"))
    if html is not None:
        from cuescope_sdk.bench_page import render

        command = shlex.join(["cuescope", "bench", name, "--seed", str(seed), *ctx.args])
        write_atomically(html, render(name, shown, command))
        if not as_json:
            out().print(Text(f"wrote {html}", "dim"))


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
