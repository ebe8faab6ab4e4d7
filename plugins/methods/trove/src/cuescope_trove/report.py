"""From arrays to the rows and the sentences of the report."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from cuescope_sdk import Audit, Feature, Finding, Row, Score
from cuescope_sdk.report import count_of, drawn_answer, percent, shares_row
from cuescope_sdk.statistics import Estimate, mean_interval
from cuescope_trove.analysis import (
    CALIBRATION,
    Analysis,
    PairRow,
    analyse,
    observe,
    pair_rows,
)
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.power import faultless_words, limit_words
from cuescope_trove.scores import meets
from cuescope_trove.trials import Clustering

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
        audit.note("power", missed)
        return
    # said, as an audit without findings would look as if the model were sound
    if not correct.any():
        audit.note(
            "errors", "all: the model is never right here, so no cue can cost accuracy"
        )
    analysis = audit.once(analyse, audit, options)
    _note_selection(audit, options, analysis)
    rows = list(pair_rows(audit, options, features, analysis))
    say = partial(statement, labels=len(audit.labels), stills=_are_stills(audit))
    for row in rows:
        yield from _pair_scores(row, say(row) if row.is_finding else None)


def findings(
    audit: Audit, options: TRoVeOptions, features: Sequence[Feature]
) -> Iterator[Finding]:
    """The candidates that pass, each with the labels that it costs and the answer that it draws."""
    if audit.once(observe, audit, options.top_k, CALIBRATION)[0].correct.all():
        return
    analysis = audit.once(analyse, audit, options)
    observations = analysis.observations
    shows = meets(observations)
    names = audit.labels
    by_feature: dict[str, list[PairRow]] = {}
    for row in pair_rows(audit, options, features, analysis):
        by_feature.setdefault(row.feature, []).append(row)
    number = {feature.key: place for place, feature in enumerate(features)}
    for key, rows in by_feature.items():
        found = [row for row in rows if row.is_finding]
        if not found:
            continue
        place = number[key]
        answer = found[0].answer
        if place < len(analysis.cues):
            answer = names[analysis.cues[place].answer]
        own = [row for row in rows if row.label == answer]
        yield drawn_answer(
            key,
            answer,
            map(_row_of, [*found, *own]),
            labels=[names[label] for label in observations.label],
            predictions=[names[answer] for answer in observations.prediction],
            shows=shows[:, [place]].toarray().ravel(),
            helps=any(row.gap.high < 0 for row in own),
        )


def _row_of(row: PairRow) -> Row:
    """Accuracy on a label with the candidate and without it."""
    change = Estimate(-row.gap.value, -row.gap.high, -row.gap.low)
    return shares_row(
        row.label,
        row.accuracy_with,
        row.accuracy_without,
        change,
        label=row.label,
        n=row.n,
        q_value=row.q_value if row.is_finding else None,
    )


def _are_stills(audit: Audit) -> bool:
    """Whether no sample has a second frame."""
    return all(len(sample.frames) == 1 for sample in audit.samples)


def _note_selection(audit: Audit, options: TRoVeOptions, analysis: Analysis) -> None:
    """What was tested, what it explains, and what could have been missed."""
    audit.note(
        "tests",
        f"{analysis.tests}, corrected for together; findings: {analysis.table.finding.sum()}",
    )
    if analysis.cues:
        audit.note("errors explained", _impact_words(analysis))
    missed = limit_words(
        analysis.observations, analysis.tests, options, audit.rng("limit")
    )
    audit.note("power", missed)


def _impact_words(analysis: Analysis) -> str:
    """How many errors there are beyond what labels have without the cues that were found."""
    table = analysis.table
    errors = int((~analysis.observations.correct).sum())
    found = table.finding
    explained = (table.mistake.surplus * table.pairs.n_with)[found].sum()
    # cues of several answers may share sequences
    return f"about {min(round(explained), errors)} of {errors}"


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
        finding=row.is_finding,
        statement=words,
    )
    yield score_of("error_contribution", row.gap, **tested)
    # no p-value: the test is of the loss of accuracy alone
    yield score_of("static_bias", row.bias, n=row.n_frames)


def statement(row: PairRow, *, labels: int, stills: bool = False) -> str:
    """A finding in a few sentences: what is lost, and what a still frame is taken for.

    There are so many `labels`. Of samples that are `stills` a frame is the sample.
    """
    words = (
        f"Where {{feature}} is on screen, '{row.label}' is right {round(100 * row.gap.value)} "
        f"points less often ({row.accuracy_with:.0%} instead of {row.accuracy_without:.0%}; "
        f"{percent(row.gap.low, unit='')} to {percent(row.gap.high, unit='')} points)."
    )
    sentences = _mistake_sentence(row) + _still_frame_sentence(
        row, labels, stills=stills
    )
    return f"{words} {sentences}"


def _mistake_sentence(row: PairRow) -> str:
    answer = f"'{row.answer}'"
    if row.share <= 0.5:  # it must not read as if all errors were the same
        answer += ", the most common of several wrong answers,"
    shares = f"{row.taken_with:.0%} instead of {row.taken_without:.0%}"
    return f"It is predicted as {answer} in {shares}. "


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


# --------------------------------------------------------------------- facts at the report's head


def note_candidates(audit: Audit, analysis: Analysis) -> None:
    """How many candidates there are, and why."""
    frames = analysis.candidates.points
    clustering = analysis.clustering
    if clustering is None:
        audit.note("candidates", cues_words(audit, analysis))
    else:
        audit.note("clusters", clusters_words(clustering))
        # few frames shorten the sweep: then the data chose the number, not the options
        if clustering.counts != clustering.wanted:
            wanted = _list_words(clustering.wanted)
            audit.note(
                "cluster sweep",
                f"shorter than {wanted}: there are only {count_of(frames, 'frames')}",
            )
    # then the static bias is of the answer itself, and time tells nothing
    if _are_stills(audit):
        audit.note("frames", "one a sample: its still clip is the sample itself")


def cues_words(audit: Audit, analysis: Analysis) -> str:
    """In which wrong answers a cue was found."""
    if not analysis.cues:
        return (
            "no cue: too few answers are wrong; "
            f"{count_of(len(analysis.candidates), 'clusters')} of frames, untested"
        )
    answers = ", ".join(f"'{audit.labels[cue.answer]}'" for cue in analysis.cues[:6])
    others = len(analysis.candidates) - len(analysis.cues)
    return (
        f"what samples share that wrongly get an answer, in "
        f"{count_of(len(analysis.cues), 'answers')}: {answers}; and, untested, "
        f"{count_of(others, 'clusters')} of frames that show no cue that was found"
    )


def clusters_words(clustering: Clustering) -> str:
    """How many clusters there are, and why so many."""
    candidates = clustering.candidates
    frames = candidates.points
    if len(candidates.members[0]) == frames:
        if frames <= 2:
            return f"1: {count_of(frames, 'frames', 'are')} too few to group"
        return (
            f"1: the model's embedding is the same for all {frames} frames, so nothing in them "
            "can be told apart"
        )
    return (
        f"{len(candidates)}; of {_list_words(clustering.counts)} it has the best cosine "
        f"silhouette ({max(clustering.silhouettes.values()):.3f}) over "
        f"{count_of(frames, 'frames')}"
    )


def _list_words(counts: Sequence[int]) -> str:
    if len(counts) <= 6:
        return ", ".join(map(str, counts))
    return f"{counts[0]}, {counts[1]} ... {counts[-1]}"
