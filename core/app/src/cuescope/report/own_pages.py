"""Pages that a browser may be given: those of runs that this user made, and no other.

A page runs scripts, and whoever mails one can write all that ours say of themselves.
"""

import shlex
from pathlib import Path

from cuescope_core.errors import UserError
from cuescope_core.runs import RunFolder, source_of
from cuescope_core.trust.source import ELSEWHERE


def require_own_page(run: Path) -> None:
    """Raise UserError where the page of a run is not as this user's cuescope wrote it."""
    if not source_of(run).typed_before:
        raise UserError(
            f"{run} is {ELSEWHERE}",
            got="a page that may hold anything",
            remedy=f"`{command_for_page(run, 'FILE.html')}` writes one from what its report says",
        )
    RunFolder(run).read("report.html")


def command_for_page(run: Path, page: str | Path) -> str:
    """The command that writes the page of a run."""
    return shlex.join(["cuescope", "show", str(run), "--html", str(page)])
