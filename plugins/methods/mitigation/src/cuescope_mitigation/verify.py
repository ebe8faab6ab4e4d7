"""Checks of the remedy: is the cue recognised, and is the gain beyond that of each control."""

from collections.abc import Iterator

from cuescope_mitigation.analysis import (
    Control,
    Row,
    between,
    measure,
    only_moves,
    points,
)
from cuescope_mitigation.trials import RECALLED, Comparison
from cuescope_sdk import Evidence, Verdict

TOLD = "the cue is told"


def evidence(comparison: Comparison) -> Iterator[Evidence]:
    """A check of each control for each cue, where the cue is recognised."""
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


def over_groups(row: Row, control: Control) -> str:
    """The same of all groups, where there are two or more."""
    if row.groups is None or control.groups is None:
        return ""
    return (
        f"; over all groups with and without the cue {points(row.groups.gain)} "
        f"({between(row.groups)}) and {points(control.groups.gain)}"
    )
