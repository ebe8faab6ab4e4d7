"""`answers.parquet`: what the model answered, a row a question, in the order of asking."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope.hookspecs import hookimpl
from cuescope.report.findings import write_findings
from cuescope.runs import RunFolder
from cuescope.types import Outcome, Sample, Trial
from cuescope.whole_files import Draft

if TYPE_CHECKING:
    import pyarrow as pa

    from cuescope.auditing import Audit
    from cuescope.conclusions import Report

ROWS = 20_000  # in memory at a time
COLUMNS = {
    "sample": "string",
    "group": "string",  # null where samples are taken as independent
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
LATER = {"question", "figure"}  # columns that older runs do not have


class AnswersFile:
    """Observes an audit and keeps its answers and findings, whole or not at all."""

    def __init__(self, path: Path) -> None:
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
            self._write(_columns(answers[start : start + ROWS]))

    def _write(self, columns: dict[str, list[Any]]) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
        if self._writer is None:
            self._draft = Draft(self.path)
            finalize(self, self._draft.discard)  # of an audit that failed
            self._writer = ParquetWriter(self._draft.path, schema)
        rows = len(columns["sample"])
        whole = {name: columns.get(name, [None] * rows) for name in COLUMNS}
        self._writer.write_table(pa.Table.from_pydict(whole, schema=schema))

    def finish(self, audit: "Audit", report: "Report") -> None:
        """Write what was measured and what was found; the files are whole from here on."""
        write_findings(report, self.path.with_name("findings.parquet"))
        if audit.figures:
            self._write(_figure_columns(audit.figures))
        if self._writer is not None and self._draft is not None:
            self._writer.close()
            self._draft.keep()


def read_answers(path: Path) -> "pa.Table":
    """The answers of a run folder; raises UserError where there are none."""
    from pyarrow import ArrowException, BufferReader
    from pyarrow.parquet import read_table

    file = path / "answers.parquet"
    if not file.is_file():
        raise UserError(
            f"no answers at {path}",
            expected="a run folder with answers.parquet",
            remedy="Run the audit again: this version keeps them",
        )
    content = RunFolder(path).read(file.name)
    try:
        table = read_table(BufferReader(content))
    except (ArrowException, OSError) as error:
        raise UserError(f"{file} cannot be read", got=str(error).splitlines()[0]) from error
    if missing := COLUMNS.keys() - {*LATER, *table.column_names}:
        raise UserError(f"{file} has no column {', '.join(sorted(missing))}")
    return table


def _name(trial: Trial) -> tuple[object, ...]:
    sample = trial.sample
    edit = trial.edit and digest(trial.edit.kind, trial.edit)
    return sample.key, sample.question, trial.condition, trial.feature, edit


def _columns(outcomes: Sequence[Outcome]) -> dict[str, list[Any]]:
    trials = [outcome.trial for outcome in outcomes]
    samples = [trial.sample for trial in trials]
    labels = [sample.label for sample in samples]
    chances = [_softmax(outcome.response.logits) for outcome in outcomes]
    predictions = [
        None if c is None else o.prediction for c, o in zip(chances, outcomes, strict=True)
    ]
    said = [p or o.response.text for p, o in zip(predictions, outcomes, strict=True)]
    return {
        "sample": [sample.key for sample in samples],
        "group": [sample.group for sample in samples],
        "question": [sample.question for sample in samples],
        "condition": [trial.condition for trial in trials],
        "feature": [trial.feature for trial in trials],
        "edit": [trial.edit and trial.edit.kind for trial in trials],
        "label": labels,
        "prediction": predictions,
        "correct": [None if a is None else a == b for a, b in zip(labels, said, strict=True)],
        "p_label": [
            None if each is None or label is None else each[sample.choices.index(label)]
            for each, label, sample in zip(chances, labels, samples, strict=True)
        ],
        "p_prediction": [None if each is None else each.max() for each in chances],
        "text": [outcome.response.text for outcome in outcomes],
    }


def _figure_columns(
    figures: Sequence[tuple[Sample, str, str, float, str | None]],
) -> dict[str, list[Any]]:
    samples, features, measures, values, texts = zip(*figures, strict=True)
    return {
        "sample": [sample.key for sample in samples],
        "group": [sample.group for sample in samples],
        "condition": list(measures),
        "feature": list(features),
        "label": [sample.label for sample in samples],
        "text": list(texts),
        "figure": list(values),
    }


def _softmax(logits: np.ndarray | None) -> np.ndarray | None:
    if logits is None or not len(logits):
        return None
    chances = np.exp(logits - logits.max())
    return np.asarray(chances / chances.sum())
