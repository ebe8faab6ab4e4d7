"""Completions of a shell: names of plugins, and their options."""

from collections.abc import Callable, Iterator
from typing import Any

import typer

from cuescope.cli.external import installed
from cuescope.plugin_index import description_of
from cuescope_core.registry import Entry

Completions = list[tuple[str, str]]


def _entries(kind: str | None, incomplete: str) -> Iterator[Entry]:
    for entry in installed().entries:
        fits = entry.kind == kind if kind else entry.kind != "command"
        if fits and entry.problem is None and entry.name.startswith(incomplete):
            yield entry


def complete_names(kind: str | None = None) -> Callable[[str], Completions]:
    """Return the completion of names of plugins of a kind, or of any."""

    def complete(incomplete: str) -> Completions:
        return [
            (entry.name, description_of(entry)) for entry in _entries(kind, incomplete)
        ]

    return complete


def _options(kind: str, spec: Any, incomplete: str) -> list[str]:
    """`key=` for each option of the plugin that the line names."""
    name = str(spec or "").partition(":")[0]
    options: list[str] = []
    for entry in installed().of_kind(kind):
        if entry.name == name and installed().check(entry) is None:
            options += installed().load(entry).Options.model_fields
    return [f"{option}=" for option in options if option.startswith(incomplete)]


def complete_model_option(ctx: typer.Context, incomplete: str) -> list[str]:
    """Options of the model that the line names."""
    return _options("model", ctx.params.get("model"), incomplete)


def complete_data_option(ctx: typer.Context, incomplete: str) -> list[str]:
    """Options of the data set that the line names."""
    return _options("dataset", ctx.params.get("data"), incomplete)


def complete_method_option(ctx: typer.Context, incomplete: str) -> list[str]:
    """Options of the method that the line names."""
    # where -O is the last word, the words before it are not parsed as arguments yet
    method = ctx.params.get("method") or next(iter(ctx.args), None)
    return _options("method", method, incomplete)
