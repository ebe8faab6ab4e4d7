"""Checks of the remedy: beyond each placebo, at no cost elsewhere, no other cue in its place."""

from collections.abc import Iterator

from cuescope_mitigation.analysis import (
    Control,
    Results,
    Row,
    between,
    measure,
    only_moves,
    other_gaps,
    points,
)
from cuescope_mitigation.trials import RECALLED, Comparison
from cuescope_sdk import Evidence, Verdict

TOLD = "the cue is told"
COST = 0.02  # overall accuracy that a remedy may cost
GREW = 0.1  # growth of another gap that is worth a look


def evidence(comparison: Comparison) -> Iterator[Evidence]:
    """A check of each placebo for each cue, then two of the whole model."""
    audit = comparison.parts.audit
    results = audit.once(measure, comparison)
    for row in results.rows:
        yield from recall_check(row)
    if comparison.mitigator.changes_answers:
        for row in results.rows:
            # where it harms there is no gain for a placebo to explain
            if row.verdict != "harms":
                with audit.spare(f"checks of the remedy against {row.cue.name}"):
                    yield from placebo_checks(row)
                    yield from kept_check(row)
        with audit.spare("check of what the remedy costs"):
            yield overall_check(results)
        with audit.spare("check of other cues"):
            yield moved_check(results)


def recall_check(row: Row) -> Iterator[Evidence]:
    """A cue that is not recognised: which samples are measured rests on that."""
    recall = row.recall
    if recall is None or recall.is_enough:
        return
    share = recall.recognised / recall.frames
    yield Evidence(
        check=TOLD,
        verdict="refuted",
        detail=f"{about(row)}: of the frames in which the cue was found only {share:.0%} are "
        "recognised by what was learned from the others. So most samples that show it were not "
        "measured as such, and the remedy was not learned of them",
        value=share,
        threshold=RECALLED,
        n=recall.frames,
        feature=row.cue.feature.key,
        label=row.cue.label,
    )


def placebo_checks(row: Row) -> Iterator[Evidence]:
    """Whether the gain is larger than what each control gains."""
    gain = row.present
    if gain is None:
        return
    checks: list[tuple[str, str, Control, bool]] = []
    if row.random is not None:
        is_beaten = row.random.beyond.low > 0
        checks.append(("placebo", "random cues", row.random, is_beaten))
    if row.shifted is not None:
        is_repair = not only_moves(row, row.shifted)
        checks.append(("placebo", "shift of answers", row.shifted, is_repair))
    if row.refit is not None:
        checks.append(("control", "plain refit", row.refit, row.refit.is_beaten))
    for kind, name, control, holds in checks:
        verdict: Verdict = "supported" if holds else "refuted"
        yield Evidence(
            check=f"{kind}: {name}",
            # without a gain beyond chance there is nothing to compare
            verdict="inconclusive" if gain.low <= 0 else verdict,
            detail=f"{about(row)}: the remedy gains {points(gain.gain)} points, the {kind} "
            f"{points(control.gain.gain)} ({between(control.gain)}); the difference lies "
            f"{between(control.beyond)}{over_groups(row, control)}",
            value=control.beyond.gain,
            threshold=0.0,
            n=row.n,
            feature=row.cue.feature.key,
            label=row.cue.label,
        )


def about(row: Row) -> str:
    """Which cue a check is about."""
    label = f" on '{row.cue.label}'" if row.cue.label else ""
    return f"{row.cue.name}{label}"


def kept_check(row: Row) -> Iterator[Evidence]:
    """Whether the remedy that is kept does what was measured of others."""
    gain = row.present
    if gain is None or row.kept is None:
        return
    verdict: Verdict = "supported" if row.is_kept else "refuted"
    yield Evidence(
        check="the remedy that is kept",
        # without a gain beyond chance nothing is promised
        verdict="inconclusive" if gain.low <= 0 else verdict,
        detail=f"{about(row)}: measured are {points(gain.gain)} points by remedies of parts of "
        f"the data; the one that is kept, of all data, gains {points(row.kept.gain.gain)} on the "
        f"same samples, which it has seen; the difference lies {between(row.kept.beyond)}",
        value=row.kept.beyond.gain,
        threshold=0.0,
        n=row.n,
        feature=row.cue.feature.key,
        label=row.cue.label,
    )


def over_groups(row: Row, control: Control) -> str:
    """The same of all groups, where there are two or more."""
    if row.groups is None or control.groups is None:
        return ""
    return (
        f"; over all groups with and without the cue {points(row.groups.gain)} "
        f"({between(row.groups)}) and {points(control.groups.gain)}"
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
