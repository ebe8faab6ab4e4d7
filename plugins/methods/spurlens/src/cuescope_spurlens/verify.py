"""Checks of what was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cuescope_sdk import Audit, Detector, Evidence, Proposer, Sample
from cuescope_sdk.data import Comparison, other_explanations, picture_quality
from cuescope_spurlens.analysis import CaseResult, Results, score_study
from cuescope_spurlens.answers import yes_rates
from cuescope_spurlens.checks.evidence import cue_evidence, judge
from cuescope_spurlens.checks.human_labels import HumanLabels, check_human_labels
from cuescope_spurlens.checks.probe import attach_encoder
from cuescope_spurlens.checks.second import (
    attach_second_proposer,
    check_second_detector,
)
from cuescope_spurlens.figures import attach_curves
from cuescope_spurlens.mitigations import attach_mitigations
from cuescope_spurlens.scores import largest_k
from cuescope_spurlens.spuriosity.detections import CueDetections
from cuescope_spurlens.spuriosity.labels import WRONG_LABELS
from cuescope_spurlens.trials import Study

DIVERSE = 3  # cues of a class (appendix P)
OTHER_REASONS = "the gap is no matter of size or labels"
LABELS = "labels: the gap outlives all that may be wrong"
Box = tuple[float, float, float, float]
LABEL_DOUBTS = {
    "recognition": "But images that are labelled wrongly may make this gap: see the check "
    f"'{LABELS}'.",
    "hallucination": "But these may be objects that are not annotated: see the check "
    f"'{LABELS}'.",
}
SIZE_DOUBT = (
    "But the object's size is not known here: small objects are missed more often, so a thing that "
    "stands beside large ones would give such a gap too."
)


def check_results(
    audit: Audit,
    detector: Detector | None,
    proposer: Proposer | None,
    labels: HumanLabels,
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow; nothing if nothing was compared."""
    results = audit.once(score_study, audit)
    if not results.cases:
        return
    yield from check_other_images(audit, results)
    attach_curves(audit, results)
    yield from check_sizes(results)
    yield from other_explanations(audit, list(image_comparisons(results)))
    # a detector that repeats the annotations contradicts no label: then this one speaks
    yield from check_labels(audit, results)
    if detector is not None:
        yield from check_second_detector(audit, results, detector)
    if proposer is not None:
        attach_second_proposer(audit, results.study, proposer)
    if labels:
        yield from check_human_labels(results, labels)
    yield from check_data(results.study)
    attach_encoder(audit, results)
    if audit.options.mitigation:
        attach_mitigations(audit, results)


def check_other_images(audit: Audit, results: Results) -> Iterator[Evidence]:
    """Is the gap there in images that had no say in finding it?

    A cue that was the largest of many by chance is not: of such findings one in twenty passes.
    """
    for result in results.cases:
        apart = result.apart
        if apart is None:
            continue
        gap = result.strongest_gap
        significant = apart.p_value <= audit.options.level and apart.gap > 0
        yield cue_evidence(
            result,
            "other images: the gap where no cue was looked for",
            # the check before it, a gap above 0 at every K, passed for 363 of 400 gaps by chance
            judge(significant, apart.high < gap / 2),
            f"the gap is {apart.gap:.2f} [{apart.low:.2f}, {apart.high:.2f}] "
            f"(p = {apart.p_value:.3f}) in images in which no cue was looked for, {gap:.2f} in "
            "those in which this one was found; refuted where it is surely less than half as large",
            value=apart.gap,
            threshold=0.0,
            n=apart.k,
        )


def check_sizes(results: Results) -> Iterator[Evidence]:
    """Findings that nothing could hold against the object's size."""
    for result in results.findings:
        if result.size_unknown:
            yield cue_evidence(
                result,
                OTHER_REASONS,
                "inconclusive",
                "the object's size is not known. Boxes or masks of the class would tell it "
                "(annotations, or a detector that finds the class)",
                n=result.case.k,
                doubt=SIZE_DOUBT,
            )


def image_comparisons(results: Results) -> Iterator[Comparison]:
    """What each finding compares: the images that show its cue most, and least, by share of yes."""
    for result in results.findings:
        case = result.case
        top, bottom = case.side_rows(result.strongest)
        rows = np.array([*top, *bottom])
        shows = np.arange(len(rows)) < len(top)
        kept = ~case.doubts.rows[rows]
        images = rows[kept].tolist()
        cue = case.detections.select(rows[kept], [result.strongest])
        yield Comparison(
            feature=case.feature_key(result.cue),
            # of no label: the object's size is held alike already where it is known
            label=None,
            samples=case.samples_at(images),
            shows=shows[kept],
            values=yes_rates(results.study.questions(case, images), results.answers),
            # it moves what a detector sees, and what the model says
            measured=quality_beside(case.samples_at(images), cue),
        )


def quality_beside(
    samples: Sequence[Sample], cue: CueDetections
) -> Mapping[str, np.ndarray]:
    """The quality of each picture beside the cue; `cue` has the detections of one."""
    frames = []
    boxes: list[Box | None] = []
    for row, sample in enumerate(samples):
        shows = cue.scores[row, 0] > 0
        number = cue.frames[row, 0] if shows else len(sample.frames) // 2
        frames.append(sample.frames[number])
        x0, y0, x1, y1 = cue.boxes[row, 0].tolist()
        boxes.append((x0, y0, x1, y1) if shows else None)
    return picture_quality(frames, boxes)


def check_labels(audit: Audit, results: Results) -> Iterator[Evidence]:
    """Is a finding still one without as many images as may be labelled wrongly?

    An image that shows no such object is rightly answered by no, and mostly lacks the things
    beside it. Where the detector contradicts labels these count in no test; elsewhere nothing is
    known, and a few wrong labels are in every data set.
    """
    for result in results.findings:
        # without its object an image has no label that could be right
        if result.case.is_changed:
            continue
        chance = result.case.doubts.chance
        side, hidden = hidden_labels(result)
        holds = holds_without(audit, results, result, side, hidden)
        seen = (
            f"{WRONG_LABELS:.0%} of the labels are taken to be wrong"
            if chance is None
            else f"the detector contradicts {chance:.0%} of the wrong labels"
        )
        yield cue_evidence(
            result,
            LABELS,
            # open where no detector tells, refuted where one leaves room for it
            judge(holds, chance is not None),
            f"{seen}, so up to {hidden} of the {result.case.k} images that make the gap may be "
            f"labelled wrongly; without these it is {'still a' if holds else 'no'} finding",
            value=float(hidden),
            n=result.case.k,
            doubt=LABEL_DOUBTS[result.case.task],
        )


def hidden_labels(result: CaseResult) -> tuple[np.ndarray, int]:
    """The units that speak for a cue, most of all first, and how many may have a wrong label."""
    case = result.case
    cue = result.strongest
    rates = result.unit_rates
    ranked = result.ranked
    # with the object a wrong label makes a right "no", without it a right "yes"
    if case.task == "recognition":
        side = ranked.bottom[cue][np.argsort(rates[ranked.bottom[cue]])]
        speaks = rates[side] <= 0.5
    else:
        side = ranked.top[cue][np.argsort(-rates[ranked.top[cue]])]
        speaks = rates[side] > 0.5
    known = np.ones(len(rates), dtype=bool) if ranked.kept is None else ranked.kept
    of_side = case.units_in_side(cue, top=case.task == "hallucination")
    contradicted = int((speaks & ~known[side]).sum())
    hidden = case.doubts.most_hidden(contradicted, WRONG_LABELS * of_side)
    return side[known[side]], hidden


def holds_without(
    audit: Audit,
    results: Results,
    result: CaseResult,
    side: np.ndarray,
    hidden: int,
) -> bool:
    """True if the cue is still a finding without so many units of its side."""
    if hidden >= len(side):
        return False
    ranked = result.ranked
    kept = (
        np.ones(len(result.unit_rates), bool) if ranked.kept is None else ranked.kept
    ).copy()
    kept[side[:hidden]] = False
    rng = audit.rng("labels", result.case.task, result.case.label)
    test = replace(ranked, kept=kept).test(result.sure, results.draws, rng)
    # what Holm asks of the first of all cases
    level = audit.options.level / len(results.cases)
    return bool(test.p_value[result.strongest] <= level)


def check_data(study: Study) -> Iterator[Evidence]:
    """Do K images show the cues, and K lack them (appendix P)? Of each task the worst class."""
    # changed images keep the detections of recognition
    for task in ("recognition", "hallucination"):
        cases = [case for case in study.cases if case.task == task]
        if not cases:
            continue
        largest = [largest_k(case.detections.scores, DIVERSE) for case in cases]
        # K differs between classes: the worst class is the one that lacks most images.
        spare = np.array([k for k, _ in largest]) - [case.k for case in cases]
        worst = int(spare.argmin())
        case = cases[worst]
        k, threshold = largest[worst]
        enough = int((spare >= 0).sum())
        yield Evidence(
            check=f"data: {task} has images with and without the cues",
            verdict=judge(enough == len(cases)),
            detail=f"{enough} of {len(cases)} classes have {DIVERSE} cues that are in "
            "K images, and "
            f"absent from K others; '{case.label}' has the fewest such images, {k} of each kind "
            f"(a cue is there above a K-score of {threshold:g}), where K is {case.k}",
            value=float(k),
            threshold=float(case.k),
            n=len(cases),
        )
