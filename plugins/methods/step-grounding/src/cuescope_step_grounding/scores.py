"""SGR, HR, TCS and VRS: the paper's equations as pure functions, and what chance alone would give.

Step-Level Visual Grounding Faithfulness (Rahman et al.), section 3.4. Rates are shares from 0 to 1;
what cannot be told is None.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk import Sample
from cuescope_sdk.statistics import Bootstrap, Groups
from cuescope_step_grounding.options import Perturbation, Policy, StepGroundingOptions

Stage = Literal["early", "middle", "late"]
STAGES: tuple[Stage, ...] = ("early", "middle", "late")
CLIP = 10.0  # largest VRS that is reported: eq. 4; 5 to 20 keep the ranks (section 3.4)
RELEVANT: tuple[Perturbation, ...] = ("position", "temporal", "visibility")


@dataclass(frozen=True)
class StepCounts:
    """How many claims of a step are supported, unsupported, and unverifiable."""

    supported: int = 0
    unsupported: int = 0
    unverifiable: int = 0

    @property
    def decided(self) -> int:
        """Claims of which something can be said."""
        return self.supported + self.unsupported

    @property
    def claims(self) -> int:
        return self.decided + self.unverifiable


def sum_counts(steps: Iterable[StepCounts]) -> StepCounts:
    """All claims of some steps."""
    total: Counter[str] = Counter()
    for step in steps:
        total.update(vars(step))
    return StepCounts(**total)


def grounding(step: StepCounts, policy: Policy = "exclude") -> float | None:
    """g(r) of eq. 1: the share of the step's claims that are verified.

    None for a step that claims nothing that could be seen, whatever the policy, and under
    `exclude` for one of which nothing can be said.
    """
    if policy == "exclude":
        return step.supported / step.decided if step.decided else None
    # An unverifiable claim is half a supported one under `neutral`, and none under `penalise`.
    half = 0.5 * step.unverifiable if policy == "neutral" else 0.0
    return (step.supported + half) / step.claims if step.claims else None


def hallucinates(step: StepCounts, policy: Policy = "exclude") -> bool | None:
    """The indicator of eq. 3: whether any claim is unsupported; None where `grounding` is."""
    if grounding(step, policy) is None:
        return None
    return step.unsupported > 0 or (policy == "penalise" and step.unverifiable > 0)


def step_grounding_rate(
    steps: Sequence[StepCounts], policy: Policy = "exclude"
) -> float | None:
    """SGR (eq. 1): mean grounding over the steps that have one."""
    return mean(grounding(step, policy) for step in steps)


def hallucination_rate(
    steps: Sequence[StepCounts],
    policy: Policy = "exclude",
    *,
    over_all: bool = False,
) -> float | None:
    """HR (eq. 3) over the same steps as SGR.

    Departs: the equation divides by all steps (`over_all`), of which those that claim nothing
    that can be seen would make a model better.
    """
    flags = [hallucinates(step, policy) for step in steps]
    # of a trace in which nothing could be checked nothing is known, whatever HR is over
    if over_all and {True, False} & set(flags):
        return mean(map(bool, flags))
    return mean(flags)


def transition_justification(
    similarity: float,
    before: StepCounts,
    after: StepCounts,
    tau: float,
    policy: Policy = "exclude",
) -> float | None:
    """j of eq. 2: whether a belief is rightly kept, or rightly revised.

    `before` and `after` are the claims of b_i and b_i+1, both judged at the time of step i+1. A
    belief holds where all of its claims do, and is contradicted by any that does not. Similar
    beliefs must still hold; a changed one must be contradicted, and its successor hold. Where
    that rests on what cannot be verified, it is None, 0 or 0.5 by policy.
    """
    if similarity > tau:
        return _all([_holds(before)], policy)
    holds = _holds(before)
    # Unknown stays unknown under "not": a belief that cannot be verified is not contradicted.
    return _all([None if holds is None else not holds, _holds(after)], policy)


def state_justification(belief: StepCounts, policy: Policy = "exclude") -> float | None:
    """j of eq. 2 where b_i+1 is a state: whether the evidence at the time of step i+1 supports it.

    What the evidence contradicts has left the state, unless the step says it; so what a step keeps,
    revises or adds is justified where all of it holds, and adding to a belief revises nothing.
    """
    return _all([_holds(belief)], policy)


def temporal_consistency(
    similarities: Sequence[float], justifications: Sequence[float | None]
) -> float | None:
    """TCS (eq. 2): mean similarity of successive beliefs, where the transition is justified."""
    justified = np.array(justifications, float)
    values = np.array(similarities) * justified
    return mean(values[~np.isnan(justified)].tolist())


def visual_reliance(
    relevant: float,
    relevant_magnitude: float,
    irrelevant: float,
    irrelevant_magnitude: float,
    *,
    epsilon: float = 0.01,
) -> float | None:
    """VRS (eq. 4) from mean drops of SGR and the magnitudes of what was changed.

    Deviates: an irrelevant change after which SGR rises counts as one that costs nothing, because
    the ratio has no meaning below zero. None where nothing was changed.
    """
    if relevant_magnitude <= 0 or irrelevant_magnitude <= 0:
        return None
    control = max(irrelevant / irrelevant_magnitude, 0.0) + epsilon
    # where SGR rises after relevant changes there is no reliance: 0
    return float(np.clip(relevant / relevant_magnitude / control, 0.0, CLIP))


def stages(steps: int) -> list[Stage]:
    """The stage of each of so many steps: first quarter, middle half, last quarter (section 5.4).

    A step lies where its middle does, so that six steps have one early and one late.

    >>> stages(4)
    ['early', 'middle', 'middle', 'late']
    """
    middles = (np.arange(steps) + 0.5) / steps
    return list(
        map(
            STAGES.__getitem__,
            (middles >= 0.25).astype(int) + (middles > 0.75),
        )
    )


def rates_of_stage(
    steps: Sequence[StepCounts],
    stage: Stage,
    policy: Policy = "exclude",
    *,
    over_all: bool = False,
) -> tuple[float | None, float | None]:
    """SGR and HR of the steps of one stage."""
    of_stage = map(stage.__eq__, stages(len(steps)))
    own = list(compress(steps, of_stage))
    false = hallucination_rate(own, policy, over_all=over_all)
    return step_grounding_rate(own, policy), false


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known; None where none is."""
    numbers = [value for value in values if value is not None]
    return float(np.mean(numbers)) if numbers else None


def _all(needed: Sequence[bool | None], policy: Policy) -> float | None:
    """1 where all is so, 0 where any is not; else by policy."""
    # One refutation settles it whatever else is unknown, so False is looked for first.
    if False in needed:
        return 0.0
    if None in needed:
        return {"exclude": None, "penalise": 0.0, "neutral": 0.5}[policy]
    return 1.0


def _holds(belief: StepCounts) -> bool | None:
    if belief.unsupported:
        return False
    return True if belief.supported else None


# --------------------------------------------------------------------------------- visual reliance


@dataclass(frozen=True)
class ChangeCost:
    """One changed video: how much SGR was lost, the right answers before and after, and |P|.

    A paraphrase changes no pixel.
    """

    sample: Sample
    kind: Perturbation
    lost: float | None
    right: tuple[bool | None, bool | None]
    magnitude: float


@dataclass(frozen=True)
class Reliance:
    """VRS, with the drop of SGR under relevant changes by sample.

    `interval` is None where irrelevant changes cost nothing, so that all that is known of the score
    is that it is the clip's or more.
    """

    drops: Float[np.ndarray, " sample"]
    score: float | None
    interval: tuple[float, float] | None
    groups: Groups


def reliance(
    costs: Sequence[ChangeCost],
    rng: Generator,
    options: StepGroundingOptions,
) -> Reliance:
    """VRS over the samples that were changed both ways, with its interval over whole groups.

    A sample's drop is the mean over kinds of change, of each the mean over its instances.
    """
    rows = []
    samples = []
    for of_sample in costs_by_sample(costs):
        row = []
        for figure in ("lost", "magnitude"):
            row.append(mean_over_kinds(of_sample, RELEVANT, figure))
            row.append(mean_over_kinds(of_sample, ("irrelevant",), figure))
        # a sample without its control would move one side of the ratio alone
        if None not in row:
            rows.append(row)
            samples.append(of_sample[0].sample)
    # four columns of no sample too, so that they can be taken apart
    complete = np.array(rows, float).reshape(-1, 4)
    groups = Groups.of(samples)

    # Drops and magnitudes are averaged over samples before the ratio is taken: a ratio of each
    # sample would be wild where its control costs next to nothing.
    def score(samples: np.ndarray) -> float | None:
        lost, control, size, control_size = complete[samples].mean(axis=0).tolist()
        return visual_reliance(
            lost,
            size,
            control,
            control_size,
            epsilon=options.epsilon,
        )

    overall = score(np.arange(len(rows))) if rows else None
    ends = Bootstrap.bca_interval(score, groups, rng) if rows else None
    # the clip hides how large it is, so an interval would say more than is known
    if overall == CLIP and complete[:, 1].mean() <= 0:
        ends = None
    return Reliance(complete[:, 0], overall, ends, groups)


def costs_by_sample(costs: Sequence[ChangeCost]) -> list[list[ChangeCost]]:
    """The costs that are known, sample by sample."""
    by_sample = defaultdict(list)
    for cost in costs:
        if cost.lost is not None:
            by_sample[cost.sample.key].append(cost)
    return list(by_sample.values())


def mean_over_kinds(
    costs: Sequence[ChangeCost],
    kinds: Sequence[str],
    figure: str,
) -> float | None:
    """Over kinds, of each over its instances."""
    return mean(
        mean([getattr(cost, figure) for cost in costs if cost.kind == kind])
        for kind in kinds
    )


class Figure(NamedTuple):
    """A value with its interval; a value that is clipped has none."""

    value: float
    low: float | None = None
    high: float | None = None
