"""The rows of the report and the facts at its head, in words that a stranger understands."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cuescope_sdk import Audit, Score
from cuescope_spurlens.asking import with_article, yes_rates
from cuescope_spurlens.cases import Study
from cuescope_spurlens.scoring import Heard, Scored
from cuescope_spurlens.studying import default_k

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

NULLS = {
    "shuffled-answers": "answers dealt anew among the images that were asked about",
    "random-rankings": "as many random rankings as there are cues",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
SHOWN = 8


def scores(heard: Heard) -> Iterator[Score]:
    """Findings first, then strongest cues, then all others; in each, images as they are first.

    Where most answers are neither yes nor no, nothing was measured, and that is said.
    """
    rows = [(one, cue) for one in heard.cases for cue in range(len(one.case.cues))]
    if rows and not heard.is_read:
        one, cue = min(rows, key=_rank)
        yield Score(
            feature=one.case.key(one.case.cues[cue]), label=one.case.label, metric="spurious_gap",
            value=None, statement=f"{answered(heard)}: nothing could be measured. Ask otherwise: "
            "-O questions='Is there {object}? Answer yes or no.'",
        )  # fmt: skip
        return
    for one, cue in sorted(rows, key=_rank):
        yield from _rows(one, cue)


def _rank(row: tuple[Scored, int]) -> tuple[bool, bool, bool, float]:
    one, cue = row
    first = cue == one.strongest
    return not (one.finding and first), not first, one.case.is_changed, -float(one.gap[cue])


def _rows(one: Scored, cue: int) -> Iterator[Score]:
    case, first = one.case, cue == one.strongest
    feature, label, p_value = case.key(case.cues[cue]), case.label, float(one.p_value[cue])
    low, high = one.interval[cue].tolist()
    finding = one.finding and first
    yield Score(
        feature=feature, label=label, metric="spurious_gap", value=float(one.gap[cue]),
        low=low, high=high, n=case.k, p_value=p_value,
        q_value=max(one.q_value, p_value) if first else None,
        finding=finding, statement=statement(one) if finding else None,
    )  # fmt: skip
    kind = "perception" if case.task == "recognition" else "hallucination"
    for metric, rate in (("with", one.with_cue), ("without", one.without)):
        yield Score(feature=feature, label=label, metric=f"{kind}_{metric}",
                    value=float(rate[cue]), n=case.k)  # fmt: skip


def statement(one: Scored) -> str:
    """What the strongest cue does, with `{feature}` for its name."""
    case, cue = one.case, one.strongest
    with_cue, without = f"{one.with_cue[cue]:.0%}", f"{one.without[cue]:.0%}"
    a_cue = with_article(one.cue).replace(one.cue, "{feature}")
    a_label = with_article(case.label)
    seen = f"'{case.label}' is {'seen' if case.task == 'recognition' else 'imagined'} in"
    images = f"images with {a_label}"
    if case.task == "hallucination":
        images = f"images without {a_label}"
    elif case.task != "recognition":
        done = "dropped" if case.task == "drop" else "blackened"
        images = f"images whose {case.label} is {done}"
    most, least = f"the {case.k} that show {a_cue} most", f"the {case.k} that show it least"
    if case.is_pure(cue):
        most, least = f"those that show {a_cue}", "those that do not"
    return f"Of the {images}, {seen} {with_cue} of {most}, and in {without} of {least}."


def note(audit: Audit, options: "SpurLens.Options", study: Study, heard: Heard) -> None:
    """All facts at the head."""
    most = max((case.k for case in study.cases), default=0)
    fewer = [f"{c.label} ({c.task}) {c.k}" for c in study.cases if c.k < most]
    wanted = options.k or default_k(audit)
    audit.note(
        "K", f"{most} images with the most of a cue, and {most} with the least"
        + (f"; there are not so many as {wanted}" if 0 < most < wanted else "")
        + (f"; fewer for {listed(fewer)}" if fewer else ""),
    )  # fmt: skip
    audit.note("answers", answered(heard))
    if study.blank is not None:
        audit.note("black image", imagined_in_black(study, heard))
    over = f"over {len(study.cases)} classes and tasks after {CORRECTIONS[options.correction]}"
    audit.note("chance", f"{NULLS[options.null]}, {heard.draws:,} times; corrected {over}")
    cues = {(label, cue) for label, cue, _ in study.left_out if cue != "all"}
    if cues:
        audit.note("cues left out", f"{len(cues)}, with the reasons in a table")
    for label in dict.fromkeys(label for label, cue, _ in study.left_out if cue == "all"):
        why = [r for name, cue, r in study.left_out if (name, cue) == (label, "all")]
        audit.note(f"left out: {label}", "; ".join(why))


def answered(heard: Heard) -> str:
    """How many, and how many of them said neither yes nor no."""
    asked = len(heard.answers)
    share = f" ({heard.unparsed / asked:.1%})" if heard.unparsed else ""
    return f"{asked:,} distinct questions; {heard.unparsed:,}{share} answered neither yes nor no"


def imagined_in_black(study: Study, heard: Heard) -> str:
    """Hallucination rate where there is nothing to see, and for which classes."""
    rows = study.blank_rows
    rates = dict(zip(rows, yes_rates(list(rows.values()), heard.answers).tolist(), strict=True))
    seen = [f"{label} {rate:.0%}" for label, rate in rates.items() if rate > 0]
    mean = sum(rates.values()) / max(len(rates), 1)
    return f"imagined in {mean:.1%} of the questions" + f" ({listed(seen)})" * bool(seen)


def listed(words: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
