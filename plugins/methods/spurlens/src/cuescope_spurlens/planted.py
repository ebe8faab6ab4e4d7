"""The answer sheet, where a data set has one: is the planted cue what was found?"""

from collections.abc import Iterator

from cuescope_sdk import Audit, Evidence
from cuescope_spurlens.scoring import Heard, Scored

BETWEEN = " for "  # "table for cup": the cue, and the class that it gives away


def planted(audit: Audit) -> dict[str, str]:
    """The planted cue of each class; a cue that names no class is of none."""
    names = dict.fromkeys(n for sample in audit.samples for n in sample.annotations.get("cues", {}))
    pairs = (name.partition(BETWEEN) for name in names if BETWEEN in name)
    return {label: cue for cue, _, label in pairs if label in audit.labels}


def check_planted(audit: Audit, heard: Heard) -> Iterator[Evidence]:
    """One check a class with a planted cue and task, one for all classes without."""
    truth = planted(audit)
    if not truth:
        return
    for one in heard.cases:
        if one.case.label in truth:
            yield _found(one, truth[one.case.label])
    others = [one for one in heard.cases if one.case.label not in truth]
    if others:
        false = [f"{one.case.label} ({one.cue})" for one in others if one.finding]
        yield Evidence(
            check="planted cues: nothing is found where none is planted",
            verdict="refuted" if false else "supported", value=float(len(false)), threshold=0.0,
            detail=f"{len(false)} of {len(others)} classes and tasks have a finding"
            + (f": {', '.join(false)}" if false else ""), n=len(others),
        )  # fmt: skip


def _found(one: Scored, cue: str) -> Evidence:
    case = one.case
    first = one.cue == cue
    how = f"'{cue}' ranks {_place(one, cue)} of {len(case.cues)}"
    return Evidence(
        check=f"planted cue of '{case.label}': {case.task}", label=case.label,
        feature=case.key(cue) if cue in case.cues else None,
        verdict="supported" if first and one.finding else "refuted",
        detail=f"{how}; the strongest is '{one.cue}', gap {one.gap.max():.2f}, q {one.q_value:.3f}",
        value=one.q_value, n=case.k,
    )  # fmt: skip


def _place(one: Scored, cue: str) -> str:
    if cue not in one.case.cues:
        return "nowhere (it was not tried) among the cues"
    gap = one.gap[one.case.cues.index(cue)]
    return str(int((one.gap > gap).sum()) + 1)
