"""Checks of what CCI found: planted backgrounds, backgrounds alone, and images of one source."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cuescope_cci.analysis import is_overall_pull, is_pull
from cuescope_cci.backgrounds.measure import Backgrounds, PullRow, measure_backgrounds
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Sources,
    counted_sources,
    factor_words,
    groups,
    varying_factors,
)
from cuescope_cci.options import CCIOptions
from cuescope_sdk import Audit, Evidence, PlantedCue, Sample, Verdict
from cuescope_sdk.report import signed

SOURCES = "images of one source"
ON_CUE = 0.8  # of the images of a kind show the planted cue: then the kind is that cue


def evidence(audit: Audit, options: CCIOptions, sources: Sources) -> Iterator[Evidence]:
    """Backgrounds alone, images of one source, the planted truth where there is an answer sheet."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    if known is None:
        return
    findings = [row for row in known.rows if is_pull(row, options)]
    yield from map(check_alone, findings)
    yield from check_sources(audit, options, known)
    yield from check_cues(audit.planted_cues, audit.samples, sources, findings)


def check_alone(row: PullRow) -> Evidence:
    """Whether the background alone is answered as the finding says.

    It would catch a pull that something else than the background makes: what goes with this kind
    of background, in the objects or in how they were photographed, is not there when the objects
    are hidden. Refuted where the background alone explains less than the whole pull.
    """
    alone = row.alone
    verdict: Verdict = "inconclusive"
    if alone.low > 0:
        verdict = "supported"
    # the whole pull lies above: something that goes with the background makes the rest
    elif alone.high < row.pull.low:
        verdict = "refuted"
    few = " (few groups)" if alone.few else ""
    return Evidence(
        check="background alone",
        verdict=verdict,
        detail=f"without the objects, this kind of background is answered '{row.label}' in "
        f"{alone.here:.0%} of the images, other kinds with the same classes in "
        f"{alone.elsewhere:.0%}: {_points(alone.value, alone.low, alone.high)}{few}",
        value=alone.value,
        threshold=0.0,
        n=row.images,
        feature=row.feature,
        label=row.label,
    )


def check_sources(
    audit: Audit,
    options: CCIOptions,
    known: Backgrounds,
) -> Iterator[Evidence]:
    """Whether findings hold if all images of a label before one kind of background are one source.

    Clips of one film share label and background, and are answered alike. Nobody can see that in
    data that are shuffled; so where no group is declared all images that may be of one source count
    as one (docs/cci.md). Nothing where groups are declared, or without findings.
    """
    claimed = _passing(known, options)
    if not claimed or any(source.sample.group for source in known.sources):
        return
    holding: set[tuple[str, str | None]] = set()
    for factor in varying_factors(known.sources):
        grouped = [_of_one_source(source, factor) for source in known.sources]
        again = measure_backgrounds(audit, options, grouped)
        if again is not None:
            holding |= _passing(again, options)
    for feature, label in sorted(claimed - holding, key=str):
        yield Evidence(
            check=SOURCES,
            verdict="inconclusive",
            detail="No groups are declared. This is not found where all images of a class before "
            "one kind of background count as one, as if they came from one video. Declare which "
            "images are of one source (-O data.group=..., Sample.group), or a group of its own for "
            "each.",
            n=len(known.sources),
            feature=feature,
            label=label,
            doubt="But if images of a class before one kind of background come from one video or "
            "place, this may be chance: no groups are declared, see the check "
            f"'{SOURCES}'.",
        )
    if claimed & holding:
        yield Evidence(
            check=SOURCES,
            verdict="supported",
            detail=f"No groups are declared. {len(claimed & holding)} of {len(claimed)} findings "
            "hold also where all images of a class before one kind of background count as one.",
            value=float(len(claimed & holding)),
            n=len(known.sources),
        )


def _of_one_source(source: AnswerSource, factor: str) -> AnswerSource:
    """The image in the group of all with its label and its kind of background."""
    group = f"{source.sample.label} before {source.factors.get(factor)}"
    return replace(source, sample=replace(source.sample, group=group))


def _passing(
    known: Backgrounds,
    options: CCIOptions,
) -> set[tuple[str, str | None]]:
    """What is found, by feature and label."""
    passing: set[tuple[str, str | None]] = {
        (row.feature, row.label) for row in known.rows if is_pull(row, options)
    }
    if is_overall_pull(known, options):
        passing.add((BACKGROUND, None))
    return passing


def _points(value: float, low: float, high: float) -> str:
    return f"{signed(100 * value, 0)} points [{signed(100 * low, 0)}, {signed(100 * high, 0)}]"


def answer_sheet(samples: Sequence[Sample]) -> dict[str, Mapping[str, Sequence[bool]]]:
    """Which cues each sample shows, frame by frame."""
    return {sample.key: sample.annotations.get("cues", {}) for sample in samples}


def check_cues(
    planted: Sequence[PlantedCue],
    samples: Sequence[Sample],
    sources: Sources,
    found: Sequence[PullRow],
) -> Iterator[Evidence]:
    """Whether what was found is what was planted, by the answer sheet.

    It would catch findings on decoys: a single one refutes. It is supported where all that was
    planted is found. Nothing without planted cues of labels, or without findings.
    """
    # by label, as a finding names the class that the background pulls to
    cues = {label: cue.key for cue in planted for label in cue.labels}
    # without findings nothing is wrong: what was missed is told by the limit
    if not cues or not found:
        return
    sheet = answer_sheet(samples)
    # the same images as in the features, whose names findings have
    members = groups(counted_sources(sources))
    right = set()
    others = []
    for row in found:
        key = cues.get(row.label, "")
        shown = [any(sheet[source.key].get(key, ())) for source in members[row.feature]]
        if np.mean(shown) >= ON_CUE:
            right.add(row.label)
        else:
            others.append(f"'{row.label}' before {factor_words(row.feature)}")
    wrongly = f"; not planted: {', '.join(others)}" if others else ""
    verdict: Verdict = "supported"
    if others:
        verdict = "refuted"
    elif len(right) < len(cues):
        verdict = "inconclusive"
        wrongly = "; the others were missed, or do not pull"
    yield Evidence(
        check="planted cues",
        verdict=verdict,
        detail=f"{len(right)} of {len(cues)} planted backgrounds were found{wrongly}",
        value=(len(found) - len(others)) / len(found),
        threshold=1.0,
        n=len(found),
    )
