"""SGR, TCS, HR and VRS: the paper's equations as pure functions.

Step-Level Visual Grounding Faithfulness (Rahman et al.), section 3.4. Rates are shares from 0 to 1;
what cannot be told is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from cuescope_step_grounding.naming import Policy

Stage = Literal["early", "middle", "late"]
STAGES: tuple[Stage, ...] = ("early", "middle", "late")


@dataclass(frozen=True)
class Step:
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
        """All of them."""
        return self.decided + self.unverifiable


def grounding(step: Step, policy: Policy = "exclude") -> float | None:
    """g(r) of eq. 1: the share of the step's claims that are verified.

    None for a step that claims nothing that could be seen, whatever the policy, and under
    `exclude` for one of which nothing can be said.
    """
    if policy == "exclude":
        return step.supported / step.decided if step.decided else None
    half = 0.5 * step.unverifiable if policy == "neutral" else 0.0
    return (step.supported + half) / step.claims if step.claims else None


def hallucinates(step: Step, policy: Policy = "exclude") -> bool | None:
    """The indicator of eq. 3: whether any claim is unsupported; None where `grounding` is."""
    if grounding(step, policy) is None:
        return None
    return step.unsupported > 0 or (policy == "penalise" and step.unverifiable > 0)


def step_grounding_rate(steps: Sequence[Step], policy: Policy = "exclude") -> float | None:
    """SGR (eq. 1): mean grounding over the steps that have one."""
    return mean([grounding(step, policy) for step in steps])


def hallucination_rate(steps: Sequence[Step], policy: Policy = "exclude") -> float | None:
    """HR (eq. 3) over the same steps as SGR."""
    return mean([hallucinates(step, policy) for step in steps])


def justified(
    similarity: float, before: Step, after: Step, tau: float, policy: Policy = "exclude"
) -> float | None:
    """j of eq. 2: whether a belief is rightly kept, or rightly revised.

    `before` and `after` are the claims of b_i and b_i+1, both judged at the time of step i+1. A
    belief holds where all of its claims do, and is contradicted by any that does not. Similar
    beliefs must still hold; a changed one must be contradicted, and its successor hold. Where
    that rests on what cannot be verified, it is None, 0 or 0.5 by policy.
    """
    kept = similarity > tau
    needed = [_holds(before)] if kept else [_not(_holds(before)), _holds(after)]
    return _all(needed, policy)


def upheld(belief: Step, policy: Policy = "exclude") -> float | None:
    """j of eq. 2 where b_i+1 is a state: whether the evidence at the time of step i+1 supports it.

    What the evidence contradicts has left the state, unless the step says it; so what a step keeps,
    revises or adds is justified where all of it holds, and adding to a belief revises nothing.
    """
    return _all([_holds(belief)], policy)


def temporal_consistency(
    similarities: Sequence[float], justifications: Sequence[float | None]
) -> float | None:
    """TCS (eq. 2): mean similarity of successive beliefs, where the transition is justified."""
    pairs = zip(similarities, justifications, strict=True)
    return mean([None if j is None else similarity * j for similarity, j in pairs])


def visual_reliance(
    relevant: float,
    relevant_magnitude: float,
    irrelevant: float,
    irrelevant_magnitude: float,
    *,
    epsilon: float = 0.01,
    clip: float = 10.0,
) -> float | None:
    """VRS (eq. 4) from mean drops of SGR and the magnitudes of what was changed.

    Deviates: an irrelevant change after which SGR rises counts as one that costs nothing, because
    the ratio has no meaning below zero. None where nothing was changed.
    """
    if relevant_magnitude <= 0 or irrelevant_magnitude <= 0:
        return None
    control = max(irrelevant / irrelevant_magnitude, 0.0) + epsilon
    return float(np.clip(relevant / relevant_magnitude / control, 0.0, clip))


def stages(steps: int) -> list[Stage]:
    """The stage of each of so many steps: first quarter, middle half, last quarter (section 5.4).

    A step lies where its middle does, so that six steps have one early and one late.

    >>> stages(4)
    ['early', 'middle', 'middle', 'late']
    """
    places = [(index + 0.5) / steps for index in range(steps)]
    return ["early" if p < 0.25 else "late" if p > 0.75 else "middle" for p in places]


def staged(
    steps: Sequence[Step], stage: Stage, policy: Policy = "exclude"
) -> tuple[float | None, float | None]:
    """SGR and HR of the steps of one stage."""
    own = [step for step, of in zip(steps, stages(len(steps)), strict=True) if of == stage]
    return step_grounding_rate(own, policy), hallucination_rate(own, policy)


def correlation(
    one: Float[np.ndarray, " step"] | Bool[np.ndarray, " step"], other: Float[np.ndarray, " step"]
) -> float | None:
    """Pearson's r; None where one of them does not vary."""
    if len(one) < 2 or np.ptp(one.astype(np.float64)) == 0 or np.ptp(other) == 0:
        return None
    return float(np.corrcoef(one.astype(np.float64), other)[0, 1])


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _all(needed: Sequence[bool | None], policy: Policy) -> float | None:
    """1 where all is so, 0 where any is not; else by policy."""
    if False in needed:
        return 0.0
    if None in needed:
        return {"exclude": None, "penalise": 0.0, "neutral": 0.5}[policy]
    return 1.0


def _holds(belief: Step) -> bool | None:
    if belief.unsupported:
        return False
    return True if belief.supported else None


def _not(held: bool | None) -> bool | None:
    return None if held is None else not held
