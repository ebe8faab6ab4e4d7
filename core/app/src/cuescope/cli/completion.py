"""Completions of a shell: names of plugins, and their options."""

import typer

from cuescope.cli.external import installed
from cuescope.plugin_index import description_of


def names(
    kind: str | None, context: typer.Context, incomplete: str
) -> list[tuple[str, str]]:
    """The plugins of a kind, or of any, with what each does."""
    return [
        (entry.name, description_of(entry))
        for entry in installed().entries
        if (entry.kind == kind if kind else entry.kind != "command")
        and entry.problem is None
        and entry.name.startswith(incomplete)
    ]


def options(kind: str, context: typer.Context, incomplete: str) -> list[str]:
    """`key=` for each option of the plugin of this kind that the line names."""
    spec = context.params.get("data" if kind == "dataset" else kind)
    # where -O is the last word, the words before it are not parsed as arguments yet
    if kind == "method" and spec is None:
        spec = next(iter(context.args), None)
    name = str(spec or "").partition(":")[0]
    known: list[str] = []
    for entry in installed().of_kind(kind):
        if entry.name == name and installed().check(entry) is None:
            known += installed().load(entry).Options.model_fields
    return [f"{option}=" for option in known if option.startswith(incomplete)]
