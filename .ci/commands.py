"""The command line reference: written from the commands themselves as the site is built."""

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from cuescope.cli import app
from cuescope.registry import Registry

PAGE, MARK = "commands.md", "<!-- commands -->"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A hook of mkdocs: put the reference into its page."""
    if page.file.src_uri != PAGE:
        return markdown
    return markdown.replace(MARK, reference())


def reference() -> str:
    """All commands, in markdown."""
    return "\n\n".join(
        described(path, command, context) for path, command, context in commands()
    )


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Path, command and context of every command that can be run, plugins' own included."""
    group = typer.main.get_command(app)
    root = group.make_context("cuescope", [], resilient_parsing=True)
    brought = {entry.name: entry for entry in Registry().of_kind("command")}
    for path, command, context in _below("", group, root):
        if path in brought:  # what stands in the group only hands the line on
            command = typer.main.get_command(Registry().load(brought[path]))
            context = command.make_context(
                f"cuescope {path}", [], resilient_parsing=True
            )
            if hasattr(command, "list_commands"):  # several in one
                yield from _below(f"{path} ", command, context)
                continue
        yield path, command, context


def _below(path: str, group: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        own = command.make_context(f"cuescope {path}{name}", [], resilient_parsing=True)
        if not hasattr(command, "list_commands") or command.invoke_without_command:
            yield f"{path}{name}", command, own
        if hasattr(command, "list_commands"):
            yield from _below(f"{path}{name} ", command, own)


def described(path: str, command: Any, context: Any) -> str:
    """A command: what it does, how it is called, its options."""
    help_words = " ".join((command.help or "").split())
    usage = " ".join(command.collect_usage_pieces(context))
    usage = re.sub(r"\[OPTIONS\]|[{}]", "", usage).strip()
    lines = [f"## {path}", help_words, f"    cuescope {path} {usage}".rstrip()]
    records = [param.get_help_record(context) for param in command.get_params(context)]
    rows = [
        f"| `{_cell(name)}` | {_cell(meaning).replace('<', '&lt;')} |"
        for name, meaning in filter(None, records)
        if not name.startswith(("-h", "--help"))
    ]
    if rows:
        lines.append("\n".join(["| option | |", "|---|---|", *rows]))
    return "\n\n".join(lines)


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")
