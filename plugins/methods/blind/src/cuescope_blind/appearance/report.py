"""The rows of a report about labels, its sentences, notes and table."""

from collections.abc import Iterator

import numpy as np

from cuescope_blind.appearance.analysis import (
    LabelResult,
    LabelStudy,
    is_label_finding,
    label_study,
    not_told,
    smallest_told,
)
from cuescope_blind.files import COLOURS, METADATA
from cuescope_blind.report import least_told, no_more, scores_of
from cuescope_sdk import Audit, Cell, Feature, Occurrence, Score, Table
from cuescope_sdk.report import count_of

NEXT_STEP = (
    "Look at the samples that show each tell: did one label come from another source, camera or "
    "tool? Colours may belong to the label itself. To see whether a model uses a tell, write all "
    "files anew in one size and quality, and ask it again."
)
NOTHING_FOUND = (
    "These tells were not found, and more samples find smaller gains. Backgrounds and objects "
    "are for the other methods: `cuescope methods --data DATA`."
)


def features(audit: Audit) -> Iterator[Feature]:
    """A feature a tell; one with a finding has the samples whose labels it tells."""
    study = audit.once(label_study, audit)
    told = {
        result.tell
        for result in study.results
        if is_label_finding(result, audit.options)
    }
    for result in study.results:
        # a tell of one label is the same tell: one feature, with the scores of both
        if result.label is None:
            shown = result.tell in told
            yield Feature(
                key=result.tell.key,
                kind="tell",
                name=result.tell.name,
                # thousands of samples of what is no finding would only fatten the report
                occurrences=tuple(_occurrences(study, result)) if shown else (),
            )


def _occurrences(study: LabelStudy, result: LabelResult) -> Iterator[Occurrence]:
    for number in np.flatnonzero(result.correct).tolist():
        yield Occurrence(sample=study.data.samples[number].key)


def scores(audit: Audit) -> Iterator[Score]:
    """The gain of each tell, and its accuracy; findings first."""
    study = audit.once(label_study, audit)
    _note(audit, study)
    _record(audit, study)
    audit.attach(_table(study))
    for result in study.results:
        yield from scores_of(
            result.gain,
            finding=is_label_finding(result, audit.options),
            statement=statement(result),
            feature=result.tell.key,
            label=result.label,
            q_value=result.q_value,
        )


def statement(result: LabelResult) -> str:
    """The finding as a sentence; the report puts the tell's name into it."""
    gain = result.gain
    alone = "From {feature} alone"
    if result.label is None:
        return (
            f"{alone}, the label is told right of {gain.accuracy:.1%} of {gain.n:,} samples; "
            f"guessing gives {gain.chance:.1%} ({gain.points})."
        )
    return (
        f"{alone}, '{result.label}' is said of {gain.accuracy:.1%} of its "
        f"{count_of(gain.n, 'samples')}, "
        f"and of {gain.chance:.1%} of all others ({gain.points})."
    )


def _note(audit: Audit, study: LabelStudy) -> None:
    data = study.data
    total = len(data.samples)
    told = [
        result
        for result in study.results
        if result.label is None and result.tell is METADATA
    ]
    for result in told:
        found = is_label_finding(result, audit.options)
        answered = least_told(result.gain, total, found=found)
        figures = f"{result.gain.accuracy:.1%} right, guessing {result.gain.chance:.1%}"
        words = f"at least {answered:,} of {total:,} labels are told by their files ({figures})"
        if answered == 0:
            words = f"labels as their files tell: {figures}: {no_more(result.gain)}"
        audit.note("answered without looking", words)
    if not told:
        audit.note(
            "answered without looking",
            "not known: no sample names its file, or all files are alike",
        )
    audit.note("samples", f"{total:,} of {len(data.names)} labels")
    left_out = len(audit.samples) - total
    if left_out:
        audit.note("left out", f"{count_of(left_out, 'samples')} without a label")
    copies = data.groups.count - data.fold_groups.count
    # a picture that is in two folds would be told by memory
    if copies:
        audit.note(
            "copies",
            f"{count_of(copies, 'groups', 'share')} a picture: kept in one fold",
        )
    found = any(is_label_finding(result, audit.options) for result in study.results)
    audit.note("next step", NEXT_STEP if found else NOTHING_FOUND)
    missed = smallest_told(study, audit.options)
    if missed is None:
        # everything was found: nothing could have been missed
        return
    widest, limit = missed
    names = [result.tell.key for result in not_told(study, audit.options)]
    about = f"'{widest.tell.key}' on {count_of(widest.gain.n, 'samples')}"
    power = f"There are too few samples to find any gain ({about})"
    if limit is not None:
        power = (
            f"A gain of {100 * limit:.1f} points is found in 8 of 10 audits ({about})"
        )
    audit.note(
        "could have been missed",
        f"looked for and not found: {', '.join(names)}. {power}",
    )


def _record(audit: Audit, study: LabelStudy) -> None:
    """s(x) of every sample: a row of `answers.parquet`."""
    if study.chances is None:
        return
    # less guessing, as s(x) of the questions is: 0 is a sample that its file says nothing of
    scores_of = study.chances - 1 / len(study.data.names)
    for sample, score in zip(study.data.samples, scores_of.tolist(), strict=True):
        audit.record(sample, METADATA.key, "blind_score", score)


def _table(study: LabelStudy) -> Table:
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
        rows.append((result.key, gain.n, *percent, result.q_value))
    return Table.of(
        "What files tell of labels (percent)",
        ("tell", "samples", "chance", "right", "gain", "low", "high", "q"),
        rows,
        f"'{COLOURS.key}' sees the picture, and what it tells may belong to the label. Of one "
        "label, chance is how often it is said of samples of other labels.",
    )
