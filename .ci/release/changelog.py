"""CHANGELOG.md: `## version`, `### what a user can do`, `#### packages` and their lines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Self

RELEASE = re.compile(r"^## (\S+).*", re.MULTILINE)  # "## 0.1.0 (unreleased)"
HEADING = re.compile(r"^(###) (.+)\n|^(####) (.+)\n", re.MULTILINE)
CORE = "cuescope"  # what lines above the first heading of packages are about


@dataclass(frozen=True)
class Part:
    """Lines of one release about some packages, below what a user can do with them."""

    title: str
    dists: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Changelog:
    """The parts by release."""

    releases: dict[str, tuple[Part, ...]]

    @classmethod
    def read(cls, file: Path) -> Self:
        """From CHANGELOG.md."""
        _, *pieces = RELEASE.split(file.read_text("utf-8"))
        texts = dict(zip(pieces[::2], pieces[1::2], strict=True))
        return cls({version: tuple(_parts(text)) for version, text in texts.items()})

    def notes(self, version: str, dist: str) -> str:
        """What a user of a package can do with a release."""
        parts = [part for part in self.releases[version] if dist in part.dists]
        sections = groupby(parts, key=lambda part: part.title)
        texts = [_section(title, section) for title, section in sections]
        return "\n\n".join([f"# {dist} {version}", *texts]) + "\n"

    def faults(self, version: str, dists: list[str]) -> Iterator[str]:
        """What is missing for a release of these packages."""
        if version not in self.releases:
            yield f"CHANGELOG.md has no part '## {version}'"
            return
        named = {dist for part in self.releases[version] for dist in part.dists}
        for dist in sorted(named - set(dists)):
            yield f"CHANGELOG.md names {dist}, which is no package"
        is_first = len(self.releases) == 1
        for dist in sorted(set(dists) - named):
            if is_first:  # later ones say nothing of what has not changed
                yield f"CHANGELOG.md says nothing of {dist} in its first release"


def _section(title: str, parts: Iterable[Part]) -> str:
    text = "\n".join(part.text for part in parts)
    return f"## {title}\n\n{text}" if title else text


def _parts(text: str) -> Iterator[Part]:
    title = ""
    dists: tuple[str, ...] = (CORE,)
    start = 0
    for heading in HEADING.finditer(text):
        if lines := text[start : heading.start()].strip():
            yield Part(title, dists, lines)
        start = heading.end()
        title = heading[2] or title
        named = re.findall(r"`([^`]+)`", heading[4] or "")
        dists = tuple(named) or (CORE,)
    if lines := text[start:].strip():
        yield Part(title, dists, lines)
