"""Checks of the remedy: beyond each placebo, at no cost elsewhere, no other cue in its place."""

from collections.abc import Iterator

from cuescope_mitigation.analysis import (
    Results,
    Row,
    between,
    measure,
    other_gaps,
    points,
)
from cuescope_mitigation.trials import Comparison
from cuescope_sdk import Evidence, Verdict

COST = 0.02  # overall accuracy that a remedy may cost
GREW = 0.1  # growth of another gap that is worth a look


def evidence(comparison: Comparison) -> Iterator[Evidence]:
    """A check of each placebo for each cue, then two of the whole model."""
    results = comparison.parts.audit.once(measure, comparison)
    if comparison.mitigator.changes_answers:
        for row in results.rows:
            # where it harms there is no gain for a placebo to explain
            if row.verdict != "harms":
                yield from placebo_checks(row)
        yield overall_check(results)
        yield moved_check(results)


def placebo_checks(row: Row) -> Iterator[Evidence]:
    """Whether the gain is larger than what each placebo gains."""
    gain = row.present
    placebos = (
        ("random cues", row.random, row.beyond_random),
        ("shift of answers", row.shifted, row.beyond_shift),
    )
    for name, placebo, beyond in placebos:
        if gain is None or placebo is None or beyond is None:
            continue
        verdict: Verdict = "supported" if beyond.low > 0 else "refuted"
        yield Evidence(
            check=f"placebo: {name}",
            # without a gain beyond chance there is nothing to compare
            verdict="inconclusive" if gain.low <= 0 else verdict,
            detail=f"the remedy gains {points(gain.gain)} points, the placebo "
            f"{points(placebo.gain)} ({between(placebo)}); the difference lies {between(beyond)}",
            value=beyond.gain,
            threshold=0.0,
            n=row.n,
            feature=row.cue.feature.key,
            label=row.cue.label,
        )


def overall_check(results: Results) -> Evidence:
    """What the remedy costs over all samples."""
    overall = results.overall
    verdict: Verdict = "inconclusive"
    # the interval must lie on one side of what may be lost
    if overall.low > -COST:
        verdict = "supported"
    elif overall.high < -COST:
        verdict = "refuted"
    return Evidence(
        check="cost over all samples",
        verdict=verdict,
        detail=f"{overall.before:.1%} right before, {overall.after:.1%} after "
        f"({points(overall.gain)} points, {between(overall)}); up to {COST:.0%} may be lost",
        value=overall.gain,
        threshold=-COST,
        n=overall.n,
    )


def moved_check(results: Results) -> Evidence:
    """Whether another feature now costs what the cue cost before."""
    gaps = other_gaps(results)
    grew = []
    for name, label, gap in gaps:
        # above 0 as well: a gap that grew from -20 to 0 points costs nothing
        if gap.gain > GREW and gap.low > max(0.0, gap.before):
            grew.append((name, label, gap))
    words = "no gap grew beyond chance"
    # without another pair to look at nothing is shown
    verdict: Verdict = "supported" if gaps else "inconclusive"
    if grew:
        verdict = "refuted"
        name, label, gap = grew[0]
        words = (
            f"{len(grew)} have a gap that grew, most of all {name} on '{label}': from "
            f"{points(gap.before)} to {points(gap.after)} points"
        )
    return Evidence(
        check="other cues in its place",
        verdict=verdict,
        detail=f"of {len(gaps)} other pairs of feature and label {words}",
        value=float(len(grew)),
        threshold=0.0,
        n=len(gaps),
    )
