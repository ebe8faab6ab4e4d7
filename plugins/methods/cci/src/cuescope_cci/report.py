"""From the sources of answers to the rows and the sentences of the report."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_cci.backgrounds.measure import (
    Backgrounds,
    PullRow,
    measure_backgrounds,
    smallest_findable,
)
from cuescope_cci.backgrounds.pulls import FEWEST, Pull
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.notes import missed_words, note_accuracy, note_backgrounds, note_settings
from cuescope_cci.options import CCIOptions
from cuescope_cci.tables import Row, Share, error_table, percent, rows, rules_table, share_of
from cuescope_sdk import Audit, Score


def scores(audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]) -> Iterator[Score]:
    """The figures of each group and label, and the facts at the head of the report."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    note_accuracy(audit, options, sources, known)
    note_settings(audit, options, sources)
    counted = [source for source in sources if source.is_counted]
    if not counted:
        return
    table = rows(counted, audit.labels)
    audit.attach(error_table(table, counted, options.confidence))
    if (by_rule := rules_table(counted, options.region, options.confidence)) is not None:
        audit.attach(by_rule)
    pulls: Sequence[PullRow] = ()
    if known is not None:
        pulls = known.rows
        note_backgrounds(audit, options, known)
    whole, *others = table
    all_scores = [*_row_scores(whole, known, options)]
    strongest_first = sorted(
        pulls, key=lambda r: (not is_finding(r, known, options), r.q_value, -r.pull.value)
    )
    all_scores += [_pull_score(row, known, options) for row in strongest_first]
    for row in others:
        all_scores += _row_scores(row, None, options)
    if known is not None and not any(score.finding for score in all_scores):
        audit.note("could be missed", missed_words(smallest_findable(audit, known)))
    # the overall row leads where it is found; else the pairs that are
    yield from sorted(all_scores, key=lambda score: not _leads(score, all_scores))


def _leads(score: Score, scores: Sequence[Score]) -> bool:
    """Whether a score is of a feature and label that is a finding."""
    return any(
        other.finding and (other.feature, other.label) == (score.feature, score.label)
        for other in scores
    )


def is_finding(row: PullRow, known: Backgrounds | None, options: CCIOptions) -> bool:
    """Whether a kind of background pulls answers to a class.

    The background itself must turn answers there: a kind that only keeps answers from being turned
    elsewhere pulls nowhere. A model that is no better than chance must also answer so to the
    background alone.
    """
    strong = min(row.pull.value, row.turned) >= options.min_pull
    alone = row.alone_p is not None and row.alone_p <= options.fdr
    backed = known is not None and (known.better_than_chance or alone)
    return row.q_value <= options.fdr and strong and backed


def _row_scores(row: Row, known: Backgrounds | None, options: CCIOptions) -> Iterator[Score]:
    """How often the background overrules the object, and what the wrong answers lean on."""
    about = {"feature": row.feature, "label": row.label}
    tested = [source for source in row.sources if source.is_tested]
    overruled = share_of([source.overruled for source in tested], tested, options.confidence)
    finding = is_overall_finding(known, options)
    untested = known is not None and not known.tests.count
    # Without kinds nothing was asked of the share, so it is no figure of a candidate.
    unknown = known is not None and not known.observed.present.shape[1]
    statement = None
    if finding:
        statement = overall_statement(overruled, tested)
    elif known is not None and untested:
        statement = untested_statement(known, overruled)
    yield Score(
        **about,
        metric="pull",
        value=None if unknown else overruled.value,
        low=None if unknown else overruled.low,
        high=None if unknown else overruled.high,
        n=len(tested),
        p_value=known and known.overall_p,
        q_value=known and known.overall_q,
        finding=finding,
        always_reported=untested and not unknown,
        statement=statement,
    )
    wrong = [source for source in row.sources if source.wrong]
    for metric, holds in {
        "bg_er": [source.region == "background" for source in wrong],
        "fine_er": [source.fine_grained for source in wrong],
    }.items():
        share = share_of(holds, wrong, options.confidence)
        yield Score(
            **about, metric=metric, value=share.value, low=share.low, high=share.high, n=len(wrong)
        )


def is_overall_finding(known: Backgrounds | None, options: CCIOptions) -> bool:
    """Whether the class answered goes with the kind of background, all kinds taken together."""
    if known is None or known.overall_q is None:
        return False
    overruled = float(np.mean([source.overruled for source in known.sources]))
    alone = known.overall_alone_p is not None and known.overall_alone_p <= options.fdr
    backed = known.better_than_chance or alone
    return known.overall_q <= options.fdr and overruled >= options.min_pull and backed


def overall_statement(overruled: Share, tested: Sequence[AnswerSource]) -> str:
    """The finding about all backgrounds as a sentence."""
    count = sum(source.overruled for source in tested)
    return (
        "The class answered goes with the kind of {feature}. "
        f"{count} of {len(tested)} answers ({percent(overruled)}) are what the model answers to "
        "the background alone, and not what it answers to the objects alone."
    )


def untested_statement(known: Backgrounds, overruled: Share) -> str:
    """Why no kind of background could be tested: there are no kinds, or hardly an answer moves."""
    moved = int(known.observed.answers.moves().any(axis=1).sum())
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


def _pull_score(row: PullRow, known: Backgrounds | None, options: CCIOptions) -> Score:
    finding = is_finding(row, known, options)
    return Score(
        feature=row.feature,
        label=row.label,
        metric="pull",
        value=row.pull.value,
        low=row.pull.low,
        high=row.pull.high,
        n=row.images,
        p_value=row.p_value,
        q_value=row.q_value,
        finding=finding,
        statement=pull_statement(row) if finding else None,
    )


def pull_statement(row: PullRow) -> str:
    """The finding about a kind of background and a class as a sentence."""
    few = " (few groups: the interval is rough)" if row.pull.few else ""
    return (
        f"The model takes images with {{feature}} for '{row.label}': it answers so in "
        f"{row.answered} of {row.images}, and in {row.moved} of these only while the background is "
        f"there. Before other backgrounds it answers so in {row.pull.elsewhere:.0%} of the images "
        f"of the same labels. That is {_points(row.pull)} more{few}."
    )


def _points(pull: Pull) -> str:
    return f"{100 * pull.value:.0f} points [{100 * pull.low:.0f}, {100 * pull.high:.0f}]"
