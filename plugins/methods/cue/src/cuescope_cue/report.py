"""Features, rows and notes of the report."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cuescope_cue.analysis import Analysis, Measured, correct_of
from cuescope_cue.options import CueOptions
from cuescope_sdk import Audit, Feature, Occurrence, Score, Table
from cuescope_sdk.report import count_of
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
    """The cue where it likely is, the likeliest sample first."""
    recognition = measured.recognition
    cue = measured.cue
    samples = measured.samples
    occurrences = []
    for number in recognition.shown.tolist():
        sample = samples[number]
        region = None
        if cue.place is not None:
            size = sample.frames[0].load().size
            region = tuple(map(float, cue.place.pixels(size)))
        strength = float(recognition.log_odds[number])
        occurrences.append(
            Occurrence(sample=sample.key, region=region, strength=strength)
        )
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
        if lines:
            audit.attach(_table(measured, lines))
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


def _table(measured: Measured, lines: list[Line]) -> Table:
    """All labels, whatever they come to: the cue was given to be measured."""
    rows = [
        (
            line.label,
            100 * line.with_cue,
            100 * line.without_cue,
            100 * line.change.value,
            100 * line.change.low,
            100 * line.change.high,
            line.n,
            measured.q_value,
        )
        for line in lines
    ]
    return Table.of(
        f"{measured.cue.name}: correct answers in percent, if it draws '{measured.answer}'",
        ("label", "with cue", "without", "change", "low", "high", "n", "q"),
        rows,
    )


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
    audit.note("tests", f"{analysis.tests} pairs of a cue and an answer")


def _points(share: float) -> str:
    return f"{100 * share:+.0f}".replace("-", "−")
