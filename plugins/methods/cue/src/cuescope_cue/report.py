"""Features, rows and notes of the report."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cuescope_cue.options import CueOptions
from cuescope_cue.scores import Analysis, Measured, correct_of
from cuescope_sdk import Audit, Feature, Occurrence, Score
from cuescope_sdk.report import count_of, drawn_answer, shares_row
from cuescope_sdk.statistics import Estimate, mean_interval

LEAST = 0.5  # samples of a label that are expected to show it: of fewer there is no row


class Line(NamedTuple):
    """A label's figures: accuracies with the cue and without it, and their difference."""

    label: str
    number: int
    with_cue: float
    without_cue: float
    change: Estimate[float]
    n: int


def feature_of(measured: Measured) -> Feature:
    """The samples that likely show the cue, the likeliest first."""
    recognition = measured.recognition
    occurrences = [
        Occurrence(
            sample=measured.samples[number].key,
            strength=float(recognition.log_odds[number]),
        )
        for number in recognition.shown.tolist()
    ]
    cue = measured.cue
    return Feature(
        key=cue.key, kind="cue", name=cue.name, occurrences=tuple(occurrences)
    )


def scores(audit: Audit, options: CueOptions, analysis: Analysis) -> Iterator[Score]:
    """A row a cue and label, and the facts at the report's head."""
    _note(audit, options, analysis)
    for measured in analysis.cues:
        for sample, shown in zip(
            analysis.data.samples, measured.recognition.probability, strict=True
        ):
            audit.record(sample, measured.cue.key, "probability", float(shown))
        lines = list(_lines(measured, analysis, options))
        _attach(audit, measured, analysis, lines)
        for line in lines:
            yield _score(measured, line, options)


def _lines(
    measured: Measured, analysis: Analysis, options: CueOptions
) -> Iterator[Line]:
    effects = measured.effects
    if effects is None:
        return
    low, high = effects.interval(options.confidence)
    label = analysis.data.label
    probability = measured.recognition.probability
    expected = np.bincount(label, probability, minlength=len(analysis.data.labels))
    for number in np.argsort(effects.value * expected, kind="stable").tolist():
        if expected[number] < LEAST:
            continue
        yield Line(
            analysis.data.labels[number],
            number,
            float(effects.accuracy_with[number]),
            float(effects.accuracy_without[number]),
            Estimate(
                float(effects.value[number]), float(low[number]), float(high[number])
            ),
            round(expected[number]),
        )


def _score(measured: Measured, line: Line, options: CueOptions) -> Score:
    change = line.change
    assert measured.effects is not None
    is_found = (
        measured.q_value is not None
        and measured.q_value <= options.fdr
        and line.label != measured.answer
        and change.high < 0
    )
    words = (
        f"'{line.label}': {line.with_cue:.0%} correct with {{feature}}, "
        f"{line.without_cue:.0%} without ({_points(change.value)} points, "
        f"{options.confidence:.0%} CI {_points(change.low)} to {_points(change.high)}, "
        f"n = {line.n}); it draws '{measured.answer}'."
    )
    return Score(
        feature=measured.cue.key,
        label=line.label,
        metric="accuracy_lost",
        value=-change.value,
        low=-change.high,
        high=-change.low,
        n=line.n,
        p_value=measured.effects.p_value,
        q_value=measured.q_value,
        finding=bool(is_found),
        statement=words if is_found else None,
    )


def _attach(
    audit: Audit,
    measured: Measured,
    analysis: Analysis,
    lines: list[Line],
) -> None:
    """The cue with all of its rows, whatever they come to: it was given to be measured."""
    if measured.answer is None:
        return
    rows = [
        shares_row(
            line.label,
            line.with_cue,
            line.without_cue,
            line.change,
            label=line.label,
            n=line.n,
            q_value=measured.q_value,
        )
        for line in lines
    ]
    shows = np.zeros(len(analysis.data.samples), dtype=bool)
    shows[measured.recognition.shown] = True
    finding = drawn_answer(
        measured.cue.key,
        measured.answer,
        rows,
        labels=[sample.label for sample in analysis.data.samples],
        predictions=analysis.data.prediction,
        shows=shows,
        helps=True,
    )
    audit.attach(finding)


def _note(audit: Audit, options: CueOptions, analysis: Analysis) -> None:
    correct = correct_of(analysis.data)
    low, high = mean_interval(
        correct, analysis.data.groups, confidence=options.confidence
    )
    audit.note(
        "accuracy",
        f"{correct.mean():.1%} of {count_of(len(correct), 'samples')} "
        f"({low:.1%} to {high:.1%})",
    )
    if correct.all():
        audit.note(
            "errors", "none: no answer is incorrect, so no cue can cost accuracy"
        )
    for measured in analysis.cues:
        cue = measured.cue
        expected = measured.recognition.probability.sum()
        way = (
            "learned again from the file's pictures"
            if (measured.recognition.relearned)
            else "as in its file"
        )
        audit.note(
            f"cue {cue.identity}",
            f"{cue.name}, {cue.origin}; recogniser {way}; about {expected:.0f} samples show it",
        )
    audit.note("tests", f"{count_of(analysis.tests, 'pairs')} of a cue and an answer")


def _points(share: float) -> str:
    return f"{100 * share:+.0f}".replace("-", "−")
