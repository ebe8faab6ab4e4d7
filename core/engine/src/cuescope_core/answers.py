"""`answers.parquet`: what the model answered, a row a question, in the order of asking."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from cuescope_core.atomic_files import Draft
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.findings import as_table, write_findings
from cuescope_core.hookspecs import hookimpl
from cuescope_core.parquet_files import require_pyarrow
from cuescope_core.runs import RunFolder, source_of
from cuescope_core.types import Outcome, Sample, Trial

if TYPE_CHECKING:
    import pyarrow as pa

    from cuescope_core.auditing import Audit
    from cuescope_core.conclusions import Report

ROWS = 20_000  # in memory at a time
COLUMNS = {
    "sample": "string",
    "group": "string",  # null where samples are taken as independent
    "content": "string",  # digest of the frames: equal frames, equal digest
    "question": "string",  # what was asked about the sample; null where nothing was
    "condition": "string",
    "feature": "string",
    "edit": "string",  # the kind of change inside the model
    "label": "string",
    "prediction": "string",  # null where the model only wrote text
    "correct": "bool",  # null where no label is known
    "p_label": "float32",  # probability of the label among the choices
    "p_prediction": "float32",
    "text": "string",
    "figure": "float64",  # what a method measured of the sample, `condition` naming it
}
LATER = {"content", "question", "figure"}  # columns that older runs do not have


class AnswersFile:
    """Observes an audit and keeps its answers and findings, whole or not at all."""

    def __init__(self, path: Path) -> None:
        # before a model is asked
        require_pyarrow()
        self.path = path
        self._draft: Draft | None = None
        self._writer: Any = None
        self._written: set[int] = set()  # hashes: a method may ask again

    @hookimpl
    def answered(self, outcomes: Sequence[Outcome]) -> None:
        """Write the answers; what was read inside the model is none."""
        answers = []
        for outcome in outcomes:
            name = hash(_name(outcome.trial))
            if outcome.trial.readout is None and name not in self._written:
                self._written.add(name)
                answers.append(outcome)
        for start in range(0, max(len(answers), 1), ROWS):  # none at all is a table too
            chunk = answers[start : start + ROWS]
            self._write([_answer_row(outcome) for outcome in chunk])

    def _write(self, rows: list[dict[str, Any]]) -> None:
        """Append the rows; a column that a row lacks is null in it."""
        from pyarrow.parquet import ParquetWriter

        table = as_table(rows, COLUMNS)
        if self._writer is None:
            self._draft = Draft(self.path)
            finalize(self, self._draft.discard)  # of an audit that failed
            self._writer = ParquetWriter(self._draft.path, table.schema)
        self._writer.write_table(table)

    def finish(self, audit: "Audit", report: "Report") -> list[str]:
        """Write what was measured and what was found; the files are whole from here on.

        Returns the names of those that there are.
        """
        findings = self.path.with_name("findings.parquet")
        write_findings(report, findings)
        if audit.figures:
            self._write([_figure_row(*figure) for figure in audit.figures])
        if self._writer is not None and self._draft is not None:
            self._writer.close()
            self._draft.keep()
            return [self.path.name, findings.name]
        return [findings.name]


def read_answers(path: Path) -> "pa.Table":
    """The answers of a run folder; raises UserError where there are none."""
    file = path / "answers.parquet"
    if not file.is_file():
        raise UserError(
            f"no answers at {path}",
            expected="a run folder with answers.parquet",
            remedy="Run the audit again: this version keeps them",
        )
    # by the report's digest: a file that was changed is refused
    content = RunFolder(path).read(file.name)
    from cuescope_core.parquet_files import read_parquet

    # a run of one's own may have a hundred million answers
    own = source_of(path).typed_before
    table = read_parquet(content, str(file), COLUMNS, own=own)
    missing = COLUMNS.keys() - LATER - set(table.column_names)
    if missing:
        raise UserError(f"{file} has no column {', '.join(sorted(missing))}")
    for name in ("sample", "condition"):
        if table[name].null_count:
            raise UserError(f"{file}: column {name}", expected="a text in each row")
    return table


def content_of(sample: Sample) -> str:
    """Digest of a sample's frames, as a row has it."""
    return digest([frame.key for frame in sample.frames])


def _name(trial: Trial) -> tuple[object, ...]:
    sample = trial.sample
    edit = trial.edit and digest(trial.edit.kind, trial.edit)
    return sample.key, sample.question, trial.condition, trial.feature, edit


def _answer_row(outcome: Outcome) -> dict[str, Any]:
    trial = outcome.trial
    sample = trial.sample
    label = sample.label
    text = outcome.response.text
    row: dict[str, Any] = {
        "sample": sample.key,
        "group": sample.group,
        "content": content_of(sample),
        "question": sample.question,
        "condition": trial.condition,
        "feature": trial.feature,
        "edit": trial.edit and trial.edit.kind,
        "label": label,
        "text": text,
    }
    answer = text
    chances = _softmax(outcome.response.logits)
    if chances is not None:
        answer = outcome.prediction or text
        row["prediction"] = outcome.prediction
        row["p_prediction"] = chances.max()
        if label is not None:
            row["p_label"] = chances[sample.choices.index(label)]
    if label is not None:
        row["correct"] = label == answer
    return row


def _figure_row(
    sample: Sample,
    feature: str,
    measure: str,
    figure: float,
    text: str | None,
) -> dict[str, Any]:
    return {
        "sample": sample.key,
        "group": sample.group,
        "condition": measure,
        "feature": feature,
        "label": sample.label,
        "text": text,
        "figure": figure,
    }


def _softmax(logits: np.ndarray | None) -> np.ndarray | None:
    if logits is None or not len(logits):
        return None
    # exp would overflow
    chances = np.exp(logits - logits.max())
    return np.asarray(chances / chances.sum())
