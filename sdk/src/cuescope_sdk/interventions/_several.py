"""More runs of `cuescope confirm RUN RUN ...`: made anew on the same part of the data."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cuescope.errors import UserError
from cuescope_sdk._other_part import Typed, apart, ask_again

if TYPE_CHECKING:
    from cuescope.request import Request
    from cuescope.runner import Runner


def find_others(
    runner: "Runner",
    runs: Sequence[Path],
    first: "Request",
    typed: Typed,
    on: str | None,
    folder: Path,
    *,
    parts: int,
    plan: bool,
) -> list[Path]:
    """The folders of the runs' findings; raises UserError for a run of another model or data.

    One that looked at all of its data is made anew on the first part, unless this is a `plan`.
    """
    found = []
    for number, run in enumerate(runs, 2):
        registry = runner.context.registry
        same = {name: getattr(first, name) for name in ("seed", "executor", "device", "batch_size")}
        held, request = ask_again(runner, run, typed)
        request = request.model_copy(update=same)
        for role in ("model", "data"):
            given = [getattr(each, role) for each in (first, request)]
            options = [getattr(each, f"{role}_options") for each in (first, request)]
            if given[0] != given[1] or options[0] != options[1]:
                raise UserError(
                    f"{run} is about another {role} than the first run",
                    expected=f"{given[0]} {dict(options[0]) or ''}".strip(),
                    got=f"{given[1]} {dict(options[1]) or ''}".strip(),
                    remedy="Confirm the runs of each by themselves",
                )
        own, finding, _ = apart(run, request, on, registry, folder / f"{number}", parts=parts)
        if finding is not None and not plan:
            runner.context.announce(f"{run} is made again on the same part of the data ({own})")
            replace(held, out=own).run(finding, resume=True)
        found.append(own)
    return found
