"""Table of everybody's plugins, put into the page on installing as the site is built."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from cuescope.installing import is_own
from cuescope.plugin_index import Listed, shipped_index

PAGE, MARK = "install.md", "<!-- plugins -->"
TITLES = {"dataset": "Data sets", "bench": "Benches"}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A hook of mkdocs: put the tables into their page."""
    if page.file.src_uri != PAGE:
        return markdown
    return markdown.replace(MARK, "\n\n".join(tables()))


def tables() -> Iterator[str]:
    """A table for each kind of plugin."""
    for kind, listed in groupby(shipped_index(), key=lambda plugin: plugin.kind):
        title = TITLES.get(kind, f"{kind.capitalize()}s")
        head = f"### {title}\n\n| name | package | what it finds or does |\n|---|---|---|\n"
        yield head + "\n".join(map(_row, listed))


def _row(plugin: Listed) -> str:
    dist = f"`{plugin.dist}`"
    if not is_own(plugin.dist.partition("[")[0]):
        dist += " (not of this project)"
    words = plugin.finds.replace("|", "\\|").replace("<", "&lt;")
    return f"| `{plugin.name}` | {dist} | {words} |"
