"""More runs of `cuescope confirm RUN RUN ...`: made anew on the same part of the data."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cuescope.application import AskedAgain, Runner, apart, ask_again
from cuescope_sdk import Request, UserError


def find_others(
    runner: Runner,
    runs: Sequence[Path],
    first: Request,
    asked: AskedAgain,
    folder: Path,
    *,
    parts: int,
) -> list[Path]:
    """The folders of the runs' findings; raises UserError for a run of another model or data.

    One that looked at all of its data is made anew on the first part, unless this is a plan.
    """
    folders = []
    for number, run in enumerate(runs, 2):
        held, request = ask_again(runner, run, asked)
        # parts are dealt by seed: with another one, halves of two runs would overlap
        request = request.model_copy(update={"seed": first.seed})
        for role in ("model", "data"):
            _require_same(role, run, first, request)
        other = apart(
            run,
            request,
            asked.on,
            runner.context.registry,
            folder / f"{number}",
            parts=parts,
        )
        if other.finding is not None and not asked.plan:
            runner.context.announce(
                f"{run} is made again on the same part of the data ({other.found})"
            )
            replace(held, out=other.found).run(other.finding, resume=True)
        folders.append(other.found)
    return folders


def _require_same(role: str, run: Path, first: Request, other: Request) -> None:
    expected = getattr(first, role)
    got = getattr(other, role)
    expected_options = getattr(first, f"{role}_options")
    got_options = getattr(other, f"{role}_options")
    if (expected, expected_options) != (got, got_options):
        raise UserError(
            f"{run} is about another {role} than the first run",
            expected=f"{expected} {dict(expected_options) or ''}".strip(),
            got=f"{got} {dict(got_options) or ''}".strip(),
            remedy="Confirm the runs of each by themselves",
        )
