"""From arrays to the rows and the sentences of the report."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from cuescope_sdk import Audit, Cell, Feature, Score, Table
from cuescope_sdk.data import label_noise_words
from cuescope_sdk.report import count_of, percent
from cuescope_sdk.statistics import Estimate, mean_interval
from cuescope_trove.analysis import (
    CALIBRATION,
    Analysis,
    PairRow,
    analyse,
    observe,
    pair_rows,
)
from cuescope_trove.candidates.groups import COMPONENT, FORETOLD
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.power import faultless_words, limit_words
from cuescope_trove.selection import Verdict
from cuescope_trove.trials import Choice

MOST_SHOWN = 20  # pairs in the table of both parts
STATIC_BIAS_WORDS = {
    "label": "over the cluster's misclassified frames of the label (as the published code)",
    "cluster": "over all misclassified frames of the cluster (as eq. 2 is printed)",
}


def scores(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
) -> Iterator[Score]:
    """The rows of the report, and the facts at its head."""
    observations, temperature = audit.once(observe, audit, options.top_k, CALIBRATION)
    correct = observations.correct
    groups = observations.groups
    top = "" if options.top_k == 1 else f" (top {options.top_k})"
    low, high = mean_interval(
        observations.values,
        groups,
        confidence=options.confidence,
    )
    audit.note(
        "accuracy",
        f"{correct.mean():.1%}{top} of {len(correct)} sequences ({low:.1%} to {high:.1%})",
    )
    temperatures = " and ".join(
        f"{value:.3f}" for value in sorted(set(temperature.tolist()))
    )
    audit.note(
        "temperature", f"{temperatures}, each fitted on the other half of the sequences"
    )
    audit.note("static bias", STATIC_BIAS_WORDS[options.static_bias])
    if groups.declared:
        few = ": few, so intervals and tests can prove little" if groups.few else ""
        audit.note(
            "groups",
            f"{count_of(groups.count, 'groups')} of sequences that belong together{few}",
        )
    # no pair can lose accuracy, so nothing is tested and only a limit is told
    if correct.all():
        audit.note(
            "errors",
            "none: the model is always right here, so there is nothing to explain",
        )
        missed = faultless_words(observations, options)
        audit.note("could have been missed", missed)
        return
    # said, as an audit without findings would look as if the model were sound
    if not correct.any():
        audit.note(
            "errors", "all: the model is never right here, so no cue can cost accuracy"
        )
    analysis = audit.once(analyse, audit, options)
    _note_selection(audit, options, analysis)
    rows = list(pair_rows(audit, options, features, analysis))
    tried = [
        row for row in rows if row.first_gap is not None and row.p_value is not None
    ]
    # one part has no second loss that could be put beside the first
    if tried:
        audit.attach(losses_table(tried[:MOST_SHOWN]))
    say = partial(
        statement,
        labels=len(audit.labels),
        starts=analysis.distinct.starts,
        stills=_are_stills(audit),
    )
    for row in rows:
        yield from _pair_scores(row, say(row))


def _are_stills(audit: Audit) -> bool:
    """Whether no sample has a second frame."""
    return all(len(sample.frames) == 1 for sample in audit.samples)


def losses_table(tried: Sequence[PairRow]) -> Table:
    """Each candidate's loss where it was looked for, and in the other sequences."""
    rows = []
    for pair in tried:
        row: dict[str, Cell] = {
            "cue": f"{pair.feature}, {pair.label}",
            "looked for": 100 * (pair.first_gap or 0.0),
            "measured": 100 * pair.gap.value,
            "low": 100 * pair.gap.low,
            "high": 100 * pair.gap.high,
            "q": pair.q_value,
            "finding": "yes" if pair.verdict == Verdict.FINDING else "no",
        }
        rows.append(row)
    return Table(
        title="Points of accuracy lost, where a cue was looked for and where it was measured",
        columns=tuple(rows[0]),
        rows=tuple(rows),
        notes=(
            "A loss that was chosen because it is large is likely smaller in other data. A loss "
            "that is measured in other sequences is not exaggerated by the choice.",
        ),
    )


def _note_selection(audit: Audit, options: TRoVeOptions, analysis: Analysis) -> None:
    """What was tried, on which sequences, and what that could have missed."""
    table = analysis.table
    words = "none: no label has sequences both with and without a cluster"
    if len(table.pairs):  # how much was tried, which the q-values correct for
        words = f"{count_of(len(table.pairs), 'pairs')} of candidate and label were compared, "
        words += f"{table.tried.sum()} of them tested, which overlap and count as "
        words += (
            f"{table.correction.count:.0f}; findings: {analysis.shown.finding.sum()}"
        )
    audit.note("pairs", words)
    if analysis.part is not None:
        first = int(analysis.part.sum())
        audit.note(
            "two parts",
            f"cues were looked for in {first} sequences; all figures are of the other "
            f"{len(analysis.part) - first}",
        )
    missed = limit_words(analysis.observations, table, options, audit.rng("limit"))
    audit.note("could have been missed", missed)


def _pair_scores(row: PairRow, words: str | None) -> Iterator[Score]:
    """Three scores of a pair, the headline first."""

    def score_of(metric: str, figure: Estimate[float] | None, **more: Any) -> Score:
        return Score(
            feature=row.feature,
            label=row.label,
            metric=metric,
            value=figure and figure.value,
            low=figure and figure.low,
            high=figure and figure.high,
            **more,
        )

    tested = {"n": row.n, "p_value": row.p_value, "q_value": row.q_value}
    yield score_of(
        "trove_score",
        row.score,
        **tested,
        finding=row.verdict == Verdict.FINDING,
        # a large loss that is not shown would look overlooked, not explained
        always_reported=row.verdict == Verdict.LABEL_NOISE,
        statement=words,
    )
    yield score_of("error_contribution", row.gap, **tested)
    # no p-value: the test is of the loss of accuracy alone
    yield score_of("static_bias", row.bias, n=row.n_frames)


def statement(
    row: PairRow,
    *,
    labels: int,
    starts: int = 1,
    stills: bool = False,
) -> str | None:
    """A pair in a few sentences: what is lost, and what a still frame is taken for, or why not.

    None for a pair that is nothing. There are so many `labels`, and `starts` of the clustering.
    Of samples that are `stills` a frame is the sample.
    """
    if row.verdict == Verdict.NOTHING:
        return None
    label = f"'{row.label}'"
    words = (
        f"Where {{feature}} is on screen, {label} is right {round(100 * row.gap.value)} points "
        f"less often ({row.accuracy_with:.0%} instead of {row.accuracy_without:.0%}; "
        f"{percent(row.gap.low, unit='')} to {percent(row.gap.high, unit='')} points)."
    )
    if row.first_gap is not None:
        first = round(100 * row.first_gap)
        words += f" In the part of the data used for the search: {first} points."
    if row.verdict == Verdict.LABEL_NOISE:
        return label_noise_words(words, row.label, row.suspects, row.retest)
    sentences = _mistake_sentence(row) + _still_frame_sentence(
        row, labels, stills=stills
    )
    return f"{words} {sentences}{_starts_sentence(row, starts)}"


def _mistake_sentence(row: PairRow) -> str:
    answer = f"'{row.answer}'"
    if row.share <= 0.5:  # it must not read as if all errors were the same
        answer += ", the most common of several wrong answers,"
    return f"It is taken for {answer} in {row.taken_with:.0%} instead of {row.taken_without:.0%}. "


def _still_frame_sentence(row: PairRow, labels: int, *, stills: bool) -> str:
    answer = f"'{row.answer}'"
    frame = "Such a picture" if stills else "A single frozen frame with it"
    # below a half "is answered" would be false: other answers may be likelier
    if row.confidence >= 0.5:
        return f"{frame} is answered {answer} with {row.confidence:.0%} confidence."
    return (
        f"{frame} gives {answer} a probability of {row.confidence:.0%} "
        f"(chance: {100 / labels:.3g}%)."
    )


def _starts_sentence(row: PairRow, starts: int) -> str:
    """How far it depends on where the clustering starts; nothing of a single start."""
    if starts < 2:
        return ""
    if row.by_pictures and not row.starts:
        return (
            f" None of {starts} repeats of the clustering found it. It was learned from pictures: "
            f"those that are wrongly taken for '{row.answer}' have it in common."
        )
    if not row.starts:
        return (
            f" None of {starts} repeats of the clustering found it. A direction of the embedding "
            "did."
        )
    count = f"All {starts}" if row.starts == starts else f"{row.starts} of {starts}"
    return f" {count} repeats of the clustering found it."


# --------------------------------------------------------------------- facts at the report's head


def note_candidates(audit: Audit, analysis: Analysis) -> None:
    """How many candidates there are, and why."""
    choice = analysis.choice
    frames = choice.candidates.points
    audit.note("clusters", candidates_words(choice, len(analysis.chosen)))
    # few frames shorten the sweep: then the data chose the number, not the options
    if choice.counts != choice.wanted:
        wanted = _list_words(choice.wanted)
        audit.note(
            "cluster sweep",
            f"shorter than {wanted}: there are only {count_of(frames, 'frames')}",
        )
    # then the static bias is of the answer itself, and time tells nothing
    if _are_stills(audit):
        audit.note("frames", "one a sample: its still clip is the sample itself")


def candidates_words(choice: Choice, shown: int) -> str:
    """How many candidates there are, and where they come from."""
    candidates = choice.candidates
    frames = candidates.points
    if len(candidates.members[0]) == frames and shown == 1:
        if frames <= 2:
            return f"1: {count_of(frames, 'frames', 'are')} too few to group"
        return (
            f"1: the model's embedding is the same for all {frames} frames, so nothing in them "
            "can be told apart"
        )
    counts = _list_words(list(choice.counts))
    if choice.silhouettes:
        return (
            f"{len(candidates)}; of {counts} it has the best cosine silhouette "
            f"({max(choice.silhouettes.values()):.3f}) over {count_of(frames, 'frames')}"
        )
    directions = int((candidates.start == COMPONENT).sum())
    learned = int((candidates.start == FORETOLD).sum())
    by_pictures = (
        f", and for {count_of(learned, 'wrong answers')} what their pictures share"
        if learned
        else ""
    )
    return (
        f"{count_of(len(candidates), 'candidates')} over {count_of(frames, 'frames')}: the "
        "clusters of "
        f"{len(candidates.clusterings)} starts with {counts} clusters, and {directions} directions "
        f"of the embedding{by_pictures}. They overlap; {shown} of them are shown"
    )


def _list_words(counts: Sequence[int]) -> str:
    if len(counts) <= 6:
        return ", ".join(map(str, counts))
    return f"{counts[0]}, {counts[1]} ... {counts[-1]}"
