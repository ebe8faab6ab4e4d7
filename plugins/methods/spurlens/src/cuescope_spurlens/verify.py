"""Checks of what was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cuescope_sdk import Audit, Detector, Evidence, Proposer, Sample
from cuescope_sdk.data import Comparison, other_explanations, picture_quality
from cuescope_spurlens.analysis import CaseResult, Results, score_study
from cuescope_spurlens.answers import yes_rates
from cuescope_spurlens.checks.descriptions import attach_descriptions
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
    detectors: Mapping[str, Detector],
    proposers: Mapping[str, Proposer],
    labels: HumanLabels,
) -> Iterator[Evidence]:
    """Every check that the data and the tools (by SPEC) allow; nothing if nothing was compared."""
    results = audit.once(score_study, audit)
    if not results.cases:
        return
    yield from check_planted(audit, results)
    yield from check_other_images(audit, results)
    attach_curves(audit, results)
    yield from check_sizes(results)
    yield from other_explanations(audit, list(image_comparisons(results)))
    # a detector that repeats the annotations contradicts no label: then this one speaks
    yield from check_labels(audit, results)
    for spec, detector in detectors.items():
        # one alone needs no name to be told from others
        name = f" ({spec})" * (len(detectors) > 1)
        yield from check_second_detector(audit, results, detector, name)
    for spec, proposer in proposers.items():
        name = f" ({spec})" * (len(proposers) > 1)
        attach_second_proposer(audit, results.study, proposer, name)
    if labels:
        yield from check_human_labels(results, labels)
    yield from check_data(results.study)
    attach_encoder(audit, results)
    if audit.options.describe:
        attach_descriptions(audit, results)
    if audit.options.mitigation:
        attach_mitigations(audit, results)


def check_planted(audit: Audit, results: Results) -> Iterator[Evidence]:
    """Are the planted cues found, and nothing where none is planted?"""
    planted = {label: cue.name for cue in audit.planted_cues for label in cue.labels}
    # Data without an answer sheet has no cues at all, which is no proof that none is found.
    if planted.keys().isdisjoint(audit.labels):
        return
    found = []
    missed = []
    false = []
    for result in results.cases:
        cue = planted.get(result.case.label)
        if result.finding and result.cue == cue:
            found.append(result)
        elif result.finding:
            false.append(f"{result.case.name}: {result.cue}")
        elif cue is not None:
            missed.append(f"{result.case.name}: {cue}")
    words = [f"{len(found)} of {len(found) + len(missed)} planted cues were found"]
    words += [f"missed: {', '.join(missed)}"] * bool(missed)
    words += [f"not planted: {', '.join(false)}"] * bool(false)
    yield Evidence(
        check="planted cues",
        verdict=judge(not missed and not false, bool(false)),
        detail="; ".join(words),
        value=float(len(false)),
        threshold=0.0,
        n=len(results.cases),
    )


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
    """How many labels would have to be wrong for a finding to be theirs alone?

    An image that shows no such object is rightly answered by no, and mostly lacks the things
    beside it. Where the detector contradicts labels these count in no test; elsewhere nothing is
    known, and a few wrong labels are in every data set.
    """
    for result in results.findings:
        # without its object an image has no label that could be right
        if result.case.is_changed:
            continue
        needed = labels_needed(audit, results, result)
        hidden = most_hidden_labels(result)
        few = needed > hidden
        yield cue_evidence(
            result,
            LABELS,
            # open where no detector tells, refuted where one leaves room for it
            judge(few, result.case.doubts.chance is not None),
            f"{_label_limit(result, hidden)} The gap would be no finding were {needed} wrong",
            value=float(needed),
            threshold=float(hidden),
            n=result.case.k,
            doubt=LABEL_DOUBTS[result.case.task],
        )


def _label_limit(result: CaseResult, hidden: int) -> str:
    """How many of the images that make the gap may be labelled wrongly, and who says so."""
    side = "bottom" if result.case.task == "recognition" else "top"
    chance = result.case.doubts.chance
    if chance is None:
        return (
            f"the detector says nothing of wrong labels; if {WRONG_LABELS:.0%} of them are wrong, "
            f"{hidden} of the {result.case.k} images of the {side} may be."
        )
    return (
        f"labels that the detector contradicts are set aside; it sees {chance:.0%} of such images, "
        f"so up to {hidden} more of the {side} may be labelled wrongly."
    )


def most_hidden_labels(result: CaseResult) -> int:
    """How many wrong labels there may be in the side that makes the gap, beside those set aside."""
    ranked = result.ranked
    cue = result.strongest
    recognition = result.case.task == "recognition"
    side = ranked.bottom[cue] if recognition else ranked.top[cue]
    contradicted = 0
    if ranked.kept is not None:
        # of the images that speak for the cue: "no" with the object, "yes" without it
        speaks = (result.unit_rates[side] > 0.5) != recognition
        contradicted = int((speaks & ~ranked.kept[side]).sum())
    return result.case.doubts.most_hidden(
        contradicted, WRONG_LABELS * result.case.units_in_side(cue, top=not recognition)
    )


def labels_needed(audit: Audit, results: Results, result: CaseResult) -> int:
    """The fewest images, taken out where they speak most for the cue, without which it is none."""
    case = result.case
    cue = result.strongest
    rates = result.unit_rates
    ranked = result.ranked
    top = ranked.top
    bottom = ranked.bottom
    # With the object, a wrong label makes a right "no"; without it, a right "yes".
    if case.task == "recognition":
        order = bottom[cue][np.argsort(rates[bottom[cue]])]
    else:
        order = top[cue][np.argsort(-rates[top[cue]])]
    known = ranked.kept
    still = np.ones(len(rates), dtype=bool) if known is None else known
    order = order[still[order]]
    # what Holm asks of the first of all cases
    level = audit.options.level / len(results.cases)
    # with all labels right it is a finding; with an empty side it is none
    low = 0
    high = len(order)
    while high - low > 1:
        middle = (low + high) // 2
        kept = still.copy()
        kept[order[:middle]] = False
        # the same deals at each step: only the units left out differ
        rng = audit.rng("labels", case.task, case.label)
        less = replace(ranked, kept=kept)
        test = less.test(result.sure, results.draws, rng)
        if test.p_value[cue] <= level:
            low = middle
        else:
            high = middle
    return high


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
