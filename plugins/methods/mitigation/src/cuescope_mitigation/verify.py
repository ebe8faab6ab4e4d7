"""Checks of the remedy: is the gain beyond that of each control."""

from collections.abc import Iterator

from cuescope_mitigation.analysis import (
    Control,
    Row,
    between,
    measure,
    only_moves,
    points,
)
from cuescope_mitigation.trials import Comparison
from cuescope_sdk import Evidence, Verdict


def evidence(comparison: Comparison) -> Iterator[Evidence]:
    """A check of each control for each cue."""
    audit = comparison.parts.audit
    if comparison.mitigator.changes_answers:
        for row in audit.once(measure, comparison).rows:
            # where it harms there is no gain for a placebo to explain
            if row.verdict != "harms":
                with audit.spare(f"checks of the remedy against {row.cue.name}"):
                    yield from placebo_checks(row)


def placebo_checks(row: Row) -> Iterator[Evidence]:
    """Whether the gain is larger than what each control gains."""
    gain = row.present
    if gain is None:
        return
    checks: list[tuple[str, Control, bool]] = []
    if row.random is not None:
        checks.append(("placebo: random cues", row.random, row.random.beyond.low > 0))
    if row.shifted is not None:
        is_repair = not only_moves(row, row.shifted)
        checks.append(("placebo: shift of answers", row.shifted, is_repair))
    if row.refit is not None:
        checks.append(("control: plain refit", row.refit, row.refit.is_beaten))
    label = f" on '{row.cue.label}'" if row.cue.label else ""
    for name, control, holds in checks:
        verdict: Verdict = "supported" if holds else "refuted"
        kind = name.partition(":")[0]
        yield Evidence(
            check=name,
            # without a gain beyond chance there is nothing to compare
            verdict="inconclusive" if gain.low <= 0 else verdict,
            detail=f"{row.cue.name}{label}: the remedy gains {points(gain.gain)} points, "
            f"the {kind} {points(control.gain.gain)} ({between(control.gain)}); "
            f"the difference lies {between(control.beyond)}",
            value=control.beyond.gain,
            threshold=0.0,
            n=row.n,
            feature=row.cue.feature.key,
            label=row.cue.label,
        )
