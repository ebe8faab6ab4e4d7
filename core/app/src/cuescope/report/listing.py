"""The runs in a folder, and what each found: read without a model of the report, so quickly."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from cuescope.report.screen import kinds_words
from cuescope_core.atomic_files import read_whole
from cuescope_core.conclusions import holds, kind_of
from cuescope_core.errors import UserError, reason_of
from cuescope_core.printable import whole_text
from cuescope_core.runs import MAX_REPORT_BYTES, damaged_report, refusal_of
from cuescope_core.trust import own_runs

DEPTH = 3  # folders below the one that is looked at
UNKNOWN = "-"
UNREADABLE = "unreadable"
# any JSON may be in a file that is called report.json, and the user's key may be unreadable
FAULTS = (
    *(OSError, UserError, ValueError),
    *(LookupError, TypeError, AttributeError),
)


@dataclass(frozen=True)
class ListedCue:
    """A headline that passes the method's rule, or that only a doubt holds back."""

    feature: str
    name: str
    label: str | None
    value: float | None
    q_value: float | None
    is_finding: bool
    in_doubt: bool


@dataclass(frozen=True)
class ListedRun:
    """A run as its report tells it; one that cannot be read is said to be so."""

    run: str
    method: str = UNKNOWN
    model: str = UNKNOWN
    data: str = UNKNOWN
    findings: int | str = UNKNOWN
    date: str = UNREADABLE
    made: str = UNKNOWN
    cues: tuple[ListedCue, ...] = ()
    verdict: str | None = None  # what its findings say
    impact: str | None = None  # of the first of them, as "134 of 229 errors"
    status: str | None = None
    fault: str | None = None  # why it cannot be read, and what to do

    @property
    def row(self) -> dict[str, Any]:
        """All but the cues."""
        row = asdict(self)
        del row["cues"]
        return row


def report_files(folder: Path) -> list[Path]:
    """The reports in a folder and below it, hidden folders aside."""
    found = []
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        # in place: os.walk goes on with what is left here
        folders[:] = [name for name in folders if name[0] != "." and depth < DEPTH]
        found += [Path(place) / name for name in files if name == "report.json"]
    return found


def list_run(file: Path) -> ListedRun:
    """Read a `report.json` for the list of runs."""
    # the name of a folder may be no Unicode
    run = whole_text(str(file.parent))
    # faults are told as whoever opens the run is told
    try:
        text = read_whole(file, most=MAX_REPORT_BYTES)
    except (OSError, UserError) as error:
        return ListedRun(run, fault=reason_of(error))
    try:
        # no Report: runs of another schema version are listed too
        report = from_json(text)
    except ValueError as error:
        damaged = damaged_report(file, f"Invalid JSON: {error}")
        return ListedRun(run, fault=str(damaged))
    try:
        return _list_report(run, report)
    except FAULTS as error:
        refusal = refusal_of(file, text)
        return ListedRun(run, fault=reason_of(refusal or error))


def _list_report(run: str, report: Mapping[str, Any]) -> ListedRun:
    origin = report["provenance"]
    cues = tuple(_cues(report))
    cues_found = [cue for cue in report["cues"] if _is_found(cue)]
    found: Mapping[str, Any] = next(iter(cues_found), {})
    impact = found.get("impact")
    # by its own word: whoever opens the run compares the seal with the content
    is_own = own_runs.is_own(str(report.get("seal")))
    return ListedRun(
        run,
        method=str(origin["method"]["spec"]),
        model=str(origin["model"]["spec"]),
        data=str(origin["data"]["spec"]),
        findings=len(cues_found),
        date=str(origin["started"])[:16].replace("T", " "),
        made="here" if is_own else "elsewhere",
        cues=cues,
        verdict=_verdict(report, cues_found),
        impact=impact and f"{impact['count']} of {impact['total']} {impact['of']}",
        status=found.get("status"),
    )


def _names(report: Mapping[str, Any]) -> dict[str, str]:
    names = {feature["key"]: feature["name"] for feature in report["features"]}
    for shown in reversed(report["portraits"]):
        names[shown["feature"]] = names[shown["feature"]] or shown["name"]
    for check in report["evidence"]:
        if check["feature"] and check["name"]:
            names[check["feature"]] = check["name"]
    return {key: str(name or key) for key, name in names.items()}


def _verdict(
    report: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> str | None:
    """What the only finding says, or the names of several; else what the model uses."""
    names = {key: name.upper() for key, name in _names(report).items()}
    if len(found) > 1:
        kinds = kinds_words([kind_of(cue["status"]) for cue in found])
        return f"{kinds}: {'; '.join(dict.fromkeys(names[cue['feature']] for cue in found))}"
    told = found or [
        cue for cue in report["cues"] if kind_of(cue["status"]) == "result"
    ]
    claims = (
        str(cue["claim"]).replace("{feature}", names[cue["feature"]]) for cue in told
    )
    return "; ".join(claims) or None


def _is_found(cue: Mapping[str, Any]) -> bool:
    return holds(cue["status"], (row["passes"] for row in cue["rows"]))


def _cues(report: Mapping[str, Any]) -> Iterator[ListedCue]:
    metrics = report["metrics"]
    first = metrics[0]["name"] if metrics else None
    names = _names(report)
    for score in report["scores"]:
        if score["metric"] != first:
            continue
        if score["finding"] or score.get("doubt"):
            yield ListedCue(
                feature=str(score["feature"]),
                name=names[score["feature"]],
                label=None if score["label"] is None else str(score["label"]),
                value=score["value"],
                q_value=score["q_value"],
                is_finding=bool(score["finding"]),
                in_doubt=bool(score.get("doubt")),
            )
