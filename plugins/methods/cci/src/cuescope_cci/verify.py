"""Checks of what CCI found: images of one source, and the planted backgrounds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cuescope_cci.backgrounds import Backgrounds, Pull, measure_backgrounds
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

SOURCES = "images of one source"


def evidence(audit: Audit, options: CCIOptions, sources: Sources) -> Iterator[Evidence]:
    """Images of one source, and the planted truth where there is an answer sheet."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    if known is None:
        return
    yield from check_sources(audit, options, known)
    found = known.found(options.fdr)
    yield from check_cues(audit.planted_cues, audit.samples, sources, found)


def check_sources(
    audit: Audit,
    options: CCIOptions,
    known: Backgrounds,
) -> Iterator[Evidence]:
    """Whether findings hold if all images of a label before one kind of background are one source.

    Clips of one film share label and background, and are answered alike. Nobody can see that in
    data that are shuffled. Nothing where groups are declared, or without findings.
    """
    claimed = {(row.feature, row.label) for row in known.found(options.fdr)}
    if not claimed or any(source.sample.group for source in known.sources):
        return
    holding: set[tuple[str, str]] = set()
    for factor in varying_factors(known.sources):
        grouped = [_of_one_source(source, factor) for source in known.sources]
        again = measure_backgrounds(audit, options, grouped)
        if again is not None:
            holding |= {(row.feature, row.label) for row in again.found(options.fdr)}
    doubted: set[tuple[str, str | None]] = set(claimed - holding)
    # the background as a whole stands on its kinds
    if len({feature for feature, _ in claimed}) > 1 and not claimed & holding:
        doubted.add((BACKGROUND, None))
    for feature, label in sorted(doubted, key=str):
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


def _of_one_source(source: AnswerSource, factor: str) -> AnswerSource:
    """The image in the group of all with its label and its kind of background."""
    group = f"{source.sample.label} before {source.factors.get(factor)}"
    return replace(source, sample=replace(source.sample, group=group))


def answer_sheet(samples: Sequence[Sample]) -> dict[str, Mapping[str, Sequence[bool]]]:
    """Which cues each sample shows, frame by frame."""
    return {sample.key: sample.annotations.get("cues", {}) for sample in samples}


def check_cues(
    planted: Sequence[PlantedCue],
    samples: Sequence[Sample],
    sources: Sources,
    found: Sequence[Pull],
) -> Iterator[Evidence]:
    """Whether what was found is what was planted, by the answer sheet.

    It would catch findings on decoys: a single one refutes. It is supported where all that was
    planted is found. Nothing without planted cues of labels, or without findings.
    """
    # by label, as a finding names the class that the background draws
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
        # most images of the kind show the planted cue: then the kind is that cue
        if np.mean(shown) > 0.5:
            right.add(row.label)
        else:
            others.append(f"'{row.label}' before {factor_words(row.feature)}")
    wrongly = f"; not planted: {', '.join(others)}" if others else ""
    verdict: Verdict = "supported"
    if others:
        verdict = "refuted"
    elif len(right) < len(cues):
        verdict = "inconclusive"
        wrongly = "; the others were missed, or do not draw answers"
    yield Evidence(
        check="planted cues",
        verdict=verdict,
        detail=f"{len(right)} of {len(cues)} planted backgrounds were found{wrongly}",
        value=(len(found) - len(others)) / len(found),
        threshold=1.0,
        n=len(found),
    )
