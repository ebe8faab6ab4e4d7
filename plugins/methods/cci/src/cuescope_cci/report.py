"""From the sources of answers to the rows and the sentences of the report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.backgrounds import Backgrounds, Pull, measure_backgrounds
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Sources,
    counted_sources,
    factor_words,
    groups,
    groups_of,
    wrong_answers,
)
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Figure, share
from cuescope_sdk import Audit, Finding, Impact, Row as FindingRow, Score, Table
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Estimate

LEANS: dict[str, Callable[[AnswerSource], bool]] = {
    "on background %": lambda source: source.on_background,
    "on an object %": lambda source: source.on_object,
    "look-alike %": lambda source: source.fine_grained,
}


@dataclass(frozen=True)
class Row:
    """Images of a feature and label."""

    feature: str
    label: str | None
    sources: Sources


def rows(sources: Sources, labels: Sequence[str]) -> list[Row]:
    """All images, each label, and each factor's values."""
    by_name = groups(sources)
    rows = [Row(BACKGROUND, None, by_name.pop(BACKGROUND))]
    for label in labels:
        group = [source for source in sources if source.label == label]
        # a limit on the data may leave labels without images
        if group:
            rows.append(Row(BACKGROUND, label, group))
    for name, group in by_name.items():
        rows.append(Row(name, None, group))
    return rows


def share_of(
    sources: Sources,
    holds: Callable[[AnswerSource], bool],
    confidence: float,
) -> Figure:
    """The share of images for which something holds; its interval is for groups."""
    values = np.array([holds(source) for source in sources], dtype=bool)
    return share(values, groups_of(sources), confidence=confidence)


def scores(audit: Audit, options: CCIOptions, sources: Sources) -> Iterator[Score]:
    """The figures of each group and label, the findings, and facts for the head of the report."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    note_settings(audit, sources)
    counted = counted_sources(sources)
    if not counted:
        return
    # only images with a label and a region: others could not be shared out
    table = rows(counted, audit.labels)
    is_alike_known = choose_judge(audit) is not None
    audit.attach(error_table(table, options.confidence, is_alike_known=is_alike_known))
    all_scores: list[Score] = []
    if known is not None:
        note_backgrounds(audit, known, options)
        found = known.found(options.fdr)
        rows_of_kinds = [
            _pull_score(row, row in found) for row in known.shown(options.fdr)
        ]
        whole = _overall_score(known, found)
        # the background leads where several kinds of it are found; else the kind does
        all_scores += (
            [whole, *rows_of_kinds] if whole.finding else [*rows_of_kinds, whole]
        )
        for cue in findings(known, table[0].sources, options):
            audit.attach(cue)
    for row in table:
        # the shares of each factor's values are in the table alone
        if row.feature == BACKGROUND:
            all_scores += _error_scores(row, options, is_alike_known=is_alike_known)
    yield from all_scores


def findings(
    known: Backgrounds, counted: Sources, options: CCIOptions
) -> Iterator[Finding]:
    """The background, where several kinds draw answers; else the kind that does."""
    found = known.found(options.fdr)
    kinds = list(dict.fromkeys(row.feature for row in found))
    if not kinds:
        return
    answers = " and ".join(f'"{row.label}"' for row in found)
    wrong = wrong_answers(counted)
    impact = Impact(
        count=sum(source.on_background for source in wrong),
        total=len(wrong),
        detail="these follow the background",
    )
    is_one = len(kinds) == 1
    claim = "{feature} decides the answer"
    if is_one:
        claim = f"{{feature}} draws the answer {answers}"
    yield Finding(
        feature=kinds[0] if is_one else BACKGROUND,
        claim=claim,
        measure="answered so only with it",
        columns=("with it", "elsewhere"),
        rows=tuple(map(_finding_row, found)),
        impact=None if is_one else impact,
    )


def _finding_row(row: Pull) -> FindingRow:
    kind = row.feature.rpartition("=")[2]
    made = shares_row(
        f"{kind}: {row.label}",
        row.here,
        row.elsewhere,
        Estimate(row.value, row.low, row.high),
        label=row.label,
        n=row.images,
        q_value=row.q_value,
    )
    return made.model_copy(update={"feature": row.feature})


def _pull_score(row: Pull, is_found: bool) -> Score:
    return Score(
        feature=row.feature,
        label=row.label,
        metric="pull",
        value=row.value,
        low=row.low,
        high=row.high,
        n=row.images,
        p_value=row.p_value,
        q_value=row.q_value,
        finding=is_found,
        statement=pull_statement(row) if is_found else None,
    )


def _overall_score(known: Backgrounds, found: Sequence[Pull]) -> Score:
    """All kinds of backgrounds together, as surely as the surest of them."""
    changed = sum(s.prediction != s.object_answer for s in known.sources)
    count = len(known.sources)
    several = len({row.feature for row in found}) > 1
    return Score(
        feature=BACKGROUND,
        label=None,
        metric="pull",
        value=changed / count,
        n=count,
        q_value=found[0].q_value if several else None,
        finding=several,
        statement=f"{{feature}} decides the answer: {changed} of {count} answers are others "
        "without it, and several kinds of it draw an answer of their own. A correlation with the "
        "background, or with what comes with it."
        if several
        else None,
    )


def pull_statement(row: Pull) -> str:
    """The finding about a kind of background and a class as a sentence."""
    return (
        f"Of {row.images} images with {{feature}} {row.answered} are answered '{row.label}', "
        f"{row.drawn} of them only while the background is there. Elsewhere a background draws "
        f"this answer in {row.elsewhere:.0%} of the images of the same labels. That is "
        f"{100 * row.value:.0f} points [{100 * row.low:.0f}, {100 * row.high:.0f}] more. A "
        "correlation with the background, or with what comes with it."
    )


def _error_scores(
    row: Row, options: CCIOptions, *, is_alike_known: bool
) -> Iterator[Score]:
    """What the wrong answers rely on (Table 4)."""
    wrong = wrong_answers(row.sources)
    shares = {"bg_er": share_of(wrong, lambda s: s.on_background, options.confidence)}
    if is_alike_known:  # unknown is no share of 0
        fine = share_of(wrong, lambda s: s.fine_grained, options.confidence)
        shares["fine_er"] = fine
    for metric, figure in shares.items():
        yield Score(
            feature=row.feature,
            label=row.label,
            metric=metric,
            value=figure.value,
            low=figure.low,
            high=figure.high,
            n=figure.images,
        )


def error_table(
    table: Sequence[Row], confidence: float, *, is_alike_known: bool
) -> Table:
    """What the wrong answers rely on, a row a group (Figure 1d, Table 4)."""
    columns = list(LEANS)[: 3 if is_alike_known else 2]
    cells = []
    for row in table:
        wrong = wrong_answers(row.sources)
        shares = [
            str(share_of(wrong, LEANS[name], confidence)) if wrong else None
            for name in columns
        ]
        name = row.label or factor_words(row.feature) or "all images"
        cells.append((name, f"{len(wrong)} of {len(row.sources)}", *shares))
    return Table.of(
        "What the wrong answers rely on",
        ("group", "wrong", *columns),
        cells,
        "A wrong answer relies on the background (the paper's BG-Er) or on an object (FG-Er). "
        "Look-alikes that are predicted as each other (Fine-Er) are a part of those on an object. "
        f"In brackets: {confidence:.0%} intervals. Many errors on the background are no cue: a "
        "finding needs a kind of background that draws answers to one class.",
    )


def note_backgrounds(audit: Audit, known: Backgrounds, options: CCIOptions) -> None:
    """What was tested, and without a finding what could have been seen at all."""
    if known.beside:
        audit.note(
            "things beside",
            f"{count_of(known.beside, 'answers')} of a class that is on screen too: no background "
            "draws these",
        )
    words = "none could be compared: shares are reported, and no finding"
    if known.pulls:
        words = f"{count_of(len(known.pulls), 'pairs')} of a kind and a class tested"
    audit.note("kinds of backgrounds", words)
    if known.found(options.fdr):
        return
    findable = known.smallest_findable(options.fdr, audit.rng("limit of detection"))
    if findable is None:
        audit.note("power", "none: nothing could be tested")
        return
    share, limit = findable
    kind = f"for a kind of background in {share:.0%} of the images"
    words = f"none {kind}: too few images"
    if limit is not None:
        words = f"80% {kind} that draws {limit:.0%} of their answers to one class"
    audit.note("power", words)


def note_settings(audit: Audit, sources: Sources) -> None:
    """What of the errors' sources is not known, and how to know it."""
    # without labels no answer is wrong, so there are no errors to sort
    if all(source.label is None for source in sources):
        audit.note("error sources", "not known: the data has no labels")
        return
    if all(source.foreground is None for source in sources):
        audit.note(
            "error sources",
            "not known: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    if choose_judge(audit) is None:
        audit.note(
            "look-alikes",
            "not known: --tool text-generator=SPEC, or annotations['family']",
        )
    # said, as shares of fewer images than the data has would look like a mistake
    left = sum(not source.is_counted for source in sources)
    if left:
        audit.note(
            "left out",
            f"{count_of(left, 'images')}: without a label, with a mask that is empty or whole, "
            "or with a map that has no positive part",
        )
