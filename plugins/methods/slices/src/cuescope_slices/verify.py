"""What the findings compare, and what their slices are learned from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Feature, Score
from cuescope_sdk.data import Comparison
from cuescope_sdk.locating import Sides
from cuescope_slices.analysis import inside, sides
from cuescope_slices.trials import rank

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
