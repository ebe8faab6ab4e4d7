"""What is counted of the sources of answers: groups, shares, findings and suspect labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from cuescope_cci.backgrounds.measure import Backgrounds, PullRow, is_small
from cuescope_cci.error_source import (
    BACKGROUND,
    AnswerSource,
    Sources,
    areas,
    groups,
    groups_of,
)
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Figure, is_mixed, share
from cuescope_sdk.maths import softmax


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


def by_size(sources: Sources) -> dict[str, list[AnswerSource]]:
    """Images whose object is smaller than the median of its label, and the others."""
    _, label = np.unique([str(source.label) for source in sources], return_inverse=True)
    small = is_small(areas(sources), label)
    # equal sizes: two rows would be one and an empty one
    if not is_mixed(small):
        return {}
    return {
        "smaller objects": list(compress(sources, small)),
        "larger objects": list(compress(sources, ~small)),
    }


# of the answers that a background moves: then things that are seen there make the pull
MOSTLY = 0.5


def is_finding(row: PullRow, known: Backgrounds, options: CCIOptions) -> bool:
    """Whether a kind of background pulls answers to a class, and nothing else that is known."""
    return is_pull(row, known, options) and not is_read_beside(row, options)


def is_read_beside(row: PullRow, options: CCIOptions) -> bool:
    """Whether answers are read from a thing of the class: most, or so many that no pull is left."""
    return row.beside > 0 and (
        row.beside >= MOSTLY * row.moved or row.apart_q > options.fdr
    )


def is_pull(row: PullRow, known: Backgrounds, options: CCIOptions) -> bool:
    """Whether a kind of background and what is seen in it pull answers to a class.

    The background itself must turn answers there: a kind that only keeps answers from being turned
    elsewhere pulls nowhere. A model that is no better than chance must also answer so to the
    background alone.
    """
    # the difference alone could come from other kinds that turn answers away
    strong = min(row.pull.value, row.turned) >= options.min_pull
    return (
        row.q_value <= options.fdr
        and strong
        # no star beside an interval that holds 0
        and row.pull.low > 0
        and _is_backed(row.alone_p, known, options)
    )


def is_overall_finding(known: Backgrounds, options: CCIOptions) -> bool:
    """Whether the class answered goes with the kind of background alone, all kinds together."""
    return is_overall_pull(known, options) and not is_overall_read_beside(
        known, options
    )


def is_overall_read_beside(known: Backgrounds, options: CCIOptions) -> bool:
    """As `is_read_beside`, of all answers that the background overrules."""
    beside, overruled = read_beside(known)
    apart_q = known.apart_tests.overall_q
    return beside > 0 and (
        beside >= MOSTLY * overruled or apart_q is None or apart_q > options.fdr
    )


def read_beside(known: Backgrounds) -> tuple[int, int]:
    """How many overruled answers have a thing of their class on screen, and how many there are."""
    overruled = np.array([source.overruled for source in known.sources], dtype=bool)
    return int((overruled & known.things.beside).sum()), int(overruled.sum())


def is_overall_pull(known: Backgrounds, options: CCIOptions) -> bool:
    """Whether the class answered goes with the kind of background, all kinds taken together."""
    q_value = known.tests.overall_q
    if q_value is None or q_value > options.fdr:
        return False
    overruled = share_of(
        known.sources, lambda source: source.overruled, options.confidence
    )
    strong = (overruled.value or 0.0) >= options.min_pull
    return strong and _is_backed(known.overall_alone_p, known, options)


def _is_backed(
    alone_p: float | None,
    known: Backgrounds,
    options: CCIOptions,
) -> bool:
    """Whether the model is better than chance, or answers so to the background alone."""
    return known.better_than_chance or (alone_p is not None and alone_p <= options.fdr)


def possible_mislabels(sources: Sources) -> list[AnswerSource]:
    """Wrong answers that the objects alone give too, as surely as right ones of that class.

    Confident learning (Northcutt et al., 2021): the probability of the class is at least the mean
    that it has in images of its own label.
    """
    # a threshold for each class: some classes are never as sure as others
    sureness: dict[str, list[float]] = {}
    for source in sources:
        label = str(source.label)
        sureness.setdefault(label, []).append(_sureness(source, label))
    suspects = []
    for source in sources:
        answer = source.prediction
        if source.wrong and answer == source.object_answer and answer in sureness:
            surplus = _sureness(source, answer) - np.mean(sureness[answer])
            # 1e-9: probabilities that are equal must not be told apart by rounding
            if surplus >= -1e-9:
                suspects.append(source)
    return sorted(
        suspects, key=lambda source: (-_sureness(source, source.prediction), source.key)
    )


def _sureness(source: AnswerSource, choice: str) -> float:
    """Probability of a choice where only the objects are seen."""
    if source.apart is None:
        return 0.0
    [probability] = softmax(source.apart.objects[None])
    return float(probability[source.sample.choices.index(choice)])
