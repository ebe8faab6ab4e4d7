"""`cuescope bench NAME [--option value ...]`: a paper's own table or figure, redone."""

from typing import Annotated

import typer

from cuescope.cli.options import AsJson

FREE_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}


def bench(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Bench plugin.")],
    seed: Annotated[int, typer.Option(help="Every random draw depends on it.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Redo a paper's table or figure.

    The bench's own options follow as --option value.
    """
    from cuescope.cli.terminal import Bars, out
    from cuescope.context import Context
    from cuescope.report.terminal import show_table

    context = Context(seed=seed, device=device, progress=Bars())
    for table in context.build("bench", name, free_options(ctx.args)).run():
        if as_json:
            typer.echo(table.model_dump_json(indent=1))
        else:
            show_table(table, out())


def free_options(words: list[str]) -> dict[str, str]:
    """`--key value`, `--key=value` and bare `--flag` as a mapping."""
    from cuescope.errors import UserError

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
