"""Checks of what was found."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from cuescope_sdk import Audit, Detector, Evidence, Proposer, SentenceEncoder
from cuescope_sdk.language import BagOfWords, filter_proposals
from cuescope_spurlens.detections import ImageSet, detect_cues, rank_images
from cuescope_spurlens.figures import gap_curve, gap_curves
from cuescope_spurlens.human_labels import HumanLabels, check_human_labels
from cuescope_spurlens.mitigations import attach_mitigations
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.probe import check_encoder
from cuescope_spurlens.report import make_table
from cuescope_spurlens.scores import (
    CaseResult,
    Results,
    ask_more,
    correct_p_values,
    largest_k,
    p_values,
    score_study,
    shuffled_maxima,
    spurious_gaps,
    yes_rates,
)
from cuescope_spurlens.trials import Case, Study

UNPARSED = 0.05  # share of answers that are neither yes nor no
NAMED_AGAIN = 0.5  # share of the cues that another proposer names too
# Appendix E: nearly the same thing, and closely related. The figures are lost from the text of the
# paper; these are ours.
SAME, RELATED = 0.8, 0.6
PROPOSER_COLUMNS = ("class", "cues", "same %", "related %")
DETECTOR_CHECK = "second detector: the gap by its ranking"


def check_results(
    audit: Audit, detector: Detector | None, proposer: Proposer | None, labels: HumanLabels
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow; nothing where nothing was compared."""
    results = audit.once(score_study, audit)
    if not results.cases:
        return
    yield from check_planted(audit, results)
    yield from check_other_k(audit, results)
    if detector is not None:
        yield from check_second_detector(audit, results, detector)
    if proposer is not None:
        yield from check_second_proposer(audit, results.study, proposer)
    if labels:
        yield from check_human_labels(results, labels)
    yield from check_data(audit.options.adequate_cues, results.study)
    yield from check_encoder(audit, results)
    yield check_answers(results)
    if audit.options.mitigation:
        attach_mitigations(audit, results)


def check_answers(results: Results) -> Evidence:
    """Words that are neither yes nor no count as no; too many of them tell of the prompt."""
    share = results.unparsed / len(results.answers)
    return Evidence(
        check="answers are yes or no",
        verdict="supported" if share <= UNPARSED else "inconclusive",
        detail=f"{share:.1%} of {len(results.answers):,} answers are neither yes nor no; they "
        "count as no",
        value=share,
        threshold=UNPARSED,
        n=len(results.answers),
    )


def check_planted(audit: Audit, results: Results) -> Iterator[Evidence]:
    """One check a class with a planted cue and task, one for all classes without."""
    planted = {label: cue.name for cue in audit.planted_cues for label in cue.labels}
    # Data without an answer sheet has no cues at all, which is no proof that none is found.
    if planted.keys().isdisjoint(audit.labels):
        return
    for result in results.cases:
        if result.case.label in planted:
            yield _compare_planted(result, planted[result.case.label])
    others = [result for result in results.cases if result.case.label not in planted]
    if others:
        false = [f"{result.case.label} ({result.cue})" for result in others if result.finding]
        yield Evidence(
            check="planted cues: nothing is found where none is planted",
            verdict="refuted" if false else "supported",
            detail=f"{len(false)} of {len(others)} classes and tasks without a planted cue have a "
            "finding" + (f": {', '.join(false)}" if false else ""),
            value=float(len(false)),
            threshold=0.0,
            n=len(others),
        )


def _compare_planted(result: CaseResult, cue: str) -> Evidence:
    case = result.case
    rank = f"'{cue}' is not among the {len(case.cues)} cues that were tried"
    if cue in case.cues:
        # Only larger gaps count: equal ones share a rank.
        stronger = int((result.gap > result.gap[case.cues.index(cue)]).sum())
        rank = f"'{cue}' has rank {stronger + 1} of {len(case.cues)} cues"
    return Evidence(
        check=f"planted cue of '{case.label}': {case.task}",
        label=case.label,
        feature=case.feature_key(cue) if cue in case.cues else None,
        verdict="supported" if result.cue == cue and result.finding else "refuted",
        detail=f"{rank}; the strongest is '{result.cue}' (gap {result.gap.max():.2f}, "
        f"q = {result.q_value:.3f})",
        value=result.q_value,
        n=case.k,
    )


def check_other_k(audit: Audit, results: Results) -> Iterator[Evidence]:
    """Is the gap there with half as many images too (appendix I)? Costs no question."""
    for result in results.findings:
        case, half = result.case, (result.case.k + 1) // 2
        # Below half of K a few images decide, and a gap of 0 there says little.
        gaps = gap_curve(result)[half - 1 :]
        low, high = float(gaps.min()), float(gaps.max())
        yield Evidence(
            check="other K: the gap from K / 2 on",
            feature=case.feature_key(result.cue),
            label=case.label,
            verdict="supported" if low > 0 else "refuted",
            detail=f"{case.label} and {result.cue} ({case.task}): the gap is between {low:.2f} "
            f"and {high:.2f} for every K from {half} to {case.k}",
            value=low,
            threshold=0.0,
            n=case.k,
        )
    if results.findings:
        audit.attach(gap_curves(results.findings))


def check_second_detector(audit: Audit, results: Results, detector: Detector) -> Iterator[Evidence]:
    """Does it see the cue in the same images, and is the gap there too (appendix O)?"""
    findings = [result for result in results.findings if not result.case.is_changed]
    cues: dict[str, list[str]] = {}
    for result in findings:
        # Both tasks of a class may have the same cue, which is looked for once.
        if result.cue not in (of_class := cues.setdefault(result.case.label, [])):
            of_class.append(result.cue)
    image_sets = [ImageSet(r.case.task, r.case.label, r.case.samples) for r in findings]
    pairs = []
    all_detections = detect_cues(audit, detector, image_sets, cues)
    for result, detections in zip(findings, all_detections, strict=True):
        first = result.case
        own = detections.select(slice(None), [cues[first.label].index(result.cue)])
        if np.ptp(own.scores) == 0:
            yield Evidence(
                check=DETECTOR_CHECK,
                verdict="inconclusive",
                feature=first.feature_key(result.cue),
                label=first.label,
                detail=f"{first.label}: the second detector gives all images the same K-score "
                f"for '{result.cue}'",
            )
            continue
        rng = audit.rng("second ties", first.task, first.label)
        top, bottom = rank_images(own.scores, first.k, rng)
        case = Case(first.task, first.label, first.samples, (result.cue,), own, top, bottom)
        pairs.append((result, case))
    yield from _compare_rankings(audit, results, pairs)


def _compare_rankings(
    audit: Audit, results: Results, pairs: Sequence[tuple[CaseResult, Case]]
) -> Iterator[Evidence]:
    """The findings, each beside its case as the second detector ranks it."""
    options: SpurLensOptions = audit.options
    questions = [results.study.questions(case) for _, case in pairs]
    trials = (trial for rows in questions for row in rows for trial in row)
    answers = ask_more(audit, trials, results.answers)
    gaps, p_of_cases = [], []
    for (_, case), rows in zip(pairs, questions, strict=True):
        rates, rng = yes_rates(rows, answers), audit.rng("second", case.task, case.label)
        images = case.asked_index(case.top), case.asked_index(case.bottom)
        gap = spurious_gaps(rates, *images)
        # Only one cue is tried now, so its null has no maximum over cues.
        maxima = shuffled_maxima(rates, *images, results.draws, rng)
        gaps.append(float(gap[0]))
        p_of_cases.append(float(p_values(gap, maxima)[0]))
    q_values = correct_p_values(p_of_cases, options.correction)
    for (result, case), gap_again, q in zip(pairs, gaps, q_values, strict=True):
        first_scores = result.case.detections.scores[:, result.strongest]
        correlation = stats.spearmanr(first_scores, case.detections.scores[:, 0]).statistic
        significant = q <= options.level and gap_again > 0
        yield Evidence(
            check=DETECTOR_CHECK,
            feature=case.feature_key(result.cue),
            label=case.label,
            verdict="supported" if significant else "refuted" if gap_again <= 0 else "inconclusive",
            detail=f"{case.label} and {result.cue} ({case.task}): the gap is {gap_again:.2f} "
            f"(q = {q:.3f}) by the second detector, and {result.gap.max():.2f} by the first; rank "
            f"correlation of their K-scores {correlation:.2f}",
            value=gap_again,
            threshold=0.0,
            n=case.k,
        )


def check_second_proposer(audit: Audit, study: Study, proposer: Proposer) -> Iterator[Evidence]:
    """The share of each class's cues that another names too, or closely (appendix E)."""
    generator = audit.tools.get("text-generator")
    encoder = audit.tools.get("sentence-encoder") or BagOfWords()
    rows, shares = [], []
    for label, cues in study.cues.items():
        if not cues:
            continue
        others, _ = filter_proposals(proposer.propose(label), label, generator)
        cosines = best_cosines(cues, others, encoder)
        same, related = (float((cosines >= threshold).mean()) for threshold in (SAME, RELATED))
        shares.append(related)
        rows.append((label, len(cues), 100 * same, 100 * related))
    if not rows:
        return
    encoder_name = getattr(encoder, "title", None) or "the sentence encoder"
    note = (
        f"Same, related: percent of the cues with a cosine of {SAME:g} or more, and of "
        f"{RELATED:g}, with a cue of the second proposer; by {encoder_name}."
    )
    audit.attach(make_table("Second proposer", PROPOSER_COLUMNS, rows, note))
    share = float(np.mean(shares))
    yield Evidence(
        check="second proposer: the cues are named again",
        verdict="supported" if share >= NAMED_AGAIN else "inconclusive",
        detail=f"the second proposer names {share:.0%} of the cues of a class, or something close "
        "to them",
        value=share,
        threshold=NAMED_AGAIN,
        n=len(rows),
    )


def best_cosines(
    cues: Sequence[str], others: Sequence[str], encoder: SentenceEncoder
) -> np.ndarray:
    """Of each cue, the highest cosine with one of the others; 0 where there are none.

    Proposal similarity is the share of `cues` where it reaches a threshold: no symmetric measure.
    """
    if not others:
        return np.zeros(len(cues))
    return np.asarray((encoder.encode(cues) @ encoder.encode(others).T).max(axis=1))


def check_data(cues: int, study: Study) -> Iterator[Evidence]:
    """Do K images show the cues, and K lack them (appendix P)? Of each task the worst class."""
    for task in ("recognition", "hallucination"):
        cases = [case for case in study.cases if case.task == task]
        if not cases:
            continue
        largest = [largest_k(case.detections.scores, cues) for case in cases]
        # K differs between classes: the worst class is the one that lacks most images.
        spare = [k - case.k for (k, _), case in zip(largest, cases, strict=True)]
        worst = int(np.argmin(spare))
        (k, threshold), case = largest[worst], cases[worst]
        enough = sum(images >= 0 for images in spare)
        yield Evidence(
            check=f"data: {task} has images with and without the cues",
            verdict="supported" if enough == len(cases) else "inconclusive",
            detail=f"{enough} of {len(cases)} classes have {cues} cues that are in K images, and "
            f"absent from K others; '{case.label}' has the fewest such images, {k} of each kind "
            f"(a cue is there above a K-score of {threshold:g}), where K is {case.k}",
            value=float(k),
            threshold=float(case.k),
            n=len(cases),
        )
