"""The null: answers that have nothing to do with what is on screen, sliced and tested again."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Evidence, Feature, Score
from cuescope_sdk.data import Comparison
from cuescope_sdk.locating import Sides
from cuescope_sdk.report import null_evidence
from cuescope_slices.analysis import compare, inside, sides
from cuescope_slices.trials import SLICERS, Ranked, rank, slices_of

NAMED = 3  # wrong answers that may be on screen too


def comparisons(
    audit: Audit,
    name: str,
    options: Any,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Comparison]:
    """What each finding compares: a label's sequences in the slice, and those outside."""
    ranked = audit.once(rank, audit, name, options)
    numbers = {feature.key: number for number, feature in enumerate(features)}
    codes = ranked.points.label[ranked.first]
    right = ranked.points.correct[ranked.first].astype(float)
    answered = ranked.points.prediction[ranked.first]
    samples = {sample.key: sample for sample in audit.samples}
    for score in scores:
        if not score.finding or score.label is None:
            continue
        part = ranked.slices[numbers[score.feature]]
        mine = np.flatnonzero(codes == audit.labels.index(score.label))
        wrong = Counter(answered[mine][right[mine] == 0].tolist()).most_common(NAMED)
        yield Comparison(
            feature=score.feature,
            label=score.label,
            samples=[samples[ranked.keys[number]] for number in mine],
            shows=inside(ranked, part)[mine],
            values=right[mine],
            answers=[audit.labels[answer] for answer, _ in wrong],
        )


def sides_by_feature(
    audit: Audit, name: str, options: Any, features: Sequence[Feature]
) -> dict[str, Sides]:
    """What each feature that ranks everything is learned from."""
    ranked = audit.once(rank, audit, name, options)
    found = {}
    for feature, part in zip(features, ranked.slices, strict=True):
        of_part = sides(ranked, part)
        if of_part is not None:
            found[feature.key] = of_part
    return found


def evidence(audit: Audit, name: str, options: Any) -> Iterator[Evidence]:
    """How often slices of shuffled answers pass the test, where the slices know of answers."""
    ranked = audit.once(rank, audit, name, options)
    count = options.null_shuffles
    looks_at_errors = name in ("domino", "distilling-failures")
    if (
        not ranked.slices
        or not count
        or (looks_at_errors and ranked.points.fitted.all())
    ):
        return  # nothing was tested
    alarms = 0
    with audit.context.progress("shuffling", count) as advance:
        for number in range(count):
            # one stream a shuffle: another number of shuffles leaves the first ones as they were
            rng = audit.rng("null", str(number))
            shuffled = shuffle_answers(ranked, rng)
            slices = ranked.slices
            # the two orders do not look at answers, so theirs stay as they are
            if name in SLICERS:
                slices = tuple(slices_of(audit, name, options, shuffled.points))
            q_values = [
                pair.q_value for pair in compare(shuffled, slices, options, rng)
            ]
            alarms += any(q is not None and q <= options.fdr for q in q_values)
            advance(1)
    yield null_evidence(
        "null: answers dealt anew within each label",
        "a slice passed the test",
        alarms=alarms,
        shuffles=count,
        promised=options.fdr,
    )


def shuffle_answers(ranked: Ranked, rng: np.random.Generator) -> Ranked:
    """Answers of whole groups change places within each label; embeddings stay."""
    points = ranked.points
    first = ranked.first
    # whole groups: clips of a source are alike, and shuffled apart would alarm less
    source = ranked.groups.deal(points.label[first], rng)
    # all frames of a sequence get the answer of the same other sequence
    answer = first[source[ranked.sequence]]
    shuffled = replace(
        points,
        probability=points.probability[answer],
        prediction=points.prediction[answer],
    )
    return replace(ranked, points=shuffled)
