"""Another detector, and another proposer (appendices E and O)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from cuescope_sdk import Audit, Detector, Evidence, Proposer, SentenceEncoder, Table
from cuescope_sdk.language import BagOfWords
from cuescope_sdk.statistics import Correlation, holm
from cuescope_spurlens.analysis import CaseResult, Results, measure_gap
from cuescope_spurlens.answers import ask_more
from cuescope_spurlens.checks.evidence import cue_evidence, judge
from cuescope_spurlens.curating import filter_proposals
from cuescope_spurlens.spuriosity.cases import Case
from cuescope_spurlens.spuriosity.detections import (
    CueDetections,
    ImageSet,
    detect_cues,
    rank_images,
)
from cuescope_spurlens.spuriosity.units import unit_means
from cuescope_spurlens.tables import Rows
from cuescope_spurlens.trials import Study

# Appendix E: nearly the same thing, and closely related. The figures are lost from the text of the
# paper; these are ours.
SAME = 0.8
RELATED = 0.6
PROPOSER_COLUMNS = ("class", "cues", "second's names", "same %", "related %", "back %")
DETECTOR_CHECK = "second detector: the gap by its ranking"


def check_second_detector(
    audit: Audit,
    results: Results,
    detector: Detector,
) -> Iterator[Evidence]:
    """Does it see the cue in the same images, and is the gap there too (appendix O)?"""
    # changed images have no ranking of their own: it is the plain ones'
    findings = [result for result in results.findings if not result.case.is_changed]
    cues: dict[str, list[str]] = {}
    image_sets = []
    for result in findings:
        case = result.case
        of_class = cues.setdefault(case.label, [])
        # Both tasks of a class may have the same cue, which is looked for once.
        if result.cue not in of_class:
            of_class.append(result.cue)
        image_sets.append(ImageSet(case.task, case.label, case.samples))
    ranked = []
    all_detections = detect_cues(audit, detector, image_sets, cues)
    for result, detections in zip(findings, all_detections, strict=True):
        label = result.case.label
        of_cue = detections.select(cues=[cues[label].index(result.cue)])
        # equal K-scores rank nothing: tops would be drawn from ties
        if np.ptp(of_cue.scores) > 0:
            ranked.append((result, _rank_again(audit, result, of_cue)))
            continue
        yield Evidence(
            check=DETECTOR_CHECK,
            verdict="inconclusive",
            feature=result.case.feature_key(result.cue),
            label=label,
            detail=f"{label}: the second detector gives all images the same K-score "
            f"for '{result.cue}'",
        )
    yield from _compare_rankings(audit, results, ranked)


def _rank_again(audit: Audit, result: CaseResult, detections: CueDetections) -> Case:
    """The case of a finding with its one cue, as the second detector ranks the images."""
    case = result.case
    # the units in which the first detector's cue was found
    searched = np.setdiff1d(np.arange(case.units.count), case.apart)
    scores = unit_means(detections.scores, case.units)[searched]
    rng = audit.rng("second ties", case.task, case.label)
    top, bottom = rank_images(scores, case.k, rng)
    return replace(
        case,
        cues=(result.cue,),
        detections=detections,
        top=searched[top],
        bottom=searched[bottom],
    )


def _compare_rankings(
    audit: Audit,
    results: Results,
    ranked: Sequence[tuple[CaseResult, Case]],
) -> Iterator[Evidence]:
    """The findings, each beside its case as the second detector ranks it."""
    study = results.study
    questions = []
    for _, case in ranked:
        questions += study.questions(case)
    answers = ask_more(audit, chain.from_iterable(questions), results.answers)
    figures = []
    for result, case in ranked:
        rng = audit.rng("second", case.task, case.label)
        sides = (case.top[0], case.bottom[0])
        # Only one cue is tried now, so its null has no maximum over cues.
        figures.append(
            measure_gap(audit, study, answers, result, case, sides, results.draws, rng)
        )
    q_values = holm([again.p_value for again in figures])
    for (result, case), again, q in zip(ranked, figures, q_values, strict=True):
        gap = result.strongest_gap
        # compared by ranks, for each detector has a scale of its own
        first_scores = result.case.detections.scores[:, result.strongest]
        correlation = Correlation.spearman(first_scores, case.detections.scores[:, 0])
        yield cue_evidence(
            result,
            DETECTOR_CHECK,
            # half: the first gap is too large, for its cue was chosen by it
            judge(q <= audit.options.level and again.gap > 0, again.high < gap / 2),
            f"the gap is {again.gap:.2f} [{again.low:.2f}, {again.high:.2f}] (q = {q:.3f}) by the "
            f"second detector, and {gap:.2f} by the first; rank correlation of their K-scores "
            f"{correlation:.2f}; refuted where it is surely less than half as large",
            value=again.gap,
            threshold=0.0,
            n=case.k,
        )


def attach_second_proposer(
    audit: Audit,
    study: Study,
    proposer: Proposer,
) -> None:
    """Proposal similarity (appendix E): of what another proposer names, the share that is close.

    Close to a cue of the first proposer, that is.
    """
    encoder = audit.tools.get("sentence-encoder") or BagOfWords()
    rows: Rows = []
    for label, cues in study.cues.items():
        if not cues:
            continue
        generator = audit.tools.get("text-generator")
        # filtered as the first one's names: filters are no disagreement
        others, _ = filter_proposals(proposer.propose(label), label, generator)
        same = related = None
        if others:
            cosines = best_cosines(others, cues, encoder)
            same = _percent(cosines >= SAME)
            related = _percent(cosines >= RELATED)
        back = _percent(best_cosines(cues, others, encoder) >= RELATED)
        rows.append((label, len(cues), len(others), same, related, back))
    if not rows:
        return
    encoder_name = getattr(encoder, "title", None) or "the sentence encoder"
    note = (
        "Same, related: percent of the second proposer's names with a cosine of "
        f"{SAME:g} or more, and of {RELATED:g}, with a cue of the first; by {encoder_name}. Back: "
        f"percent of the first one's cues with {RELATED:g} or more with a name of the second."
    )
    audit.attach(Table.of("Second proposer", PROPOSER_COLUMNS, rows, note))


def _percent(mask: np.ndarray) -> float:
    return 100 * float(mask.mean())


def best_cosines(
    names: Sequence[str],
    others: Sequence[str],
    encoder: SentenceEncoder,
) -> np.ndarray:
    """Of each name, the highest cosine with one of the others; 0 where there are none."""
    if not others:
        return np.zeros(len(names))
    return np.asarray((encoder.encode(names) @ encoder.encode(others).T).max(axis=1))
