"""From the sources of answers to the rows and the sentences of the report."""

from collections.abc import Iterator
from typing import Any

from cuescope_cci.analysis import Row, is_overall_pull, is_pull, rows, share_of
from cuescope_cci.backgrounds.measure import (
    Backgrounds,
    PullRow,
    measure_backgrounds,
    smallest_findable,
)
from cuescope_cci.backgrounds.pulls import FEWEST, Pull
from cuescope_cci.error_source import Sources, counted_sources, wrong_answers
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.notes import (
    missed_words,
    note_accuracy,
    note_backgrounds,
    note_settings,
    percent,
)
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import MISSING, Figure
from cuescope_cci.tables import error_table
from cuescope_sdk import Audit, Finding, Impact, Row as FindingRow, Score
from cuescope_sdk.report import shares_row
from cuescope_sdk.statistics import Estimate


def scores(audit: Audit, options: CCIOptions, sources: Sources) -> Iterator[Score]:
    """The figures of each group and label, and the facts at the head of the report."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    note_accuracy(audit, options, sources, known)
    note_settings(audit, options, sources)
    counted = counted_sources(sources)
    if not counted:
        return
    # only images with a label and a region: others could not be shared out
    table = rows(counted, audit.labels)
    is_alike_known = choose_judge(audit) is not None
    audit.attach(error_table(table, options.confidence, is_alike_known=is_alike_known))
    everything, *others = table
    all_scores = list(_row_scores(everything, known, options))
    if known is not None:
        note_backgrounds(audit, known)
        pulls = [_pull_score(row, options) for row in known.rows]
        all_scores += sorted(pulls, key=_strongest_first)
        for cue in _findings(known, everything, options):
            audit.attach(cue)
    for row in others:
        # None: parts of the data have figures, and no tests of their own
        all_scores += _row_scores(row, None, options)
    if not is_alike_known:  # unknown is no share of 0
        all_scores = [score for score in all_scores if score.metric != "fine_er"]
    found = {(score.feature, score.label) for score in all_scores if score.finding}
    # without a finding a reader must know what could have been seen at all
    if known is not None and not found:
        findable = smallest_findable(audit, known, options.fdr)
        audit.note("power", missed_words(findable))
    # the overall row leads where it is found; else the pairs that are
    yield from sorted(
        all_scores, key=lambda score: (score.feature, score.label) not in found
    )


def _findings(
    known: Backgrounds, everything: Row, options: CCIOptions
) -> Iterator[Finding]:
    """The background, where all kinds together decide; else each kind that draws an answer."""
    wrong = wrong_answers(everything.sources)
    impact = Impact(
        count=sum(bool(source.on_background) for source in wrong),
        total=len(wrong),
        detail="these follow the background",
    )
    pulls = [row for row in known.rows if is_pull(row, options)]
    rows = [(row.feature, _finding_row(row)) for row in pulls]
    if is_overall_pull(known, options):
        overruled = sum(source.overruled for source in known.sources)
        share = overruled / len(known.sources)
        whole = shares_row("all images: its answer", share, None, None).model_copy(
            update={"feature": everything.feature}
        )
        yield Finding(
            feature=everything.feature,
            claim="{feature} decides the answer",
            columns=("with it", "elsewhere"),
            rows=(whole, *(row for _, row in rows)),
            impact=impact,
        )
        return
    for feature in dict.fromkeys(feature for feature, _ in rows):
        own = [row for key, row in rows if key == feature]
        answers = " and ".join(f'"{row.label}"' for row in own)
        yield Finding(
            feature=feature,
            claim=f"{{feature}} draws the answer {answers}",
            measure="answered so",
            columns=("with it", "elsewhere"),
            rows=tuple(own),
        )


def _finding_row(row: PullRow) -> FindingRow:
    kind = row.feature.rpartition("=")[2]
    pull = row.pull
    change = Estimate(pull.value, pull.low, pull.high)
    made = shares_row(
        f"{kind}: {row.label}",
        pull.here,
        pull.elsewhere,
        change,
        label=row.label,
        n=row.images,
        q_value=row.q_value,
    )
    return made.model_copy(update={"feature": row.feature})


def _strongest_first(score: Score) -> tuple[bool, float, float]:
    # many q-values are equal, as draws are few: the larger pull then leads
    return not score.finding, score.q_value or 0.0, -(score.value or 0.0)


def _row_scores(
    row: Row,
    known: Backgrounds | None,
    options: CCIOptions,
) -> Iterator[Score]:
    """How often the background overrules the object, and what the wrong answers rely on."""
    # what was overruled needs the answers to both parts
    tested = [source for source in row.sources if source.is_tested]
    overruled = share_of(tested, lambda source: source.overruled, options.confidence)
    if known is None:
        yield _score(row, "pull", overruled, overruled.images)
    else:
        yield _overall_score(row, overruled, known, options)
    # the paper's shares are of wrong answers (COVAR, Table 4)
    wrong = wrong_answers(row.sources)
    background = share_of(
        wrong, lambda source: source.on_background, options.confidence
    )
    fine = share_of(wrong, lambda source: source.fine_grained, options.confidence)
    yield _score(row, "bg_er", background, background.images)
    yield _score(row, "fine_er", fine, fine.images)


def _score(
    row: Row | PullRow, metric: str, figure: Figure | Pull, n: int, **tested: Any
) -> Score:
    return Score(
        feature=row.feature,
        label=row.label,
        metric=metric,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        n=n,
        **tested,
    )


def _overall_score(
    row: Row,
    overruled: Figure,
    known: Backgrounds,
    options: CCIOptions,
) -> Score:
    """All kinds of backgrounds and all classes together."""
    finding = is_overall_pull(known, options)
    # no pair was tested: then no p-value stands behind the missing finding
    untested = not known.tests.count
    has_kinds = known.observed.present.shape[1] > 0
    statement = None
    if finding:
        statement = overall_statement(overruled, known.sources)
    elif untested:
        statement = untested_statement(known, overruled)
    # Without kinds nothing was asked of the share, so it is no figure of a candidate.
    return _score(
        row,
        "pull",
        overruled if has_kinds else MISSING,
        overruled.images,
        p_value=known.tests.overall_p,
        q_value=known.tests.overall_q,
        finding=finding,
        # that nothing could be tested must be read, or no finding would look like no cue
        always_reported=untested and has_kinds,
        statement=statement,
    )


def overall_statement(overruled: Figure, tested: Sources) -> str:
    """The finding about all backgrounds as a sentence."""
    count = sum(source.overruled for source in tested)
    return (
        "The class answered correlates with the kind of {feature}. "
        f"{count} of {len(tested)} answers ({percent(overruled)}) are what the model answers to "
        "the background alone, and not what it answers to the objects alone."
    )


def untested_statement(known: Backgrounds, overruled: Figure) -> str:
    """Why no kind of background could be tested: there are no kinds, or hardly an answer moves."""
    answers = known.observed.answers
    moved = int((answers.whole != answers.by_object).sum())
    # no kinds at all: another reason than answers that do not move
    if not known.observed.present.shape[1]:
        return (
            "Nothing could be tested: no kinds of backgrounds are known. No factor is annotated "
            "(annotations['factors']), and the backgrounds fall into no clear kinds. "
            f"Of {len(known.sources)} answers {moved} are others while the background is hidden; "
            f"{percent(overruled)} are those to the background alone, and not to the objects alone."
        )
    return (
        f"Of {len(known.sources)} answers {moved} are others while the background is hidden. That "
        f"is too few for a test: a kind of background needs {FEWEST} that move to one class."
    )


def _pull_score(row: PullRow, options: CCIOptions) -> Score:
    finding = is_pull(row, options)
    return _score(
        row,
        "pull",
        row.pull,
        row.images,
        p_value=row.p_value,
        q_value=row.q_value,
        finding=finding,
        statement=pull_statement(row) if finding else None,
    )


def pull_statement(row: PullRow) -> str:
    """The finding about a kind of background and a class as a sentence."""
    pull = row.pull
    points = (
        f"{100 * pull.value:.0f} points [{100 * pull.low:.0f}, {100 * pull.high:.0f}]"
    )
    few = " (few groups: the interval is rough)" if pull.few else ""
    return (
        f"Of {row.images} images with {{feature}} {row.answered} are answered '{row.label}', "
        f"{row.moved} of them only while the background is there. Before other backgrounds "
        f"{pull.elsewhere:.0%} of the images of the same labels are answered so. That is {points} "
        f"more{few}. A correlation with the background, or with what comes with it."
    )
