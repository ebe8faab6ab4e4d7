"""What a condition costs: paired losses of accuracy, with intervals and tests over whole videos.

All rates and losses are percent and percentage points.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy.random import Generator

from cuescope_quag.measures import Measure
from cuescope_quag.trials import Codes, RightPerSample
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.statistics import (
    ChangePlan,
    Groups,
    Permutation,
    WeightedMeans,
    change_p_value,
    exceeds_rate_p_value,
)


@dataclass(frozen=True)
class Rate:
    """An accuracy of `n` samples with its interval.

    `p_chance` is the p-value of "no better than guessing", `p_best` what it were if all was right.
    """

    value: float
    chance: float
    p_chance: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p_best: float = 0.0


@dataclass(frozen=True)
class Loss:
    """Points lost under a condition, with their interval.

    `p_value` is that of "nothing is lost". `p_costs` and `p_spared` are of the two one-sided nulls
    about the margin: that no more than the margin is lost, and that no less is. `worst` is the type
    of question in which most is lost, where that surely is more than the margin, with its loss:
    what one type loses another may win.
    """

    rate: float
    lost: float
    p_value: float
    p_costs: float
    p_spared: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    worst: "tuple[str, Loss] | None" = None

    def with_worst(self, types: "Mapping[str, Loss]", level: float) -> "Loss":
        """With its `worst` type; p-values are corrected for the number of types."""
        # Bonferroni: any one type alone can turn the verdict, so no share of them may be false.
        costs = []
        for name, loss in types.items():
            p_value = min(1.0, loss.p_value * len(types))
            p_costs = min(1.0, loss.p_costs * len(types))
            if p_costs <= level:
                costs.append((name, replace(loss, p_value=p_value, p_costs=p_costs)))
        worst = max(costs, key=lambda named: named[1].lost, default=None)
        return replace(self, worst=worst)


Losses = Mapping[str, Loss]  # by condition


@dataclass(frozen=True)
class Part:
    """The questions of those types in which the video surely matters: others say nothing of it.

    `n` of `total` questions; rate and losses are theirs.
    """

    types: tuple[str, ...]
    n: int
    total: int
    rate: Rate
    losses: Losses


@dataclass(frozen=True)
class Rule:
    """From when a loss counts, and how surely: the options of the method (docs/quag.md)."""

    # a fixed number of points would count any small loss of a strong model, and none of a weak one
    share: float = 0.1
    # below 2 points the paper itself sees no drop
    drop: float = 2.0
    # default of the sdk's intervals
    confidence: float = 0.95

    @property
    def level(self) -> float:
        """Of each one-sided test of the verdict: what lies beyond one end of an interval."""
        return (1 - self.confidence) / 2

    def margin(self, rate: Rate) -> float:
        """The points that count for the verdict: a share of what is above chance, or `drop`."""
        # near chance a share alone would let the smallest loss count
        return max(self.drop, self.share * (rate.value - rate.chance))


def compare(
    before: RightPerSample,
    after: Bool[np.ndarray, "sample condition"],
    measure: Measure,
    videos: Groups,
    rng: Generator,
    rule: Rule,
    given: Codes | None = None,
) -> tuple[Rate, list[Loss]]:
    """The plain rate, and the loss under each condition, paired by sample.

    All intervals and tests are of whole videos. Chance is tested by `guessing_p_values` too, with
    the answers `given` by number.
    """
    value, *values = rates(np.column_stack([before, after]), measure.stratum).tolist()
    means = WeightedMeans.over(measure.stratum, videos, unit=100.0)
    rate = _rate(before, measure, means, rng, rule, given, value)
    losses = []
    right = before.astype(float)
    for column, changed in enumerate(values):
        # Paired: what a sample's answers before and after share cancels out.
        change = right - after[:, column]
        # Rounded, so that rounding alone never lifts a loss above the drop of a finding.
        lost = round(value - changed, 9)
        # losses and gains have limits each: where nothing was lost, some loss is still possible
        low, high = means.change_interval(change, rule.confidence)
        p_value = change_p_value(change, videos, rng, strata=measure.stratum)
        margin = means.margin_test(
            right,
            change,
            value,
            chance=measure.chance,
            share=rule.share,
            least=rule.drop,
        )
        losses.append(
            Loss(
                rate=changed,
                lost=lost,
                p_value=p_value,
                # an interval alone is not enough: the exact test has to see a loss too
                p_costs=max(p_value, margin.above_p_value()),
                p_spared=margin.below_p_value(),
                low=low,
                high=high,
                n=len(before),
            )
        )
    return rate, losses


def smallest_loss(questions: float, level: float) -> float | None:
    """Points that a condition must cost, winning nothing, to be significant in 8 of 10 audits."""
    share = ChangePlan(level).smallest_loss(questions)
    return None if share is None else 100 * share


def rates(
    right: Bool[np.ndarray, "sample column"], stratum: Codes
) -> Float[np.ndarray, " column"]:
    """Mean over strata of the share that is right, in percent."""
    means = [right[stratum == value].mean(axis=0) for value in np.unique(stratum)]
    return np.asarray(100 * np.mean(means, axis=0))


def _rate(
    before: RightPerSample,
    measure: Measure,
    means: WeightedMeans,
    rng: Generator,
    rule: Rule,
    given: Codes | None,
    value: float,
) -> Rate:
    """The plain rate, its interval, and the tests against chance."""
    guessing, best = guessing_p_values(before, given, measure, rng)
    # Above chance in the measure itself, too: questions about a video stand or fall together, and
    # answers may know something of what is right and still be right less often than a guess.
    right = before.astype(float)
    guessing = max(guessing, means.above_p_value(right, measure.chance))
    # were all right, each video would still be one lucky guess
    best = max(best, (measure.chance / 100) ** means.groups.count)
    low, high = means.mean_interval(right, rule.confidence)
    return Rate(value, measure.chance, guessing, low, high, len(before), best)


# ------------------------------------------------------------------------------------- chance


def guessing_p_values(
    before: RightPerSample,
    given: Codes | None,
    measure: Measure,
    rng: Generator,
) -> tuple[float, float]:
    """One-sided p-values of "the answers know nothing of what is right": ours, and the best.

    Where all questions share their answers, of the measure itself among all orders of the right
    ones, so that it holds however often each answer is given; else the binomial test against
    the measure's chance. The second is what the test gives where all is right: above the level
    there are too few samples to tell.
    """
    count = len(before)
    if measure.label is None or given is None:
        chance = measure.chance / 100
        return exceeds_rate_p_value(int(before.sum()), count, chance), chance**count
    # right answers are shuffled: a model that always says yes stays at chance
    return Permutation.agreement_p_values(given, measure.label, measure.stratum, rng)


def multiplications(shape: FusionShape, queries: int, keys: int) -> int:
    """Multiplications of one layer: projections, scores, mixing and MLP."""
    inner = shape.heads * shape.head_dim
    output = queries * shape.dim * inner + queries * shape.mlp_multiplications
    return _attention_multiplications(shape, queries, keys) + output


def _attention_multiplications(shape: FusionShape, queries: int, keys: int) -> int:
    """Of its attention alone: queries, keys and values projected, scores, and mixing."""
    inner = shape.heads * shape.head_dim
    kv_inner = shape.kv_heads * shape.head_dim
    projected = queries * shape.dim * inner + 2 * keys * shape.dim * kv_inner
    return projected + 2 * queries * keys * inner


def multiplications_saved(
    shape: FusionShape,
    video: int,
    text: int,
    other: int,
    modalities: Iterable[str],
    *,
    attention_alone: bool = False,
) -> float:
    """Share of a fusion layer's multiplications that QUAG-attention saves (section 2.4).

    Each averaged modality has one key and value in place of one for each of its tokens. Of all that
    a layer does, or of `attention_alone`: no output projection and no MLP, which no edit shortens.
    """
    counts = {"video": video, "text": text}
    tokens = video + text + other
    keys = tokens - sum(max(counts[name] - 1, 0) for name in set(modalities))
    # the paper does not say what it counts: attention alone comes nearest to its figures
    count = _attention_multiplications if attention_alone else multiplications
    return 1 - count(shape, tokens, keys) / count(shape, tokens, tokens)
