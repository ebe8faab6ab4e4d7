"""`findings.parquet`: the headline scores of a report, a row each, in the report's own order."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuescope_core.conclusions import Finding, Report, Score
from cuescope_core.errors import UserError, nearest
from cuescope_core.parquet_files import require_pyarrow
from cuescope_core.runs import write_atomically

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
FINDINGS = {
    "number": "int64",  # 1 for the strongest finding; null where the row is none
    "feature": "string",
    "name": "string",  # the feature's name in words
    "label": "string",  # null for what is about no one label
    "metric": "string",
    "value": "float64",
    "low": "float64",  # bounds of the interval
    "high": "float64",
    "n": "int64",
    "p": "float64",
    "q": "float64",  # corrected for all that was tried
    "finding": "bool",
    "sentence": "string",
    "occurrences": "int64",  # places in the data where the feature occurs
}
SCORES = {
    name: kind
    for name, kind in FINDINGS.items()
    if name not in ("number", "occurrences")
}


def finding_rows(report: Report) -> Iterator[Row]:
    """A row for each headline score; n, p and q may stand in another score of the same row."""
    beside: dict[tuple[str, str | None], list[Score]] = {}
    for score in report.scores:
        beside.setdefault((score.feature, score.label), []).append(score)
    occurrences = {feature.key: len(feature.occurrences) for feature in report.features}
    numbers = {id(score): number for number, score in enumerate(report.findings, 1)}
    for headline in report.headlines:
        scores = [headline, *beside[headline.feature, headline.label]]
        row = _row(report, headline)
        for column, name in (("n", "n"), ("p", "p_value"), ("q", "q_value")):
            values = (getattr(score, name) for score in scores)
            row[column] = next((value for value in values if value is not None), None)
        yield {
            "number": numbers.get(id(headline)),
            **row,
            "occurrences": occurrences[headline.feature],
        }


def score_rows(report: Report) -> Iterator[Row]:
    """A row for each score of each metric."""
    return (_row(report, score) for score in report.scores)


def _row(report: Report, score: Score) -> Row:
    return {
        "feature": score.feature,
        "name": report.names[score.feature],
        "label": score.label,
        "metric": score.metric,
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "n": score.n,
        "p": score.p_value,
        "q": score.q_value,
        "finding": score.finding,
        "sentence": report.sentence(score),
    }


def as_table(rows: Iterable[Row], columns: Mapping[str, str]) -> "pa.Table":
    """The rows as a table of these columns."""
    require_pyarrow()
    import pyarrow as pa

    # by a schema: a column of missing values alone would have no type
    schema = pa.schema(
        [(name, pa.type_for_alias(kind)) for name, kind in columns.items()]
    )
    kept = list(rows)
    try:
        return pa.Table.from_pylist(kept, schema=schema)
    except UnicodeEncodeError:  # half a letter, of an answer
        whole = [{name: _whole(cell) for name, cell in row.items()} for row in kept]
        return pa.Table.from_pylist(whole, schema=schema)


def _whole(cell: Any) -> Any:
    """A text with an escape for each half of a letter; any other cell as it is."""
    if not isinstance(cell, str):
        return cell
    return cell.encode(errors="backslashreplace").decode()


def findings_table(report: Report) -> "pa.Table":
    """The table of `findings.parquet`."""
    return as_table(finding_rows(report), FINDINGS)


def write_findings(report: Report, path: Path) -> None:
    """Write `findings.parquet`, whole or not at all."""
    from io import BytesIO

    from pyarrow.parquet import write_table

    # pyarrow writes as it goes; by way of memory the file is whole or not there
    file = BytesIO()
    write_table(findings_table(report), file)
    write_atomically(path, file.getvalue())


def find_cue(report: Report, wanted: str) -> Finding:
    """A finding by its number in the report, or by the name or key of its cue."""
    names = [report.names[cue.feature] for cue in report.cues]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return report.cues[int(wanted) - 1]
    for cue, name in zip(report.cues, names, strict=True):
        if wanted in (name, cue.feature):
            return cue
    listed = "; ".join(f"{number} {name}" for number, name in enumerate(names[:5], 1))
    raise UserError(
        f"no finding '{wanted}'",
        expected=f"1 to {len(names)}, or a name ({listed})" if names else "a finding",
        got=None if names else "a report without findings",
        remedy=nearest(wanted, names),
    )


def find_finding(report: Report, wanted: str) -> Score:
    """A finding by its number, or by the name or key of its feature; raises UserError."""
    findings = report.findings
    if not findings:
        raise UserError(
            f"finding {wanted}",
            expected="a report with findings",
            got=" ".join(["none in this one.", *report.doubts]),
        )
    # any other number may be a name: labels are numbers in some data
    if wanted.isdecimal() and 1 <= int(wanted) <= len(findings):
        return findings[int(wanted) - 1]
    words = [
        ": ".join([report.names[s.feature], *([s.label] if s.label else [])])
        for s in findings
    ]
    for score, name in zip(findings, words, strict=True):
        if wanted in (name, report.names[score.feature], score.feature):
            return score
    listed = "; ".join(f"{number} {name}" for number, name in enumerate(words[:5], 1))
    raise UserError(
        f"no finding '{wanted}'",
        expected=f"1 to {len(findings)}, or a name ({listed})",
        remedy=nearest(wanted, words),
    )
