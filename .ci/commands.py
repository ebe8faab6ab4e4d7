"""The command line reference: written from the commands themselves as the site is built."""

import re
from pathlib import Path
from typing import Any

import typer.main

from cuescope.cli import app
from cuescope.cli.schema import write_schemas
from cuescope.cli.tree import commands

PAGE, MARK = "cli.md", "<!-- commands -->"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A hook of mkdocs: put the reference into its page."""
    if page.file.src_uri != PAGE:
        return markdown
    return markdown.replace(MARK, reference())


def on_post_build(config: Any, **_: Any) -> None:
    """A hook of mkdocs: publish the JSON schemas beside the pages."""
    write_schemas(Path(config["site_dir"], "schemas"), typer.main.get_command(app))


def reference() -> str:
    """All commands, in markdown."""
    found = commands(typer.main.get_command(app))
    return "\n\n".join(
        described(path, command, context) for path, command, context in found
    )


def described(path: str, command: Any, context: Any) -> str:
    """A command: what it does, how it is called, its options."""
    help_words = " ".join((command.help or "").split())
    usage = " ".join(command.collect_usage_pieces(context))
    usage = re.sub(r"\[OPTIONS\]|[{}]", "", usage).strip()
    lines = [f"### {path}", help_words, f"    cuescope {path} {usage}".rstrip()]
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
