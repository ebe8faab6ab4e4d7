"""What can be expected of a remedy before it is tried, by the answers of the run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cuescope.application import ShownCue
from cuescope_sdk import StoredRun, generator
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import GainPlan, Groups

MENDED = {"all": 1.0, "half": 0.5}  # of the wrong answers
THIRD = 1 / 3


def prospects(
    run: StoredRun,
    cues: Sequence[ShownCue],
    *,
    folds: int | None,
    level: float,
    least: int,
) -> Iterator[str]:
    """A line for each cue: what can be gained, and how likely that will be shown.

    By thirds it is looked for again in one, and measured in one. By `folds` it is looked for
    without each part, and measured in those without which it is found. At least `least` of its
    samples must be measured; a gain is shown at a `level`.
    """
    rows = {row["sample"]: row for row in run.answers if row["condition"] == "baseline"}
    for cue in cues:
        answers = [rows[key] for key in cue.samples if key in rows]
        if not answers:
            continue
        right, groups = _right(answers)
        plan = GainPlan(
            right,
            groups,
            tested=THIRD,
            level=level,
            least=least,
            searched=THIRD,
            found=cue.found,
            folds=folds,
        )
        yield _line(cue.about, plan)
    if cues:
        yield (
            "A gain comes from the cue only where it is more than a plain refit gains, which is "
            "seen when both are measured."
        )


def _right(answers: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, Groups]:
    names = [row["group"] or row["sample"] for row in answers]
    known, codes = np.unique(names, return_inverse=True)
    right = np.array([bool(row["correct"]) for row in answers])
    return right, Groups(codes, len(known), len(known) < len(names))


def _line(about: str, plan: GainPlan) -> str:
    wrong = int((~plan.right).sum())
    line = f"{about}: {wrong} of {len(plan.right)} answers are wrong"
    if not wrong:
        return f"{line}, so that nothing can be gained."
    count = plan.groups.count
    unit = "samples" if plan.groups.all_single else "groups of samples"
    again = plan.chance_found(count)
    if plan.folds is None:
        line += (
            f"; in the part that finds it is found again with a chance of {again:.0%}"
        )
    else:
        line += (
            f"; each run without a part finds it again with a chance of {again:.0%}, and where it "
            f"does, that part is measured: about {again * len(plan.right):.0f} of its "
            f"{count_of(len(plan.right), 'samples')}"
        )
    ends = []
    for words, mended in MENDED.items():
        rng = generator(0, "prospects", about, words)
        chance = plan.power(mended, count, rng)
        needed = plan.needed(mended, rng)
        enough = (
            "no number of samples is enough"
            if needed is None
            else f"80% with {needed} {unit} in the run"
        )
        ends.append(
            f"and where a remedy mends {words} of them, its gain is shown with a chance of "
            f"{chance:.0%} ({enough})"
        )
    return f"{line}; {', '.join(ends)}."
