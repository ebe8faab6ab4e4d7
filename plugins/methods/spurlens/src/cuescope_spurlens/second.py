"""The findings again, with another detector's ranking (appendix O)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from cuescope_sdk import Audit, Detector, Evidence
from cuescope_spurlens.asking import heard as answers_in
from cuescope_spurlens.asking import unique, yes_rates
from cuescope_spurlens.cases import Case, Study
from cuescope_spurlens.gaps import corrected, gaps, p_values, ranked, shuffled_maxima
from cuescope_spurlens.pools import Pool
from cuescope_spurlens.scoring import Heard, Scored
from cuescope_spurlens.sighting import look

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

CHECK = "second detector: the gap by its ranking"


def check_second_detector(
    audit: Audit, options: "SpurLens.Options", study: Study, heard: Heard, detector: Detector
) -> Iterator[Evidence]:
    """Does it see the cue in the same images, and is the gap there by its own ranking?"""
    findings = [one for one in heard.findings if not one.case.is_changed]
    cues: dict[str, tuple[str, ...]] = {}
    for one in findings:
        cues[one.case.label] = tuple(dict.fromkeys((*cues.get(one.case.label, ()), one.cue)))
    pools = [Pool(one.case.task, one.case.label, one.case.samples) for one in findings]
    cases, shown = [], []
    for one, seen in zip(findings, look(audit, detector, pools, cues), strict=True):
        own = seen.at(slice(None), [cues[one.case.label].index(one.cue)])
        if np.ptp(own.scores) == 0:
            yield _unseen(one)
            continue
        rng = audit.rng("second ties", one.case.task, one.case.label)
        places = ranked(own.scores, one.case.k, rng)
        cases.append(
            Case(one.case.task, one.case.label, one.case.samples, (one.cue,), own, *places)
        )
        shown.append(one)
    yield from _compared(audit, options, study, heard, shown, cases)


def _compared(
    audit: Audit,
    options: "SpurLens.Options",
    study: Study,
    heard: Heard,
    findings: list[Scored],
    cases: list[Case],
) -> Iterator[Evidence]:
    rows = [study.rows(case) for case in cases]
    answers = answers_in(audit.respond(unique(t for case in rows for row in case for t in row)))
    found = []
    for case, of_case in zip(cases, rows, strict=True):
        rates, rng = yes_rates(of_case, answers), audit.rng("second", case.task, case.label)
        places = case.local(case.top), case.local(case.bottom)
        gap = gaps(rates, *places)
        chance = shuffled_maxima(rates, *places, heard.draws, rng)
        found.append((float(gap[0]), float(p_values(gap, chance)[0])))
    q_values = corrected([p for _, p in found], options.correction)
    for one, case, (gap_there, _), q in zip(findings, cases, found, q_values, strict=True):
        sure = q <= options.level and gap_there > 0
        yield Evidence(
            check=CHECK, feature=one.case.key(one.cue), label=case.label,
            verdict="supported" if sure else "refuted" if gap_there <= 0 else "inconclusive",
            detail=f"{case.label} and {one.cue}, {case.task}: {gap_there:.2f} (q = {q:.3f}), "
            f"and {one.gap[one.strongest]:.2f} by the first; rank correlation of their K-scores "
            f"{_agreement(one, case):.2f}",
            value=gap_there, threshold=0.0, n=case.k,
        )  # fmt: skip


def _agreement(one: Scored, case: Case) -> float:
    """Spearman's correlation over all images of the class."""
    first = one.case.seen.scores[:, one.strongest]
    return float(stats.spearmanr(first, case.seen.scores[:, 0]).statistic)


def _unseen(one: Scored) -> Evidence:
    return Evidence(
        check=CHECK, verdict="inconclusive", feature=one.case.key(one.cue), label=one.case.label,
        detail=f"{one.case.label}: all images have the same K-score for '{one.cue}'",
    )  # fmt: skip
