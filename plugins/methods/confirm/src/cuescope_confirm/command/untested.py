"""An investigation without a test: the report of what was found, and why no more is known."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cuescope.application import Runner, reason_of
from cuescope_confirm import Confirm
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import LeftOut, folders_of
from cuescope_confirm.trials import NOTHING
from cuescope_sdk import Feature, Report, Request, Sample, Score, StoredRun, Table


@dataclass(frozen=True)
class Reason:
    """Why cues were not tested: in a clause, and in the notes of the report."""

    clause: str
    notes: Mapping[str, str]


OPEN = Reason(
    "since no model was named",
    {
        "not tested": "These cues correlate with recorded answers. A log cannot say what "
        "causes them.",
        "next step": "Give the same command with --model SPEC, first with --plan: the model is "
        "asked only what decides. The reports of the methods are in the folder `found`.",
    },
)


def failure_reason(error: Exception) -> Reason:
    """That the test ended in an error."""
    return Reason(
        "since the test failed",
        {
            "failed": f"the test of causes: {reason_of(error)}",
            "next step": "Mend what failed and give the same command again: what has run is not "
            "run again. The reports of the methods are in the folder `found`.",
        },
    )


def untested(
    runner: Runner,
    request: Request,
    found: Path,
    lists: Sequence[Path],
    reason: Reason,
) -> Report:
    """The report in the place of the `request` that was not asked; it is stored.

    The folders below `found` that have the `lists` of runs: one, or one for each fold.
    """
    choice = runner.context.resolve("method", request.method, request.method_options)
    run, *others = lists
    folders, left_out = folders_of(ConfirmOptions(run=run, others=tuple(others)))
    runs = [StoredRun(folder, runner.context) for folder in folders]
    # of folds, each method has a run in each
    below = found.resolve()
    reports = {str(run.path.resolve().relative_to(below)): run.report for run in runs}
    # the runs are of one model and one data set, so any of them tells which
    first, *_ = reports.values()
    origin = first.provenance
    of_test = {
        "spec": request.method,
        "options": choice.options.model_dump(mode="json"),
        "dist": choice.entry.dist,
        "version": choice.entry.version,
        "code": None,
        "facts": {},
    }
    made = {
        "method": origin.method.model_copy(update=of_test),
        "command": request.command,
        "part": request.part,
    }
    # a report needs a score to say that nothing was found
    features = {NOTHING: Feature(key=NOTHING, kind=NOTHING, name="what methods found")}
    scores = []
    cues = []
    for name, report in reports.items():
        for feature, score in _findings(name, report, reason):
            features[feature.key] = feature
            scores.append(score)
        cues += [
            cue.model_copy(update={"feature": _key(name, cue.feature)})
            for cue in report.found
            if _key(name, cue.feature) in features
        ]
    nothing = Score(
        feature=NOTHING,
        label=None,
        metric=Confirm.metrics[0].name,
        value=None,
        statement="No method has a finding.",
    )
    dossier = Report(
        title=Confirm.title,
        metrics=Confirm.metrics,
        notes=dict(reason.notes),
        features=tuple(features.values()),
        scores=tuple(scores or [nothing]),
        cues=tuple(cues),
        evidence=(),
        tables=(_methods(reports, left_out),),
        accuracy=first.accuracy,
        provenance=origin.model_copy(update=made),
        cost=first.cost,
    )
    samples: list[Sample] = []
    # the data may be what failed, and the page can do without pictures
    with suppress(Exception):
        samples = list(runs[0].samples.values())
    runner.keep(request, dossier, samples)
    return dossier


def _findings(
    name: str, report: Report, reason: Reason
) -> Iterator[tuple[Feature, Score]]:
    """Each finding with its feature, under a key that no other method has."""
    features = {feature.key: feature for feature in report.features}
    for finding in report.findings:
        key = _key(name, finding.feature)
        update = {"key": key, "name": report.names[finding.feature]}
        about = f" on '{finding.label}'" if finding.label else ""
        yield (
            features[finding.feature].model_copy(update=update),
            Score(
                feature=key,
                label=finding.label,
                metric=Confirm.metrics[0].name,
                value=None,
                always_reported=True,
                statement=f"{{feature}}{about}: found by {name}, and not tested, {reason.clause}. "
                "Whether it is a cause is not known.",
            ),
        )


def _key(method: str, feature: str) -> str:
    """Two methods may use the same key for two things."""
    return f"{method} {feature}"


def _methods(reports: dict[str, Report], left_out: LeftOut) -> Table:
    """A method a line, as in a dossier."""
    rows = [(name, len(report.findings), None) for name, report in reports.items()]
    # what was left out stands beside what was run, each with its reason
    others = [(name, None, why) for name, why in left_out.items()]
    return Table.of(
        "Methods",
        ("method", "findings", "left out because"),
        [*rows, *others],
    )
