"""Checks of what TRoVe found: the null, labels, other explanations, mistakes, what is on screen."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cuescope_sdk import Audit, Evidence, Feature, Score
from cuescope_sdk.data import (
    Comparison,
    mislabelled_samples,
    other_explanations,
    unlike_label_errors,
)
from cuescope_sdk.locating import shared_look
from cuescope_sdk.report import null_evidence
from cuescope_sdk.statistics import LabelNoise
from cuescope_sdk.stills import Answers
from cuescope_trove.analysis import Analysis, analyse
from cuescope_trove.candidates.frames import ranked_frames
from cuescope_trove.checks.annotated_cues import (
    check_against_annotation,
    rank_annotated_frames,
)
from cuescope_trove.checks.detector import check_with_detector
from cuescope_trove.checks.mistakes import check_mistakes
from cuescope_trove.control import conditions
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, label_parts
from cuescope_trove.selection import Verdict, losses_that_pass, shuffle_within_labels

NAMED = 8  # wrong answers that may be on screen too


def evidence(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow; nothing where nothing was scored.

    The annotation speaks about any method's features. The others need TRoVe's own clusters.
    """
    if not scores:
        return
    # `--verify-with trove` comes here with the scores of another method
    if not any(score.metric == "trove_score" for score in scores):
        by_feature = partial(
            rank_annotated_frames, features, scores, metric=scores[0].metric
        )
        yield from check_against_annotation(
            audit, options, features, scores, by_feature
        )
    else:
        analysis = audit.once(analyse, audit, options)
        by_frame = partial(ranked_frames, audit, options, analysis)
        yield from check_against_annotation(audit, options, features, scores, by_frame)
        if "detector" in audit.tools:
            yield from check_with_detector(audit, options, features, scores, analysis)
        if options.label_noise:
            yield check_labels(audit, analysis, features, scores)
            yield from check_unlike(audit, analysis, features)
        found = comparisons(audit, options, analysis, features)
        yield from other_explanations(audit, found)
        yield from check_mistakes(audit, options, analysis.shown, features)
        if options.null_shuffles:
            # of what is shown: all candidates, twenty times over, would cost more than the audit
            member = analysis.observations.member[:, analysis.chosen]
            shown = replace(analysis.observations, member=member)
            yield check_null(audit, options, shown)


def check_null(
    audit: Audit,
    options: TRoVeOptions,
    observations: Observations,
) -> Evidence:
    """What is on screen, dealt anew to groups within each label, knows nothing of answers.

    The test runs again on each shuffle, of all groups and without what a finding must pass
    besides: that would hide a test that alarms too often. Its rate is held against the promise.
    """
    rng = audit.rng("null")
    shuffles = options.null_shuffles
    counts = []
    with audit.context.progress("shuffling", shuffles) as advance:
        for _ in range(shuffles):
            shuffled = shuffle_within_labels(observations, rng)
            counts.append(losses_that_pass(shuffled, options, rng))
            advance(1)
    units = "groups" if observations.groups.declared else "samples"
    return null_evidence(
        f"null: {units} shuffled within each label",
        f"a loss of accuracy passed the test ({sum(counts)} losses in all)",
        alarms=sum(count > 0 for count in counts),
        shuffles=shuffles,
        promised=options.fdr,
    )


def check_labels(
    audit: Audit,
    analysis: Analysis,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Evidence:
    """Which samples look mislabelled, and whether anything that was found rests on them."""
    answers = audit.once(Answers.ask, audit)
    return mislabelled_samples(
        [outcome.trial.sample for outcome in answers.outcomes],
        audit.labels,
        LabelNoise.of(analysis.observations.answered),
        explained=int((analysis.shown.verdict == Verdict.LABEL_NOISE).sum()),
        held=int(analysis.shown.finding.sum()),
        features=features,
        scores=scores,
        share=partial(shared_look, audit),
    )


def check_unlike(
    audit: Audit, analysis: Analysis, features: Sequence[Feature]
) -> Iterator[Evidence]:
    """The findings that would be label noise, if label errors were answered as they are."""
    table = analysis.shown
    for pair in np.flatnonzero(table.finding & (table.unlike > 0)).tolist():
        yield unlike_label_errors(
            features[table.pairs.cluster[pair]].key,
            audit.labels[table.pairs.label[pair]],
            int(table.suspects[pair]),
            float(table.unlike[pair]),
        )


def comparisons(
    audit: Audit,
    options: TRoVeOptions,
    analysis: Analysis,
    features: Sequence[Feature],
) -> list[Comparison]:
    """What each finding compares: a label's sequences with the cluster, and those without."""
    table = analysis.shown
    member = analysis.observations.member[:, analysis.chosen]
    observations = replace(analysis.observations, member=member)
    samples = [
        outcome.trial.sample for outcome in audit.once(Answers.ask, audit).outcomes
    ]
    found = []
    for part in label_parts(observations, table.pairs):
        of_label = [samples[number] for number in part.samples]
        wrong = observations.prediction[part.samples[part.values == 0]]
        answers, counts = np.unique(wrong, return_counts=True)
        commonest = answers[np.argsort(-counts, kind="stable")][:NAMED]
        for column in np.flatnonzero(table.finding[part.pairs]).tolist():
            pair = part.pairs[column]
            comparison = Comparison(
                feature=features[table.pairs.cluster[pair]].key,
                label=audit.labels[table.pairs.label[pair]],
                samples=of_label,
                shows=part.present[:, column],
                values=part.values,
                answers=[audit.labels[answer] for answer in commonest],
                measured=conditions(options.control, of_label),
            )
            found.append(comparison)
    return found
