"""Which models say that their answers stay, although their code is not that of the last release."""

import re
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from release.building import run
from release.dists import Dist, read_dists

DECLARED = re.compile(r"^ +answers_version = \d+$", re.MULTILINE)
RAISED = re.compile(r"^\+ +answers_version = \d+$", re.MULTILINE)  # in a diff


def last_release(root: Path, before: str) -> str | None:
    """The newest tag of a release that a checkout stems from, before a version."""
    tags = run(
        *("git", "tag", "--list", "v*", "--sort=-v:refname", "--merged"), at=root
    )
    # on the day of a release its own tag is there
    earlier = (tag for tag in tags.split() if Version(tag) < Version(before))
    return next(earlier, None)


def to_look_at(root: Path, version: str) -> Iterator[str]:
    """Packages whose answers are kept over the upgrade, with code that has changed."""
    tag = last_release(root, version)
    if tag is None:
        return
    for dist in read_dists(root):
        if not _keeps_answers(dist):
            continue
        change = run("git", "diff", tag, "--", str(dist.folder / "src"), at=root)
        if change and not RAISED.search(change):
            yield dist.name


def _keeps_answers(dist: Dist) -> bool:
    sources = (dist.folder / "src").rglob("*.py")
    return any(DECLARED.search(source.read_text("utf-8")) for source in sources)
