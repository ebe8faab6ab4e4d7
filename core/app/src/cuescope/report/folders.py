"""A run's folder is its own: no other audit writes into it."""

from pathlib import Path

from cuescope_core.errors import UserError
from cuescope_core.next_commands import words_without
from cuescope_core.request import Request
from cuescope_core.runs import load_report, stored_command

# they change the way, not the answer
_WAY = ("--batch-size", "--executor", "--device")


def refuse_folder_of_runs(folder: Path) -> None:
    """Raise UserError where a folder holds runs and is none itself: they would lie in a run."""
    if (folder / "report.json").exists():
        return
    run = next(folder.glob("*/report.json"), None)
    if run is not None:
        raise UserError(
            f"{folder} is a folder of runs",
            expected="a folder of its own for this run",
            got=f"one that holds {run.parent.name}",
            remedy=f"Name one in it: --out {folder / 'NAME'}",
        )


def refuse_another_audit(folder: Path, request: Request) -> None:
    """Raise UserError where the folder holds the report of another request."""
    if not (folder / "report.json").exists():
        return
    try:
        before = stored_command(folder)
    except UserError:  # what nobody can read is nobody's work
        return
    if words_without(before, _WAY) != words_without(request.command, _WAY):
        raise UserError(
            f"{folder} holds the report of another audit",
            expected="an empty folder, or one of this audit",
            got=_asked_by(folder),
            remedy="Choose another folder with --out, or delete this one",
        )


def _asked_by(folder: Path) -> str:
    command = load_report(folder).provenance.command
    return f"`{command}`" if command else "an untrusted one"
