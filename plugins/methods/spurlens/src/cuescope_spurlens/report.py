"""The rows, notes and tables of the report, in words that a stranger understands."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Cell, Score, Table
from cuescope_spurlens.detections import is_joint, max_passes
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.paper import AVERAGE_COLUMNS, average_rows
from cuescope_spurlens.scores import CaseResult, Results, yes_rates
from cuescope_spurlens.trials import (
    ALL_CUES,
    Candidates,
    Study,
    benchmark_of,
    find_candidates,
    with_article,
)

NULLS = {
    "shuffled-answers": "the largest gap with answers shuffled among the images",
    "random-rankings": "the largest gap of as many random rankings as there are cues",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
TITLES = {
    "recognition": "Recognition: the strongest cue of each class",
    "hallucination": "Hallucination: the strongest cue of each class",
    "drop": "Objects dropped from their images: the strongest cue of each class",
    "mask": "Objects blackened in their images: the strongest cue of each class",
}
LISTED = 8  # names in a note
STRONGEST_COLUMNS = ("class", "cue", "with it", "without", "gap", "random", "q", "K")


def score_rows(results: Results) -> Iterator[Score]:
    """Findings first, then strongest cues, then all others; in each, images as they are first.

    Where most answers are neither yes nor no, nothing was measured, and a statement says so.
    """
    rows = [(result, cue) for result in results.cases for cue in range(len(result.case.cues))]
    rows.sort(key=_row_order)
    if rows and not results.is_readable:
        result, cue = rows[0]
        yield Score(
            feature=result.case.feature_key(result.case.cues[cue]),
            label=result.case.label,
            metric="spurious_gap",
            value=None,
            statement=f"{count_answers(results)}: nothing could be measured. Ask for yes or no: "
            "-O questions='Is there {object}? Answer yes or no.'",
        )
        return
    for result, cue in rows:
        yield from _cue_rows(result, cue)


def _row_order(row: tuple[CaseResult, int]) -> tuple[bool, bool, bool, float]:
    result, cue = row
    first = cue == result.strongest
    return not (result.finding and first), not first, result.case.is_changed, -result.gap[cue]


def _cue_rows(result: CaseResult, cue: int) -> Iterator[Score]:
    case, first = result.case, cue == result.strongest
    feature, label, p_value = case.feature_key(case.cues[cue]), case.label, result.p_value[cue]
    low, high = result.interval[cue].tolist()
    finding = result.finding and first
    yield Score(
        feature=feature,
        label=label,
        metric="spurious_gap",
        value=float(result.gap[cue]),
        low=low,
        high=high,
        n=case.k,
        p_value=float(p_value),
        # Only the strongest cue of a case is corrected over all cases; the others have no q.
        q_value=max(result.q_value, float(p_value)) if first else None,
        finding=finding,
        statement=finding_statement(result) if finding else None,
    )
    kind = "perception" if case.task == "recognition" else "hallucination"
    for side, rates in (("with", result.with_cue), ("without", result.without)):
        value = float(rates[cue])
        yield Score(feature=feature, label=label, metric=f"{kind}_{side}", value=value, n=case.k)


def finding_statement(result: CaseResult) -> str:
    """What the strongest cue does, with `{feature}` for its name."""
    case, cue = result.case, result.strongest
    a_cue = with_article(result.cue).replace(result.cue, "{feature}")
    a_label = with_article(case.label)
    images = {
        "recognition": f"images with {a_label}",
        "hallucination": f"images without {a_label}",
        "drop": f"images whose {case.label} is dropped",
        "mask": f"images whose {case.label} is blackened",
    }[case.task]
    verb = "sees" if case.task == "recognition" else "imagines"
    most, least = f"the {case.k} that show {a_cue} most", f"the {case.k} that show it least"
    if case.splits_by_presence(cue):
        most, least = f"those that show {a_cue}", "those that do not"
    return (
        f"In {images}, the model {verb} {a_label} in {result.with_cue[cue]:.0%} of {most}, "
        f"and in {result.without[cue]:.0%} of {least}."
    )


def note_cost(audit: Audit, candidates: Candidates) -> None:
    """The most that the detector and the model can be asked, known before either is."""
    options: SpurLensOptions = audit.options
    detector, cues = audit.tools["detector"], candidates.cues
    passes = max_passes(candidates.image_sets, detector)
    names = "cues of a class" if is_joint(detector) else "its cues"
    audit.note("detector passes", f"{passes:,} at most: each image once for all {names}")
    # Images with the object are asked about as they are, and once more for each removal.
    times = {"recognition": ("recognition" in options.tasks) + len(options.removals)}
    images = sum(
        times.get(image_set.task, 1)
        * min(len(image_set.samples), 2 * candidates.k * len(cues[image_set.label]))
        for image_set in candidates.image_sets
    )
    images += len(cues) * ("blank" in options.artificial)
    audit.note("questions", f"{images * len(options.questions):,} at most, each asked once")
    if "patches" in audit.capabilities.exposes and "recognition" in options.tasks:
        text = f"{len(audit.samples):,} images read at most, to train a probe on it"
        audit.note("vision encoder", text)


def note_results(audit: Audit, results: Results) -> None:
    """All facts at the head of the report that are known once the answers are."""
    options: SpurLensOptions = audit.options
    study = results.study
    most = max((case.k for case in study.cases), default=0)
    fewer = [f"{case.label} ({case.task}) {case.k}" for case in study.cases if case.k < most]
    wanted = audit.once(find_candidates, audit).k
    audit.note(
        "K",
        f"{most} images that show a cue most, and {most} that show it least"
        + (f"; there are too few images for K = {wanted}" if 0 < most < wanted else "")
        + (f"; fewer for {shorten_list(fewer)}" if fewer else ""),
    )
    audit.note("answers", count_answers(results))
    if study.blank is not None:
        audit.note("black image", describe_blank(results))
    audit.note(
        "chance",
        f"{NULLS[options.null]}, {results.draws:,} times; p-values are corrected over "
        f"{len(study.cases)} classes and tasks ({CORRECTIONS[options.correction]})",
    )
    cues = {(label, cue) for label, cue, _ in study.exclusions if cue != ALL_CUES}
    if cues:
        audit.note("cues left out", f"{len(cues)}; a table gives the reasons")
    for label in dict.fromkeys(label for label, cue, _ in study.exclusions if cue == ALL_CUES):
        reasons = [e.reason for e in study.exclusions if (e.label, e.cue) == (label, ALL_CUES)]
        audit.note(f"left out: {label}", "; ".join(reasons))


def count_answers(results: Results) -> str:
    """How many, and how many of them are neither yes nor no."""
    asked, unparsed = len(results.answers), results.unparsed
    share = f" ({unparsed / asked:.1%})" if unparsed else ""
    return f"{asked:,} distinct questions; {unparsed:,}{share} answered neither yes nor no"


def describe_blank(results: Results) -> str:
    """Hallucination rate where there is nothing to see, and for which classes."""
    rows = results.study.blank_questions
    rates = dict(zip(rows, yes_rates(list(rows.values()), results.answers).tolist(), strict=True))
    classes = [f"{label} {rate:.0%}" for label, rate in rates.items() if rate > 0]
    mean = sum(rates.values()) / max(len(rates), 1)
    text = f"the model says yes to {mean:.1%} of the questions about an all-black image"
    return text + f" ({shorten_list(classes)})" * bool(classes)


def shorten_list(words: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(words) - LISTED} more" if len(words) > LISTED else ""
    return ", ".join(words[:LISTED]) + more


def attach_tables(audit: Audit, results: Results) -> None:
    """The strongest cues by task, their means, and what was left out."""
    for task, title in TITLES.items():
        if cases := [result for result in results.cases if result.case.task == task]:
            audit.attach(strongest_table(title, cases))
    if results.cases:
        audit.attach(average_table(results, benchmark_of(audit), audit.options.beside))
    if results.study.exclusions:
        audit.attach(exclusion_table(results.study))


def make_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *notes: str
) -> Table:
    """A table from the cells of its rows."""
    named = tuple(dict(zip(columns, cells, strict=True)) for cells in rows)
    return Table(title=title, columns=tuple(columns), rows=named, notes=notes)


def strongest_table(title: str, cases: Sequence[CaseResult]) -> Table:
    """A row a class, the largest gap first; rates in percent, gaps in points."""
    rows: list[list[Cell]] = []
    for result in sorted(cases, key=lambda result: -result.gap.max()):
        percent = [100 * rate for rate in _strongest_rates(result)]
        q_value = f"{result.q_value:.3f}{' *' if result.finding else ''}"
        rows.append([result.case.label, result.cue, *percent, q_value, result.case.k])
    note = (
        "With it, without: percent of questions answered yes, in the K images that show the cue "
        "most and in the K that show it least. Random: the mean largest gap of as many random "
        "rankings. *: a finding."
    )
    return make_table(title, STRONGEST_COLUMNS, rows, note)


def _strongest_rates(result: CaseResult) -> tuple[float, float, float, float]:
    cue = result.strongest
    with_cue, without, gap = (float(x[cue]) for x in (result.with_cue, result.without, result.gap))
    return with_cue, without, gap, result.baseline


def average_table(results: Results, benchmark: str | None, beside: str) -> Table:
    """Means over the classes of their strongest cues, as tables 1 and 2 of the paper."""
    rows: list[dict[str, Cell]] = []
    paper: list[dict[str, Cell]] = []
    for task in dict.fromkeys(result.case.task for result in results.cases):
        rates = [_strongest_rates(result) for result in results.cases if result.case.task == task]
        cells = (task, *(100 * np.mean(rates, axis=0)).tolist())
        rows.append(dict(zip(AVERAGE_COLUMNS, cells, strict=True)))
        paper += average_rows(task, benchmark, beside)
    return Table(
        title="Mean over the classes",
        columns=AVERAGE_COLUMNS,
        rows=tuple(rows),
        paper=tuple(paper),
        notes=(
            "In percent. The strongest of many cues has a large gap by chance too: compare the "
            "gap with that of random rankings.",
            *([f"In brackets: the paper's figures for {beside}."] if paper else []),
        ),
    )


def exclusion_table(study: Study) -> Table:
    """Every cue that is not tried, with the reason; a row a class."""
    by_class: dict[str, dict[str, list[str]]] = {}
    for label, cue, reason in study.exclusions:
        by_class.setdefault(label, {}).setdefault(reason, []).append(cue)
    rows = tuple(
        {"class": label, "cues": "; ".join(f"{', '.join(c)}: {why}" for why, c in reasons.items())}
        for label, reasons in by_class.items()
    )
    return Table(title="Cues that were left out", columns=("class", "cues"), rows=rows)
