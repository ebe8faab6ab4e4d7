"""The day when all names are ours on the index: the core, the README and the docs say so."""

import tomllib
from pathlib import Path

from release import ReleaseError

INSTALLING = "core/app/src/cuescope/installing.py"
BEFORE, AFTER = "REGISTERED = False", "REGISTERED = True"
TEXTS = Path(__file__).with_name("registered.toml")
HOW = (
    "REGISTERED is False, so remedies name a clone: right while names are reserved; "
    "`make registered` once all are ours (.ci/release/README.md)"
)


def is_registered(root: Path) -> bool:
    """Whether the core of a checkout takes the names as ours."""
    return AFTER in (root / INSTALLING).read_text("utf-8").splitlines()


def register(root: Path) -> None:
    """Write it; raises ReleaseError where a text is not what it was when this was prepared."""
    texts = tomllib.loads(TEXTS.read_text("utf-8"))["text"]
    changes = [_change(root, text) for text in texts]
    core = root / INSTALLING
    changes.append((core, core.read_text("utf-8").replace(BEFORE, AFTER)))
    # all of them or none
    for file, content in changes:
        file.write_text(content, "utf-8")


def _change(root: Path, text: dict[str, str]) -> tuple[Path, str]:
    file = root / text["file"]
    content = file.read_text("utf-8")
    start = content.find(text["from"])
    end = content.find(text["until"], start)
    if start < 0 or end < 0:
        raise ReleaseError(
            f"{text['file']} has no part from {text['from']!r} until {text['until']!r}: "
            "mend .ci/release/registered.toml"
        )
    return file, content[:start] + text["becomes"].lstrip("\n") + content[end:]
