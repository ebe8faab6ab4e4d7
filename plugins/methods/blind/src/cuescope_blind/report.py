"""The rows of the report, its sentences, notes and tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cuescope_blind.scores import Gain
from cuescope_blind.study import Result, Study, missed, smallest_findable
from cuescope_sdk import (
    Audit,
    Cell,
    Feature,
    Finding,
    Impact,
    Occurrence,
    Row,
    Score,
    Table,
)
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Estimate


def features(audit: Audit, study: Study) -> Iterator[Feature]:
    """A feature for each tell, and for each kind of question; a finding has its samples."""
    for result in study.results:
        found = result.is_finding(audit.options)
        yield Feature(
            key=result.row,
            kind="tell",
            name=result.name,
            occurrences=tuple(_occurrences(study, result)) if found else (),
        )


def _occurrences(study: Study, result: Result) -> Iterator[Occurrence]:
    """The samples that the tell answers right."""
    correct = result.correct
    answered = np.flatnonzero(result.part & (correct > result.gain.chance))
    # stable: equal shares keep the order of the data, and the report its hash
    for number in answered[np.argsort(-correct[answered], kind="stable")].tolist():
        yield Occurrence(sample=study.keys[number], strength=float(correct[number]))


def scores(audit: Audit, study: Study) -> Iterator[Score]:
    """The gain of each tell, and its accuracy; findings first."""
    for name, text in _notes(audit, study):
        audit.note(name, text)
    _record(audit, study)
    audit.attach(_table(study))
    found = _finding(audit, study)
    if found is not None:
        audit.attach(found)
    for result in study.results:
        gain = result.gain
        both: dict[str, Any] = {
            "feature": result.row,
            "label": None,
            "n": gain.n,
            "p_value": gain.p_value,
            "q_value": result.q_value,
        }
        yield Score(
            **both,
            metric="gain",
            value=gain.gain,
            low=gain.low,
            high=gain.high,
            finding=result.is_finding(audit.options),
            statement=study.wording.statement(result),
        )
        yield Score(**both, metric="blind_accuracy", value=gain.accuracy)


def _finding(audit: Audit, study: Study) -> Finding | None:
    """What predicts answers without a look, all that was found of it; None where nothing was."""
    found = [result for result in study.results if result.is_finding(audit.options)]
    if not found:
        return None
    first = study.learner if study.learner in found else found[0]
    assert first is not None
    noun = study.wording.noun
    return Finding(
        feature=first.row,
        claim="{feature} predicts the answer",
        columns=("correct", "chance"),
        rows=tuple(map(_row, found)),
        impact=Impact(
            # of kinds of questions too: one may hold more than all together
            count=max(least_told(result.gain) for result in found),
            total=len(study.keys),
            of=noun,
            detail="answered without looking, at least",
        ),
    )


def _row(result: Result) -> Row:
    gain = result.gain
    change = None
    if gain.low is not None and gain.high is not None:
        change = Estimate(gain.gain, gain.low, gain.high)
    row = shares_row(
        result.name,
        gain.accuracy,
        gain.chance,
        change,
        n=gain.n,
    )
    return row.model_copy(update={"feature": result.row})


def least_told(gain: Gain) -> int:
    """How many samples a finding surely tells: by the low end of its interval."""
    # below 0 nothing is told, and not less; rounded down, for it is said to be the least
    return int(max(gain.low or 0.0, 0.0) * gain.n)


def _notes(audit: Audit, study: Study) -> Iterator[tuple[str, str]]:
    options = audit.options
    noun = study.wording.noun
    yield noun, study.about
    left_out = len(audit.samples) - len(study.keys)
    if left_out:
        yield (
            "left out",
            f"{count_of(left_out, 'samples')} without a label or with fewer than two options",
        )
    # what is in two folds would be told by memory
    if study.copies:
        yield (
            "copies",
            f"{count_of(study.copies, 'groups', 'share')} a question and its options, or a "
            "picture, with another: kept in one fold",
        )
    # alone: no other model and no test of causes is proposed beside it
    next_step = study.wording.nothing_found
    if any(result.is_finding(options) for result in study.results):
        next_step = study.wording.next_step.format(half=max(1, len(study.keys) // 2))
    yield "next step", next_step
    foretold = smallest_findable(study.results, options)
    if foretold is not None:
        widest, limit = foretold
        names = [result.key for result in missed(study.results, options)]
        about = f"'{widest.key}' on {count_of(widest.gain.n, noun)}"
        power = f"none for any gain: too few {noun} ({about})"
        if limit is not None:
            power = f"80% for a gain of {100 * limit:.1f} points ({about})"
        yield "power", power
        yield "looked for and not found", ", ".join(names)


def _record(audit: Audit, study: Study) -> None:
    """s(x) of every sample: a row of `answers.parquet`."""
    if study.scores is None or study.learner is None:
        return
    # rows are recorded by sample, and the study knows keys alone
    by_key = {sample.key: sample for sample in audit.samples}
    for key, figure in zip(study.keys, study.scores.tolist(), strict=True):
        # `cuescope blind --hardest` reads these rows back
        audit.record(by_key[key], study.learner.key, "blind_score", figure)


def _table(study: Study) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for result in study.results:
        gain = result.gain
        percent = (
            100 * gain.chance,
            100 * gain.accuracy,
            100 * gain.gain,
            None if gain.low is None else 100 * gain.low,
            None if gain.high is None else 100 * gain.high,
        )
        rows.append((result.row, gain.n, *percent, result.q_value))
    noun = study.wording.noun
    columns = ("tell", noun, "chance", "right", "gain", "low", "high", "q")
    return Table.of(study.wording.title, columns, rows, study.wording.note)
