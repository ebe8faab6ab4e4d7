"""A run made several times, each without one part of its data: few samples serve both jobs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.asked_again import AskedAgain, OtherPart, complement, name_again
from cuescope.cli.bundles import Output
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.cli.whole import Step
    from cuescope.request import Request
    from cuescope.runner import Runner
    from cuescope.stored_run import StoredRun

MOST = 0.4  # of the samples of a run: a feature in more of them ranks them all
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        min=3,
        max=20,
        metavar="N",
        help="For few samples: make the run N times, each without one part of its data, and "
        "test each part by what was found in the others.",
    ),
]


@dataclass(frozen=True)
class ShownCue:
    """A finding in words, and the `samples` of its label that show it in the run, by their keys.

    `found` are its p-value and q-value, None where its method tests nothing.
    """

    about: str
    samples: tuple[str, ...]
    found: tuple[float, float] | None = None


def shown_cues(run: "StoredRun", top: int) -> Iterator[ShownCue]:
    """Of the findings, those whose samples can be counted."""
    # a method that asks nothing has no answers, which name the labels
    if not (run.folder / "answers.parquet").is_file():
        return
    report = run.report
    labels = {row["sample"]: row["label"] for row in run.answers}
    features = {feature.key: feature for feature in report.features}
    for finding in report.findings[:top]:
        feature = features[finding.feature]
        shown = {occurrence.sample for occurrence in feature.occurrences}
        # a finding about one label is tested on its samples alone
        of_label = [key for key in shown if finding.label in (None, labels.get(key))]
        # features without places have no samples to count; those that rank all list all
        if not of_label or len(shown) > MOST * len(labels):
            continue
        name = report.names[feature.key]
        about = name if finding.label is None else f"{name} on '{finding.label}'"
        p_value, q_value = finding.p_value, finding.q_value
        found = None
        if p_value is not None and q_value is not None:
            found = p_value, q_value
        yield ShownCue(about, tuple(sorted(of_label)), found)


def foretell(
    run: "StoredRun", top: int, *, parts: int, folds: int | None, least: int
) -> Iterator[str]:
    """How many samples will show each cue where it is tested, a line each.

    By the samples of its label that show it in the run; of equal `parts` one is held out.
    """
    for cue in shown_cues(run, top):
        count = len(cue.samples)
        held = count if folds else count // parts
        where = (
            "up to all are tested" if folds else f"about {held} of them are held out"
        )
        line = f"{cue.about}: {count} samples of the run show it, and {where}"
        if held < least:
            remedy = "; --folds 4 tests all" if not folds and count >= least else ""
            line += f", too few ({least} are the fewest{remedy})"
        yield f"{line}."


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


def parts_of_folds(other: OtherPart, runs: Mapping[Path, "Request"]) -> list[OtherPart]:
    """The parts of the data that each of the runs leaves, which are to be made."""
    return [
        replace(other, found=path, finding=request) for path, request in runs.items()
    ]


def make_runs(
    runner: "Runner",
    runs: Mapping[Path, "Request"],
    asked: AskedAgain,
    output: Output,
    step: "Step",
) -> bool:
    """Make the runs, which ask nothing that the first run has asked; False for their plan."""
    from cuescope.cli.planning import show_plan

    announce = runner.context.announce
    announce(
        f"The run is made again {len(runs)} times, each without one part of its data, and "
        # said before the work: it takes as long as so many audits
        "each part is tested by what was found in the others"
    )
    if asked.plan and not all((path / "report.json").exists() for path in runs):
        announce("the plan of the first; the test can be planned once all are made")
        path, request = next(iter(runs.items()))
        show_plan(replace(runner, out=path), request, as_json=output.as_json)
        return False
    if not asked.plan:
        for path, request in runs.items():
            # resumed: a run that is there already is not made again
            with step(name_again(path, request)):
                replace(runner, out=path).run(request, resume=True)
    return True
