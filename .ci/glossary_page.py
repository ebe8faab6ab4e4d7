"""The glossary: the words that `cuescope explain` prints, put into their page."""

from pathlib import Path
from typing import Any

import cuescope.cli

PAGE, MARK = "read-a-report.md", "<!-- glossary -->"
WORDS = Path(cuescope.cli.__file__).parent / "glossary.md"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A hook of mkdocs."""
    if page.file.src_uri != PAGE:
        return markdown
    return markdown.replace(MARK, WORDS.read_text(encoding="utf-8"))
