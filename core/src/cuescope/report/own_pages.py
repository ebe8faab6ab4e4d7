"""Pages that a browser may be given: those that this user's cuescope wrote, and no other.

A page runs scripts, and whoever mails one can write all that ours say of themselves.
"""

import re
import shlex
from pathlib import Path

from cuescope_core.atomic_files import read_whole, write_atomically
from cuescope_core.context import cache_folder
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.runs import RunFolder, source_of
from cuescope_core.trust.maker import is_signed, sign
from cuescope_core.trust.source import ELSEWHERE

MOST_BYTES = 2**29  # of a page: its pictures lie in it
_SIGNATURE = re.compile(r"\n<!-- cuescope ([0-9a-f]{64}) -->\n\Z")


def write_page(file: Path, page: str) -> None:
    """Write a page with this user's signature at its end."""
    signature = sign(_seal_of(page), cache_folder())
    write_atomically(file, f"{page}\n<!-- cuescope {signature} -->\n")


def require_own_page(page: Path) -> None:
    """Raise UserError for a page that this user's cuescope did not write, or that was changed."""
    try:
        text = read_whole(page, most=MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise UserError(f"{page} cannot be read", got=error.strerror) from error
    signature = _SIGNATURE.search(text)
    if signature is not None:
        seal = _seal_of(text[: signature.start()])
        if is_signed(seal, signature[1], cache_folder()):
            return
    # the page that an audit writes beside its report, which has its digest
    run = page.parent
    if page.name != "report.html" or not (run / "report.json").is_file():
        raise UserError(
            f"{page} was not opened",
            expected="a page that your cuescope wrote",
            got="one from elsewhere, which may do anything in a browser",
            remedy="If you trust whom it is from, open it in a browser yourself",
        )
    if not source_of(run, cache_folder()).typed_before:
        raise UserError(
            f"{run} is {ELSEWHERE}",
            got="a page that may hold anything",
            remedy=f"`{command_for_page(run, 'FILE.html')}` writes one from what its report says",
        )
    RunFolder(run).read("report.html")


def command_for_page(run: Path, page: str | Path) -> str:
    """The command that writes the page of a run."""
    return shlex.join(["cuescope", "show", str(run), "--html", str(page)])


def _seal_of(page: str) -> str:
    return digest("cuescope page", page)
