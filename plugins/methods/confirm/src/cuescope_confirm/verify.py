"""Each witness as a check of the finding, and the places against what was planted or annotated."""

from collections.abc import Iterator

import numpy as np

from cuescope_confirm.measuring import Results, Row
from cuescope_confirm.report import points
from cuescope_confirm.scores import Control
from cuescope_sdk import Audit, Evidence, Verdict

BESIDE: dict[Control, str] = {
    "without the cue": "without the cue",
    "unfound cue": "at a cue that nobody found",
    "other labels": "on labels where it makes no difference",
}
LOCATED = 0.8  # balanced accuracy from which on places are those of a planted cue


def evidence(audit: Audit, results: Results) -> Iterator[Evidence]:
    """A check of each witness that decides, then of where the cues are."""
    for row in results.rows:
        for each in row.witnesses:
            effect = each.effect
            if effect is None or each.decision is None:
                continue
            verdicts: dict[str, Verdict] = {
                "confirms": "supported",
                "placebo does as much": "refuted",
            }
            where = "".join(
                f", {BESIDE[name]} {points(value)}" for name, value in effect.controls.items()
            )
            yield Evidence(
                check=f"witness: {each.name}",
                verdict=verdicts.get(each.decision, "inconclusive"),
                detail=f"{results.name_of(row)}: {each.witness.named.kind.title}: "
                f"{points(effect.value)} points beyond the placebo (between {points(effect.low)} "
                f"and {points(effect.high)}){where}; {each.decision}",
                value=effect.value,
                threshold=0.0,
                n=effect.n,
                feature=row.target.cue.feature.key,
                label=row.target.cue.label,
            )
        planted = planted_check(audit, row)
        if planted is not None:
            yield planted


def planted_check(audit: Audit, row: Row) -> Evidence | None:
    """Whether the samples that are said to show the cue are those of a planted or annotated one."""
    located = row.target.located
    if located is None or not audit.planted_cues:
        return None
    sheet = {sample.key: sample.annotations.get("cues", {}) for sample in audit.samples}
    best: tuple[float, str] | None = None
    for cue in audit.planted_cues:
        truth, said = [], []
        for key in [*located.places, *located.without]:
            if cue.key in sheet.get(key, {}):
                truth.append(any(sheet[key][cue.key]))
                said.append(key in located.places)
        there, called = np.array(truth, bool), np.array(said, bool)
        if not there.any() or there.all():
            continue
        accuracy = float((called[there].mean() + (~called[~there]).mean()) / 2)
        if best is None or accuracy > best[0]:
            best = accuracy, cue.name
    if best is None:
        return None
    return Evidence(
        check="located where a cue is annotated",
        verdict="supported" if best[0] >= LOCATED else "inconclusive",
        detail=f"nearest to '{best[1]}': {best[0]:.0%} balanced accuracy over samples",
        value=best[0],
        threshold=LOCATED,
        n=len(located.places) + len(located.without),
        feature=row.target.cue.feature.key,
        label=row.target.cue.label,
    )
