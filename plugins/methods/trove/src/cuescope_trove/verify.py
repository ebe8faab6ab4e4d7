"""Checks of what TRoVe found: the null, other explanations, what is on screen."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from cuescope_sdk import Audit, Evidence, Feature, Score
from cuescope_sdk.data import Comparison, other_explanations
from cuescope_sdk.report import null_evidence
from cuescope_sdk.statistics import LabelEffects, benjamini_hochberg
from cuescope_sdk.stills import Answers
from cuescope_trove.analysis import Analysis, analyse
from cuescope_trove.candidates.frames import ranked_frames
from cuescope_trove.checks.annotated_cues import (
    check_against_annotation,
    rank_annotated_frames,
)
from cuescope_trove.control import conditions
from cuescope_trove.cues import signs
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import label_parts
from cuescope_trove.selection import clusters_that_pass, shuffle_within_labels

NAMED = 8  # wrong answers that may be on screen too


def evidence(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow.

    The annotation speaks about any method's features. The others need TRoVe's own candidates.
    """
    # `--verify-with trove` comes here with the scores of another method
    if audit.options is not options:
        if not scores:
            return
        by_feature = partial(
            rank_annotated_frames, features, scores, metric=scores[0].metric
        )
        yield from check_against_annotation(
            audit, options, features, scores, by_feature
        )
    else:
        analysis = audit.once(analyse, audit, options)
        by_frame = partial(ranked_frames, audit, analysis)
        yield from check_against_annotation(audit, options, features, scores, by_frame)
        if "detector" in audit.tools:
            from cuescope_trove.checks.detector import check_with_detector

            yield from check_with_detector(audit, options, features, scores, analysis)
        found = comparisons(audit, options, analysis, features)
        yield from other_explanations(audit, found)
        if options.null_shuffles:
            yield check_null(audit, options, analysis)


def check_null(audit: Audit, options: TRoVeOptions, analysis: Analysis) -> Evidence:
    """Test again where answers know nothing of what is on screen: dealt anew within each label.

    Whole groups change places. The rate of alarms is held against the promise.
    """
    rng = audit.rng("null")
    shuffles = options.null_shuffles
    observations = analysis.observations
    counts = []
    with audit.context.progress("shuffling", shuffles) as advance:
        for _ in range(shuffles):
            if analysis.cues:
                counts.append(_cues_that_pass(analysis, options, rng))
            else:
                shuffled = shuffle_within_labels(observations, rng)
                counts.append(clusters_that_pass(shuffled, options, rng))
            advance(1)
    units = "groups" if observations.groups.declared else "samples"
    return null_evidence(
        f"null: {units} shuffled within each label",
        f"a loss of accuracy passed the test ({sum(counts)} losses in all)",
        alarms=sum(count > 0 for count in counts),
        shuffles=shuffles,
        promised=options.fdr,
    )


def _cues_that_pass(
    analysis: Analysis, options: TRoVeOptions, rng: np.random.Generator
) -> int:
    """Number of cues that pass the test where answers are dealt anew within each label."""
    observations = analysis.observations
    source = observations.groups.deal(observations.label, rng)
    tests = []
    for cue in analysis.cues:
        effects = LabelEffects.of(
            cue.probability,
            observations.values[source],
            observations.label,
            signs(cue.answer, observations.classes),
            observations.groups,
            rng,
        )
        tests.append(effects.p_value)
    return int((np.array(benjamini_hochberg(tests)) <= options.fdr).sum())


def comparisons(
    audit: Audit,
    options: TRoVeOptions,
    analysis: Analysis,
    features: Sequence[Feature],
) -> list[Comparison]:
    """What each finding compares: a label's sequences with the cluster, and those without."""
    table = analysis.table
    observations = analysis.observations
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
