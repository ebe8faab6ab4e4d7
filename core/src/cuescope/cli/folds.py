"""A run made several times, each without one part of its data: few samples serve both jobs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.asked_again import AskedAgain, complement
from cuescope.cli.bundles import Output
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.request import Request
    from cuescope.runner import Runner

Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        min=3,
        metavar="N",
        help="For few samples: make the run N times, each without one part of its data, and "
        "test each part by what was found in the others.",
    ),
]


def require_whole(
    run: Path, request: "Request", asked: AskedAgain, beside: str | None = None
) -> None:
    """Raise UserError where the run has no parts to leave out, or `beside` is asked for as well."""
    if asked.on is not None:
        beside = "--on"
    if beside is not None:
        raise UserError(
            f"--folds and {beside} are two tests",
            expected="one of them",
            remedy="Leave --folds out where something else is named to test, or to test on",
        )
    if request.part is not None or request.limit is not None:
        raise UserError(
            f"{run} looked at a part of its data",
            expected="a run of all samples, of which each fold leaves some out",
            remedy="Leave --folds out: the samples that the run left are for testing",
        )


def without_each_fold(
    request: "Request", count: int, folder: Path
) -> Mapping[Path, "Request"]:
    """A request for each fold, on all but this fold, by the folder of its run."""
    requests = {}
    for fold in range(1, count + 1):
        part = complement(f"{fold}/{count}")
        requests[folder / f"without-{fold}"] = request.model_copy(update={"part": part})
    return requests


def make_runs(
    runner: "Runner",
    runs: Mapping[Path, "Request"],
    asked: AskedAgain,
    output: Output,
) -> bool:
    """Make the runs, which ask nothing that the first run has asked; False for their plan."""
    from cuescope.cli.planning import show_plan

    announce = runner.context.announce
    announce(
        f"The run is made again {len(runs)} times, each without one part of its data, and "
        "each part is tested by what was found in the others"
    )
    if asked.plan and not all((path / "report.json").exists() for path in runs):
        announce("the plan of the first; the test can be planned once all are made")
        path, request = next(iter(runs.items()))
        show_plan(replace(runner, out=path), request, as_json=output.as_json)
        return False
    if not asked.plan:
        for path, request in runs.items():
            replace(runner, out=path).run(request, resume=True)
    return True
