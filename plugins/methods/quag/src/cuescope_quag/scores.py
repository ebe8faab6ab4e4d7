"""What a condition costs: paired losses of accuracy, their tests, and the verdict they allow.

All rates and losses are percent and percentage points.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_quag.trials import (
    CROSSMODAL,
    WITHOUT_QUESTION,
    WITHOUT_VIDEO,
    normalise,
    number_answers,
    shared_choices,
)
from cuescope_sdk import Sample, UserError
from cuescope_sdk.maths import (
    bootstrap_cluster_means,
    exceeds_rate_p_value,
    mcnemar_p_value,
    monte_carlo_p_value,
    overlap_p_value,
    percentile_interval,
    permutation_p_value,
)

Codes = Int[np.ndarray, " sample"]


# ------------------------------------------------------------------------------ the measure


@dataclass(frozen=True, eq=False)
class Measure:
    """Accuracy as a mean over strata of the share that is right (percent).

    One stratum gives plain accuracy; one stratum a label gives balanced accuracy. `chance` is
    what an answer without looking gives, in percent. `label` are the right answers by number
    where all questions share the answers to choose from.
    """

    name: Literal["accuracy", "balanced accuracy"]
    stratum: Codes
    chance: float
    label: Codes | None = None

    def subset(self, index: Int[np.ndarray, " subset"]) -> "Measure":
        """The same of these samples."""
        label = None if self.label is None else self.label[index]
        return Measure(self.name, self.stratum[index], self.chance, label)


def plain_accuracy(samples: Sequence[Sample]) -> Measure:
    """Accuracy; an open question is never guessed.

    Chance is the share of the commonest right answer where all questions share their answers,
    for who always gives that one has it; else the mean over questions of one in its choices.
    """
    stratum, choices = np.zeros(len(samples), dtype=int), shared_choices(samples)
    if choices:
        label = number_answers([sample.label for sample in samples], choices)
        chance = 100 * float(np.bincount(label).max() / len(label))
        return Measure("accuracy", stratum, chance, label)
    guesses = [1 / len(sample.choices) if sample.choices else 0.0 for sample in samples]
    return Measure("accuracy", stratum, 100 * float(np.mean(guesses)))


def balanced_accuracy(samples: Sequence[Sample]) -> Measure | None:
    """Balanced accuracy, None unless all questions have the same answers to choose from."""
    choices = shared_choices(samples)
    if not choices or len({sample.label for sample in samples}) < 2:
        return None
    label = number_answers([sample.label for sample in samples], choices)
    # A choice that is never right has no recall, so strata are the labels that occur.
    stratum = np.unique(label, return_inverse=True)[1]
    return Measure("balanced accuracy", stratum, 100 / (1 + int(stratum.max())), label)


def choose_measure(
    samples: Sequence[Sample], option: Literal["auto", "accuracy", "balanced"]
) -> Measure:
    """The measure of the option; "auto" is balanced for two shared answers alone.

    Raises UserError where the answers are not those of a balanced accuracy.
    """
    balanced = balanced_accuracy(samples)
    if balanced is None and option == "balanced":
        raise UserError(
            "quag: option 'measure'",
            expected="'accuracy' or 'auto', because balanced accuracy needs questions that share "
            "their choices and have at least two different right answers",
            got=f"'{option}'",
        )
    # Yes and no are seldom even, and to give the commoner of them to all is no skill.
    two = len(set(samples[0].choices)) == 2
    if balanced is not None and (option == "balanced" or (option == "auto" and two)):
        return balanced
    return plain_accuracy(samples)


def only_answer(samples: Sequence[Sample]) -> str | None:
    """The right answer, where it is the same for all questions, of which there are several."""
    labels = {normalise(str(sample.label)) for sample in samples}
    return str(samples[0].label) if len(labels) == 1 and len(samples) > 1 else None


def question_types(samples: Sequence[Sample], most: int = 12) -> dict[str, Codes]:
    """Indices of each type of question, the commonest `most` by name; {} where all are of one."""
    kinds = [str(sample.annotations.get("question_type", "")) for sample in samples]
    ranked = sorted(set(kinds) - {""}, key=lambda kind: (-kinds.count(kind), kind))
    if len(ranked) < 2:
        return {}
    return {
        kind: np.flatnonzero([other == kind for other in kinds]) for kind in sorted(ranked[:most])
    }


# ------------------------------------------------------------------------ rates and losses


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

    `p_value` is McNemar's. `p_costs` and `p_spared` are of the two one-sided nulls about the
    margin: that no more than the margin is lost, and that no less is. `worst` is the type of
    question in which most is lost, where that surely is more than the margin, with its loss:
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
        """With its `worst` type; the p-values of all types are corrected for their number."""
        # Bonferroni: any one type alone can turn the verdict, so no share of them may be false.
        corrected = {
            name: replace(loss, p_costs=min(1.0, loss.p_costs * len(types)))
            for name, loss in types.items()
        }
        costs = [(name, loss) for name, loss in corrected.items() if loss.p_costs <= level]
        return replace(self, worst=max(costs, key=lambda pair: pair[1].lost, default=None))


@dataclass(frozen=True)
class Rule:
    """From when a loss counts, and how surely: the options of the method (docs/quag.md)."""

    share: float = 0.1
    drop: float = 2.0
    confidence: float = 0.95
    resamples: int = 2000

    @property
    def level(self) -> float:
        """Of each one-sided test of the verdict: what lies beyond one end of an interval."""
        return (1 - self.confidence) / 2

    def margin(self, rate: Rate) -> float:
        """The points that count for the verdict: a share of what is above chance, or `drop`."""
        return max(self.drop, self.share * (rate.value - rate.chance))


def compare(
    before: Bool[np.ndarray, " sample"],
    after: Bool[np.ndarray, "sample condition"],
    measure: Measure,
    cluster: Codes,
    rng: np.random.Generator,
    rule: Rule,
    given: Codes | None = None,
) -> tuple[Rate, list[Loss]]:
    """The plain rate, and the loss under each condition, paired by sample.

    The bootstrap draws whole videos. It cannot show what was never seen, so beside it stand exact
    tests: McNemar's for a loss, `guessing_p_values` for chance, with the answers `given` by
    number, and where nothing is lost the probability that none of so many videos shows a loss at
    the margin.
    """
    right, chance = np.column_stack([before, after]), measure.chance
    value, *values = rates(right, measure.stratum).tolist()
    # Percent before the mean, as `rates` has it after: sums of hundreds are exact too.
    draws = bootstrap_cluster_means(
        100.0 * right, cluster, measure.stratum, rng, resamples=rule.resamples
    )
    low, high = percentile_interval(draws[:, 0], rule.confidence, value)
    guessing, best = guessing_p_values(before, given, measure, rng, rule.resamples)
    p_chance = max(guessing, _share_of_draws(draws[:, 0] <= chance))
    rate = Rate(value, chance, p_chance, low, high, len(before), best)
    margin = rule.margin(rate)
    # If a video lost an answer with probability `margin`, so many videos would all keep theirs
    # with this probability. Without it two questions that nothing changes would prove "spared".
    unseen = (1 - min(margin, 100) / 100) ** len(np.unique(cluster))
    any_lost = (before[:, None] & ~after).any(axis=0)
    losses = []
    for column, changed in enumerate(values):
        # Paired: the same draw of videos before and after, so what they share cancels out.
        # Rounded, so that rounding alone never lifts a loss above the drop of a finding.
        lost_draws, lost = draws[:, 0] - draws[:, 1 + column], round(value - changed, 9)
        low, high = percentile_interval(lost_draws, rule.confidence, lost)
        p_value = stratified_mcnemar(before, after[:, column], measure.stratum)
        costs = max(p_value, _share_of_draws(lost_draws <= margin))
        spared = max(0.0 if any_lost[column] else unseen, _share_of_draws(lost_draws >= margin))
        losses.append(Loss(changed, lost, p_value, costs, spared, low, high, len(before)))
    return rate, losses


def rates(right: Bool[np.ndarray, "sample column"], stratum: Codes) -> Float[np.ndarray, " column"]:
    """Mean over strata of the share that is right, in percent."""
    means = [right[stratum == value].mean(axis=0) for value in np.unique(stratum)]
    return np.asarray(100 * np.mean(means, axis=0))


def _share_of_draws(against: Bool[np.ndarray, " resample"]) -> float:
    return monte_carlo_p_value(int(against.sum()), len(against))


# ------------------------------------------------------------------------------ exact tests


def stratified_mcnemar(
    before: Bool[np.ndarray, " sample"], after: Bool[np.ndarray, " sample"], stratum: Codes
) -> float:
    """McNemar's p-value of one stratum; of several the smallest, times their number (Bonferroni).

    In balanced accuracy one answer can lose what another wins, which one test of all would not see.
    """
    parts = [stratum == value for value in np.unique(stratum)]
    return min(1.0, len(parts) * min(mcnemar_p_value(before[part], after[part]) for part in parts))


def guessing_p_values(
    before: Bool[np.ndarray, " sample"],
    given: Codes | None,
    measure: Measure,
    rng: np.random.Generator,
    resamples: int,
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
    label = measure.label
    if max(label.max(), given.max()) <= 1:
        # Fisher's test: with the overlap rises every mean of the two recalls, so it is exact for
        # accuracy and for balanced accuracy.
        return overlap_p_value(label == 1, given == 1), overlap_p_value(label == 1, label == 1)
    # Each right answer weighs as much as in the measure, less the constant number of strata.
    weight = 1 / np.bincount(measure.stratum)[measure.stratum]
    ours, best = (_weigh(answers, label, weight) for answers in (given, label))
    orders = [rng.permutation(count) for _ in range(resamples)]  # the same for ours and the best
    return permutation_p_value(ours, orders), permutation_p_value(best, orders)


def _weigh(
    given: Codes, label: Codes, weight: Float[np.ndarray, " sample"]
) -> Callable[[Codes], float]:
    """The measure, but for a constant, after the right answers have changed places."""
    return lambda order: float(weight[order][given == label[order]].sum())


# ------------------------------------------------------------------------------ the verdict

State = Literal["costs", "spared", "open"]
Kind = Literal[
    "fuses",
    "text alone",
    "video alone",
    "needs neither",
    "never aligns",
    "does not fuse",
    "open",
    "not asked",
    "at chance",
    "too few samples",
    "one right answer",
    "no right answer",
]
UNMEASURED: frozenset[Kind] = frozenset(
    {"at chance", "too few samples", "one right answer", "no right answer"}
)
# Without the video, without the question, crossmodal attention averaged; None: was not asked.
_RULES: dict[tuple[State | None, State | None, State], Kind] = {
    ("costs", "costs", "costs"): "fuses",
    ("costs", "costs", "spared"): "never aligns",
    (None, "costs", "costs"): "fuses",
    (None, "costs", "spared"): "does not fuse",
    (None, "costs", "open"): "open",
}
# The conditions whose tests a verdict rests on; the loss of the first stands for it.
_NEEDS: dict[Kind, tuple[str, ...]] = {
    "fuses": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
    "never aligns": (CROSSMODAL, WITHOUT_VIDEO, WITHOUT_QUESTION),
    "does not fuse": (CROSSMODAL, WITHOUT_QUESTION),
    "text alone": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "needs neither": (WITHOUT_VIDEO, WITHOUT_QUESTION),
    "video alone": (WITHOUT_QUESTION, WITHOUT_VIDEO),
}


@dataclass(frozen=True)
class Verdict:
    """What the figures say.

    `decided_by` is the condition whose loss stands for it, `p_value` the largest of the p-values
    that it needs (an intersection-union test: Berger, 1982); None where nothing is decided.
    """

    kind: Kind
    decided_by: str | None = None
    p_value: float | None = None


def verdict(rate: Rate, losses: Mapping[str, Loss], rule: Rule) -> Verdict:
    """The verdict of one audit, or of published figures."""
    if rate.p_chance > rule.level:
        # Even all answers right would not be significant: the samples are too few, which says
        # nothing about the model.
        return Verdict("too few samples" if rate.p_best > rule.level else "at chance")
    if CROSSMODAL not in losses:
        return Verdict("not asked")
    asked = (WITHOUT_VIDEO, WITHOUT_QUESTION, CROSSMODAL)
    states = [state(losses.get(key), rule.level) for key in asked]
    kind = verdict_kind(states[0], states[1], states[2] or "open")
    used = [losses[key] for key in _NEEDS.get(kind, ()) if key in losses]
    if not used:
        return Verdict(kind)
    p_values = [_p_of_state(loss, rule.level) for loss in used]
    return Verdict(kind, _NEEDS[kind][0], max([rate.p_chance, *p_values]))


def state(loss: Loss | None, level: float) -> State | None:
    """Whether a condition surely costs more than the margin, surely less, or neither.

    It costs where it costs in one type of question.
    """
    if loss is None:
        return None
    if loss.p_costs <= level or loss.worst is not None:
        return "costs"
    return "spared" if loss.p_spared <= level else "open"


def verdict_kind(
    without_video: State | None, without_question: State | None, crossmodal: State
) -> Kind:
    """The rule (docs/quag.md argues it).

    A modality that is not missed when it is left out decides, whatever averaging does: an edit
    can disturb what it does not inform. Where both are missed, crossmodal attention decides.
    """
    if without_question is None:
        return "not asked"
    if without_video == "spared":
        neither: dict[State, Kind] = {"costs": "text alone", "spared": "needs neither"}
        return neither.get(without_question, "open")
    if without_question == "spared":
        return "video alone" if without_video in ("costs", None) else "open"
    return _RULES.get((without_video, without_question, crossmodal), "open")


def _p_of_state(loss: Loss, level: float) -> float:
    """Of the test that its state rests on."""
    if loss.p_costs > level and loss.worst is not None:
        return loss.worst[1].p_costs
    return min(loss.p_costs, loss.p_spared)
