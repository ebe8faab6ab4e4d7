"""Pictures: images with the strongest cue and without, and the gap by K."""

from collections.abc import Sequence

import numpy as np

from cuescope_sdk import Audit, Picture
from cuescope_sdk.report import Line, StripRow, frame_strips, line_chart, thumbnail
from cuescope_spurlens.scores import CaseResult, Results, gap_by_k
from cuescope_spurlens.trials import with_article

FINDINGS, EACH = 3, 8
STEPS, CURVES = 10, 8
TASK_SUFFIXES = {"hallucination": " (imagined)", "drop": " (dropped)", "mask": " (blackened)"}


def attach_examples(audit: Audit, results: Results) -> None:
    """The images of the first findings."""
    for result in results.findings[:FINDINGS]:
        audit.attach(example_images(result))


def example_images(result: CaseResult) -> Picture:
    """The images that show the strongest cue most, above those that show it least."""
    case, cue = result.case, result.strongest
    verb = "seen" if case.task == "recognition" else "imagined"
    rows = []
    # The bottom has its lowest last, so it is read backwards.
    for side, rates, images in (
        ("with", result.with_cue, case.top[cue]),
        ("without", result.without, case.bottom[cue, ::-1]),
    ):
        caption = f"{side} {result.cue}: {case.label} {verb} in {rates[cue]:.0%}"
        rows.append(
            StripRow(caption, [thumbnail(case.samples[row].frames[0]) for row in images[:EACH]])
        )
    with_object = "without" if case.task == "hallucination" else "with"
    removed = f" The model was shown these images without the {case.label}." * case.is_changed
    return Picture(
        title=f"{case.task}: {case.label} and {result.cue}",
        caption=f"Images {with_object} {with_article(case.label)} that show "
        f"{with_article(result.cue)} most, and images that show it least.{removed}",
        image=frame_strips(rows, EACH),
    )


def gap_curve(result: CaseResult) -> np.ndarray:
    """The gap of the strongest cue at every K from 1 to k."""
    case, cue = result.case, result.strongest
    top, bottom = case.asked_index(case.top[cue]), case.asked_index(case.bottom[cue])
    return gap_by_k(result.rates, top, bottom)


def gap_curves(findings: Sequence[CaseResult]) -> Picture:
    """The gap of the first findings with fewer images."""
    lines = []
    for result in findings[:CURVES]:
        k = np.unique(np.linspace(result.case.k / STEPS, result.case.k, STEPS).astype(int).clip(1))
        name = f"{result.case.label} / {result.cue}{TASK_SUFFIXES.get(result.case.task, '')}"
        lines.append(Line(name, k.astype(float), gap_curve(result)[k - 1]))
    title = "The gap by K"
    return Picture(
        title=title,
        caption="The gap of each finding with fewer of the images that show the cue most and "
        "least. A gap that stays the same does not depend on the choice of K.",
        image=line_chart(lines, title, "K, images with the cue, and as many without", "gap"),
    )
