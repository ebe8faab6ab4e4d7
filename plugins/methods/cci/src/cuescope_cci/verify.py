"""Checks of what CCI found: planted backgrounds, backgrounds alone, and deletion and insertion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.backgrounds.measure import PullRow, measure_backgrounds
from cuescope_cci.backgrounds.pulls import Pull
from cuescope_cci.error_source import AnswerSource, factor_words, groups
from cuescope_cci.options import CCIOptions
from cuescope_cci.report import is_finding
from cuescope_cci.trials import AnsweredImage, answers_about, importance_maps
from cuescope_sdk import Audit, Evidence, PlantedCue, Sample, Verdict
from cuescope_sdk.explain import measure_faithfulness
from cuescope_sdk.statistics import Groups, gap_intervals

ON_CUE = 0.8  # of the images of a kind show the planted cue: then the kind is that cue


def evidence(
    audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]
) -> Iterator[Evidence]:
    """The planted truth where the data has an answer sheet, backgrounds alone, faithfulness."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    rows = [] if known is None else [r for r in known.rows if is_finding(r, known, options)]
    for row in rows:
        yield check_alone(row)
    if (regions := check_regions(audit.samples, sources, options.confidence)) is not None:
        yield regions
    if (cues := check_cues(audit.planted_cues, audit.samples, sources, rows)) is not None:
        yield cues
    explainer = AuditedMaps(options, {source.sample.key: source for source in sources})
    steps, images = options.steps, options.faithfulness
    yield from measure_faithfulness(audit, explainer, "CCI", images=images, steps=steps)


@dataclass(frozen=True)
class AuditedMaps:
    """The maps of images that the audit has asked about: their answers are not asked again."""

    options: CCIOptions
    images: Mapping[str, AnsweredImage]

    def maps(
        self, audit: Audit, samples: Sequence[Sample], choices: Sequence[str]
    ) -> Iterator[np.ndarray]:
        """The importance map (row, col) of each canvas sample for its text."""
        images = [self.images[sample.key] for sample in samples]
        about = answers_about(audit, self.options, images, choices)
        yield from importance_maps(audit, self.options, about, choices)


def check_alone(row: PullRow) -> Evidence:
    """Whether the background alone is answered as the finding says.

    It would catch a pull that something else than the background makes: what goes with this kind
    of background, in the objects or in how they were photographed, is not there when the objects
    are hidden. Refuted where the background alone explains less than the whole pull.
    """
    alone: Pull = row.alone
    verdict: Verdict = "inconclusive"
    if alone.low > 0:
        verdict = "supported"
    elif alone.high < row.pull.low:
        verdict = "refuted"
    return Evidence(
        check="background alone",
        verdict=verdict,
        detail=f"without the objects, this kind of background is answered '{row.label}' in "
        f"{alone.here:.0%} of the images, other kinds with the same classes in "
        f"{alone.elsewhere:.0%}: {100 * alone.value:+.0f} points "
        f"[{100 * alone.low:+.0f}, {100 * alone.high:+.0f}]" + " (few groups)" * alone.few,
        value=alone.value,
        threshold=0.0,
        n=row.images,
        feature=row.feature,
        label=row.label,
    )


def check_regions(
    samples: Sequence[Sample], sources: Sequence[AnswerSource], confidence: float
) -> Evidence | None:
    """Whether errors lean on the background where the planted background misled, and only there.

    The answer sheet says "background of LABEL" for the label that a background was planted for: it
    misled where that label is the wrong answer. It would catch a rule that calls every error a
    background error: what counts is the difference between both sorts of errors, and without
    errors of both sorts nothing is decided. None without such a sheet, or without errors.
    """
    sheet = {sample.key: sample.annotations.get("cues", {}) for sample in samples}
    # A wrong label that the sheet has no background of could not have been planted.
    wrong = [
        source
        for source in sources
        if source.wrong and source.region and _cue(source) in sheet[source.key]
    ]
    if not wrong:
        return None
    planted = np.array([any(sheet[source.key][_cue(source)]) for source in wrong])
    leaning = np.array([source.region == "background" for source in wrong])
    counts = f"of {len(wrong)} errors, {planted.sum()} name the label of the planted background"
    if planted.all() or not planted.any():
        return Evidence(
            check="planted background",
            verdict="inconclusive",
            detail=f"{counts}; {leaning.sum()} lean on the background. Without errors of both "
            "sorts nothing is decided",
            n=len(wrong),
        )
    groups_of = Groups.of([source.sample for source in wrong])
    # Less without the planted cue than with it: the gap of "leans on an object".
    lows, highs = gap_intervals(
        (~leaning).astype(np.float64), planted[:, None], groups_of, confidence=confidence
    )
    value = float(leaning[planted].mean() - leaning[~planted].mean())
    low, high = float(lows[0]), float(highs[0])
    return Evidence(
        check="planted background",
        verdict="supported" if low > 0 else "refuted" if high < 0 else "inconclusive",
        detail=f"{counts}: {leaning[planted].mean():.0%} of these lean on the background, and "
        f"{leaning[~planted].mean():.0%} of the others: {100 * value:+.0f} points "
        f"[{100 * low:+.0f}, {100 * high:+.0f}]",
        value=value,
        threshold=0.0,
        n=len(wrong),
    )


def _cue(source: AnswerSource) -> str:
    """The line of the answer sheet that would explain a wrong answer."""
    return f"background of {source.prediction}"


def check_cues(
    planted: Sequence[PlantedCue],
    samples: Sequence[Sample],
    sources: Sequence[AnswerSource],
    found: Sequence[PullRow],
) -> Evidence | None:
    """Whether what was found is what was planted, by the answer sheet.

    It would catch findings on decoys: a single one refutes. None without planted cues of labels,
    or without findings.
    """
    cues = {label: cue for cue in planted for label in cue.labels}
    if not cues or not found:
        return None
    sheet = {sample.key: sample.annotations.get("cues", {}) for sample in samples}
    members = groups([source for source in sources if source.is_counted])

    def is_planted(row: PullRow) -> bool:
        if row.label not in cues:
            return False
        shown = [any(sheet[s.key].get(cues[row.label].key, ())) for s in members[row.feature]]
        return float(np.mean(shown)) >= ON_CUE

    right = {row.label for row in found if is_planted(row)}
    others = [
        f"'{row.label}' before {factor_words(row.feature)}" for row in found if not is_planted(row)
    ]
    wrongly = f"; not planted: {', '.join(others)}" * bool(others)
    return Evidence(
        check="planted cues",
        verdict="refuted" if others else "supported",
        detail=f"{len(right)} of {len(cues)} planted backgrounds were found{wrongly}",
        value=(len(found) - len(others)) / len(found),
        threshold=1.0,
        n=len(found),
    )
