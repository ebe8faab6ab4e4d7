"""Whether what is on screen leads to one mistake, or to more of all that the label has anyway.

A model that leans on a cue answers what the cue goes with. One that sees less in some pictures
makes its usual mistakes there, only more of them: that is no cue.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Audit, Evidence, Feature
from cuescope_sdk.statistics import benjamini_hochberg, gap_p_values
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import LabelPart, label_parts
from cuescope_trove.selection import ScoredPairs

CHECK = "one mistake"


@dataclass(frozen=True)
class Mistakes:
    """A finding's commonest mistake among the label's wrong answers.

    `share_with` and `share_without` of these, where the cluster is on screen and where it is not;
    `other_with` and `other_without`: share of the label's sequences with other mistakes. `p_value`
    (one-sided) says that the first share is no larger; `least` is the smallest it could have been.
    """

    pair: int
    n: int
    share_with: float
    share_without: float
    other_with: float
    other_without: float
    p_value: float
    least: float

    def may_see_less(self, q_value: float, level: float) -> bool:
        """Whether the model may only see less: other mistakes are commoner too, as this one is."""
        # with few mistakes to compare nothing can be told
        return (
            self.other_with > self.other_without
            and q_value > level
            and self.least <= level
        )

    def said(self, q_value: float, level: float) -> str:
        """Why it is not thought that the model only sees less."""
        if q_value <= level:
            return "one wrong answer is commoner with the cue, above others"
        if self.least > level:
            return "the label has too few other wrong answers to tell"
        return "other wrong answers are no commoner with the cue"


def check_mistakes(
    audit: Audit,
    options: TRoVeOptions,
    table: ScoredPairs,
    features: Sequence[Feature],
) -> Iterator[Evidence]:
    """Which findings lead to one mistake; nothing where nothing was found."""
    rng = audit.rng("mistakes")
    found = [
        _mistakes(table, part, column, rng)
        for part in label_parts(table.observations, table.pairs)
        for column in np.flatnonzero(table.finding[part.pairs]).tolist()
    ]
    q_values = benjamini_hochberg([mistakes.p_value for mistakes in found])
    held = Counter[str]()
    for mistakes, q_value in zip(found, q_values, strict=True):
        if not mistakes.may_see_less(q_value, options.fdr):
            held[mistakes.said(q_value, options.fdr)] += 1
            continue
        label = audit.labels[table.pairs.label[mistakes.pair]]
        answer = audit.labels[table.mistake.prediction[mistakes.pair]]
        yield Evidence(
            check=CHECK,
            verdict="inconclusive",
            detail=f"Of the wrong answers to '{label}', {mistakes.share_with:.0%} are '{answer}' "
            f"with it and {mistakes.share_without:.0%} without it, which is not clearly more "
            f"(q = {q_value:.3f}). Other wrong answers are commoner with it too "
            f"({mistakes.other_with:.0%} instead of {mistakes.other_without:.0%}).",
            value=q_value,
            threshold=options.fdr,
            n=mistakes.n,
            feature=features[table.pairs.cluster[mistakes.pair]].key,
            label=label,
            doubt="But its other mistakes are commoner with it too: the model may only see less in "
            f"these pictures, and lean on nothing. See the check '{CHECK}'.",
        )
    if held:
        parts = [
            f"{count} finding{'s' if count > 1 else ''}: {why}"
            for why, count in held.most_common()
        ]
        yield Evidence(
            check=CHECK,
            verdict="supported",
            detail=f"{'; '.join(parts)}.",
            value=float(held.total()),
        )


def _mistakes(
    table: ScoredPairs,
    part: LabelPart,
    column: int,
    rng: Generator,
) -> Mistakes:
    pair = int(part.pairs[column])
    shows = part.present[:, column]
    wrong = part.values == 0
    answered = table.observations.prediction[part.samples]
    made = wrong & (answered == table.mistake.prediction[pair])
    other = wrong & ~made
    groups = part.groups.take(wrong)
    shown = shows[wrong][:, None]
    # the commonest was chosen among all wrong answers
    answers = len(np.unique(answered[wrong]))

    def p_value_of(is_it: np.ndarray) -> float:
        [p_value] = gap_p_values(1.0 - is_it, shown, groups, rng)
        return min(answers * float(p_value), 1.0)

    return Mistakes(
        pair=pair,
        n=int(wrong.sum()),
        share_with=float(made[wrong & shows].mean()),
        share_without=_mean(made[wrong & ~shows]),
        other_with=float(other[shows].mean()),
        other_without=float(other[~shows].mean()),
        p_value=p_value_of(made[wrong]),
        least=p_value_of(shows[wrong]),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0
