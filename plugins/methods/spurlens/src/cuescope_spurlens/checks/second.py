"""Another detector, and another proposer (appendices E and O)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from cuescope_sdk import Audit, Cell, Detector, Evidence, Proposer, SentenceEncoder
from cuescope_sdk.language import BagOfWords, filter_proposals
from cuescope_sdk.statistics import Groups, gap_test, gap_weights, mean_interval, rank_correlation
from cuescope_spurlens.answers import ask_more, yes_probabilities, yes_rates
from cuescope_spurlens.checks.human_labels import verdict_of_share
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.scores import (
    CaseResult,
    Results,
    correct_p_values,
    spurious_gap_interval,
    spurious_gaps,
    unit_strata,
)
from cuescope_spurlens.spuriosity.cases import Case
from cuescope_spurlens.spuriosity.detections import ImageSet, detect_cues, rank_images
from cuescope_spurlens.spuriosity.sizes import object_sizes
from cuescope_spurlens.spuriosity.units import unit_means
from cuescope_spurlens.tables import make_table
from cuescope_spurlens.trials import Study

NAMED_AGAIN = 0.5  # share of another proposer's names that are close to a cue
# Appendix E: nearly the same thing, and closely related. The figures are lost from the text of the
# paper; these are ours.
SAME, RELATED = 0.8, 0.6
PROPOSER_COLUMNS = ("class", "cues", "second's names", "same %", "related %", "back %")
DETECTOR_CHECK = "second detector: the gap by its ranking"


def check_second_detector(
    audit: Audit, results: Results, detector: Detector, name: str = ""
) -> Iterator[Evidence]:
    """Does it see the cue in the same images, and is the gap there too (appendix O)?

    `name` tells it from others.
    """
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
                check=DETECTOR_CHECK + name,
                verdict="inconclusive",
                feature=first.feature_key(result.cue),
                label=first.label,
                detail=f"{first.label}: the second detector gives all images the same K-score "
                f"for '{result.cue}'",
            )
            continue
        rng = audit.rng("second ties", first.task, first.label)
        searched = np.setdiff1d(np.arange(first.units.count), first.apart)
        scores = unit_means(own.scores, first.units)[searched]
        top, bottom = (searched[side] for side in rank_images(scores, first.k, rng))
        case = replace(first, cues=(result.cue,), detections=own, top=top, bottom=bottom)
        pairs.append((result, case))
    yield from _compare_rankings(audit, results, pairs, name)


def _compare_rankings(
    audit: Audit, results: Results, pairs: Sequence[tuple[CaseResult, Case]], name: str
) -> Iterator[Evidence]:
    """The findings, each beside its case as the second detector ranks it."""
    options: SpurLensOptions = audit.options
    questions = [results.study.questions(case) for _, case in pairs]
    trials = (trial for rows in questions for row in rows for trial in row)
    answers = ask_more(audit, trials, results.answers)
    gaps, p_of_cases = [], []
    for (result, case), rows in zip(pairs, questions, strict=True):
        rng, units = audit.rng("second", case.task, case.label), case.asked_groups
        rates = unit_means(yes_rates(rows, answers), units)
        sure = unit_means(yes_probabilities(rows, answers), units)
        top, bottom = case.asked_index(case.top), case.asked_index(case.bottom)
        ends = spurious_gap_interval(rates[top[0]], rates[bottom[0]], options.confidence)
        # Only one cue is tried now, so its null has no maximum over cues.
        strata = case_strata(result, case)
        weights = gap_weights(top, bottom, units.count, case.kept_units(case.asked_rows))
        test = gap_test(sure, weights, strata, results.draws, rng)
        gaps.append((float(spurious_gaps(rates, top, bottom)[0]), *ends))
        p_of_cases.append(float(test.p_value[0]))
    q_values = correct_p_values(p_of_cases, options.correction)
    for (result, case), (gap_again, low, high), q in zip(pairs, gaps, q_values, strict=True):
        gap = float(result.gap[result.strongest])
        first_scores = result.case.detections.scores[:, result.strongest]
        correlation = rank_correlation(first_scores, case.detections.scores[:, 0])
        significant = q <= options.level and gap_again > 0
        yield Evidence(
            check=DETECTOR_CHECK + name,
            feature=case.feature_key(result.cue),
            label=case.label,
            verdict="supported" if significant else "refuted" if high < gap / 2 else "inconclusive",
            detail=f"{case.label} and {result.cue} ({case.task}): the gap is {gap_again:.2f} "
            f"[{low:.2f}, {high:.2f}] (q = {q:.3f}) by the second detector, and {gap:.2f} by the "
            f"first; rank correlation of their K-scores {correlation:.2f}; refuted where it is "
            "surely less than half as large",
            value=gap_again,
            threshold=0.0,
            n=case.k,
        )


def check_second_proposer(
    audit: Audit, study: Study, proposer: Proposer, name: str = ""
) -> Iterator[Evidence]:
    """Proposal similarity (appendix E): of what another proposer names, the share that is close.

    Close to a cue of the first proposer, that is. The share is one of the second one's names, and
    its mean is over the classes. The table has the other direction beside it. `name` tells it from
    others.
    """
    generator = audit.tools.get("text-generator")
    encoder = audit.tools.get("sentence-encoder") or BagOfWords()
    rows: list[tuple[Cell, ...]] = []
    close: list[np.ndarray] = []  # of each class, of each name of the second: is it close?
    for label, cues in study.cues.items():
        if not cues:
            continue
        others, _ = filter_proposals(proposer.propose(label), label, generator)
        shares: list[Cell] = [None, None]
        if others:
            cosines = best_cosines(others, cues, encoder)
            shares = [100 * float((cosines >= least).mean()) for least in (SAME, RELATED)]
            close.append((cosines >= RELATED).astype(float))
        back = 100 * float((best_cosines(cues, others, encoder) >= RELATED).mean())
        rows.append((label, len(cues), len(others), *shares, back))
    if not rows:
        return
    encoder_name = getattr(encoder, "title", None) or "the sentence encoder"
    note = (
        "Same, related: percent of the second proposer's names with a cosine of "
        f"{SAME:g} or more, and of {RELATED:g}, with a cue of the first; by {encoder_name}. Back: "
        f"percent of the first one's cues with {RELATED:g} or more with a name of the second."
    )
    audit.attach(make_table(f"Second proposer{name}", PROPOSER_COLUMNS, rows, note))
    check = f"second proposer: it names what the first one names{name}"
    if not close:
        nothing = "the second proposer names nothing that could be a cue"
        yield Evidence(check=check, verdict="inconclusive", detail=nothing, n=len(rows))
        return
    names = sum(map(len, close))
    # Weighted so that the mean over all names is the mean over the classes.
    weights = [names / len(close) / len(of_class) for of_class in close]
    weighted = np.concatenate([w * of_class for w, of_class in zip(weights, close, strict=True)])
    share = float(weighted.mean())
    ends = mean_interval(weighted, Groups.single(names), bounds=(0, max(weights)))
    low, high = (None if end is None else min(end, 1.0) for end in ends)
    yield Evidence(
        check=check,
        verdict=verdict_of_share(low, high, NAMED_AGAIN),
        detail=f"{share:.0%} of the {names} names of the second proposer are close to a cue of the "
        f"first (mean over {len(close)} classes)",
        value=share,
        threshold=NAMED_AGAIN,
        n=len(rows),
    )


def case_strata(result: CaseResult, case: Case) -> Int[np.ndarray, " unit"] | None:
    """By the object's size, where the first test set it aside."""
    if result.sizes is None:
        return None
    shown = [case.samples[row] for row in case.asked_rows.tolist()]
    sizes = object_sizes(shown, case.label, case.objects_of(case.asked_rows))
    return unit_strata(sizes, case.asked_groups)


def best_cosines(
    names: Sequence[str], others: Sequence[str], encoder: SentenceEncoder
) -> np.ndarray:
    """Of each name, the highest cosine with one of the others; 0 where there are none."""
    if not others:
        return np.zeros(len(names))
    return np.asarray((encoder.encode(names) @ encoder.encode(others).T).max(axis=1))
