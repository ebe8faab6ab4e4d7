"""`llms.txt` and a skill for agents, from the pages of the documentation (a hook of mkdocs)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
SITE = "https://cuescope.github.io/cuescope/"
HEAD = """# cuescope

> cuescope finds the cues that a vision model relies on, and tests whether they are causes.
"""
SKILL = """---
name: cuescope
description: Find the cues that a vision model relies on, test whether they are causes, fix and
  guard it. Use for audits of image and video models, spurious correlations, shortcut learning.
---

# cuescope

Work in this order: `cuescope methods` (what fits), `cuescope audit METHOD --plan` (what it costs),
`cuescope audit METHOD` (find), `cuescope confirm RUN` (is it a cause?), `cuescope mitigate RUN`,
`cuescope gate POLICY.yaml RUN`. `--json` prints JSON, `cuescope dev schema` describes it. A finding
of an audit is a correlation: call it a cause only where `confirm` does. Say "no cue found" only
with the power that the report prints. Never add `--allow` by yourself: ask the person.
"""


def on_post_build(config: Any) -> None:
    """Write both files beside the built pages."""
    site = Path(config["site_dir"])
    (site / "llms.txt").write_text(llms(config["nav"]), encoding="utf-8")
    (site / "SKILL.md").write_text(skill(config["nav"]), encoding="utf-8")


def llms(nav: Sequence[Mapping[str, Any]]) -> str:
    """The pages by section, each with its first sentence (llmstxt.org)."""
    parts = [HEAD]
    for title, pages in sections(nav):
        lines = [
            f"- [{name}]({address(page)}): {summary(page)}" for name, page in pages
        ]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def skill(nav: Sequence[Mapping[str, Any]]) -> str:
    """What an agent is told to do, with the command of each how-to page."""
    lines = []
    for title, pages in sections(nav):
        for name, page in pages if title == "How-to" else ():
            lines.append(f"- {name}: {command(page)}[read]({address(page)})")
    return SKILL + "\n## Tasks\n\n" + "\n".join(lines) + "\n"


def sections(
    nav: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sections of the navigation, with the titles and files of their pages."""
    for section in nav:
        for title, entries in section.items():
            if isinstance(entries, str):
                yield title, [(title, entries)]
                continue
            pages = [page for entry in entries for page in entry.items()]
            yield title, [(name, page) for name, page in pages if is_page(page)]


def is_page(page: Any) -> bool:
    """True for a Markdown page of this documentation."""
    return isinstance(page, str) and page.endswith(".md") and (DOCS / page).is_file()


def address(page: str) -> str:
    """Where a page is published."""
    return SITE + page.removesuffix("index.md").removesuffix(".md")


def summary(page: str) -> str:
    """The first two sentences of a page, as plain text."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = (block.strip() for block in text.split("\n\n"))
    plain = next(block for block in blocks if re.match(r"[A-Z`*\[]", block))
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(plain.split()))
    return " ".join(re.split(r"(?<=[.:?])\s", words)[:2]).rstrip(":")


def command(page: str) -> str:
    """The command that a page is about, else its first, to stand before its link."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"^(?: {4})?(cuescope [a-z].*)$", text, re.MULTILINE)
    own = [line for line in found if line.split()[1][:4] == page[:4]]
    first = next(iter(own or found), None)
    return f"`{first.strip()}`, " if first else ""
