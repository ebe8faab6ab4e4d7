"""The effect of an intervention beyond its placebo, and the rule of the verdicts: plain numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.verdicts.undecided import (
    DISAGREEMENT,
    MORE_SAMPLES,
    NO_CHANGE,
    PART_ALONE,
    REGION,
    SECOND_CAUSE,
    UNSURE_PLACE,
    Undecided,
)
from cuescope_sdk.statistics import (
    ChangePlan,
    Groups,
    MeanAboveZero,
    change_interval,
    gap_p_values,
    holm,
)

PerSample = Float[np.ndarray, " sample"]
BoolPerSample = Bool[np.ndarray, " sample"]
Decision = Literal["confirms", "placebo does as much", "undecided"]
Decisions = Sequence[Decision]
Verdict = Literal["causes", "accompanies", "cannot tell"]

NO_MORE: Decision = "placebo does as much"
DRAWS = 20_000  # of the groups, for a p-value
Control = Literal["without the cue", "unfound cue", "other labels"]
Measure = tuple[Float[np.ndarray, " _other"], Groups]


@dataclass(frozen=True)
class Effect:
    """What an intervention does beyond its placebo, as a mean probability, -1 to 1.

    Positive is what a cause would do. `low` and `high` bound it, `controls` are the same figure
    where a cause would do nothing, as far as it was measured; `alone` is what it does beyond no
    change at all. `p_value` is the largest one of all tests, `corrected` that of Holm over all
    findings and interventions.
    """

    value: float
    low: float
    high: float
    n: int
    p_value: float
    controls: Mapping[Control, float] = field(default_factory=dict)
    corrected: float = 1.0
    alone: float | None = None

    @property
    def least(self) -> float:
        """By how much it is at least more than all that it is held against.

        The placebo, no change at all, and what it does where a cause would do nothing.
        """
        highest = max(self.controls.values(), default=0.0)
        least = min(self.value, self.value - highest)
        if self.alone is None:
            return least
        return min(least, self.alone)

    @property
    def most(self) -> float:
        """By how much the cue moves answers at most, as far as this tells.

        What the same change damages in samples without the cue, it damages in those with it, too:
        that hides as much of the effect.
        """
        return self.high - min(self.controls.get("without the cue", 0.0), 0.0)


def effect_of(
    with_cue: PerSample,
    groups: Groups,
    controls: Mapping[Control, Measure],
    rng: np.random.Generator,
    confidence: float,
    alone: PerSample | None = None,
    allowances: Mapping[Control, float] = MappingProxyType({}),
) -> Effect:
    """The mean of paired differences, intervention minus placebo, signed as a cause would be.

    A cause must do three things: move the answers more than the placebo does in the same samples;
    move them from what they are without any change (`alone`), or else a placebo that does damage
    would make a cause of an intervention that does nothing; and do more than wherever it should do
    nothing: in samples without the cue, at a cue that nobody found, on labels that it leaves alone,
    less what the cue may do there all the same (`allowances`).
    The p-value is the largest one of all (an intersection-union test; Berger, 1982).
    """
    # the sign is that of a cause, so a positive mean speaks for one
    low, high = change_interval(with_cue, groups, confidence=confidence)
    p_values = []
    means = {}
    changes = [with_cue] if alone is None else [with_cue, alone]
    for change in changes:
        p_value = MeanAboveZero(change, groups).p_value()
        # of one group nothing can be said
        p_values.append(1.0 if p_value is None else p_value)
    for name, (control, of_control) in controls.items():
        means[name] = float(control.mean())
        values = np.concatenate([control - allowances.get(name, 0.0), with_cue])
        present = np.arange(len(values)) >= len(control)
        # numbered apart, for the test exchanges whole groups of the two sides
        codes = np.concatenate([of_control.codes, groups.codes + of_control.count])
        both = Groups(codes, of_control.count + groups.count, groups.declared)
        # minus: that test is for values that are lower where something is present
        [p_value] = gap_p_values(-values, present[:, None], both, rng, draws=DRAWS)
        p_values.append(float(p_value))
    return Effect(
        value=float(with_cue.mean()),
        low=low or 0.0,
        high=high or 0.0,
        n=len(with_cue),
        p_value=max(p_values),
        controls=means,
        alone=None if alone is None else float(alone.mean()),
    )


def correct(effects: Sequence[Effect]) -> list[Effect]:
    """With the p-values of Holm over all of them: any false one at all is rare."""
    # over all cues and kinds: whoever looks at many finds some by luck
    p_values = holm([effect.p_value for effect in effects])
    pairs = zip(effects, p_values, strict=True)
    return [replace(effect, corrected=p_value) for effect, p_value in pairs]


def decide(
    effect: Effect,
    *,
    level: float,
    margin: float,
    claimed: float = 0.0,
    part: float = 1.0,
) -> Decision:
    """What one kind of change says of one cue.

    An effect that is surely below the margin is none, however sure it is that it is not 0, and one
    that is below it confirms nothing. One that is surely below what is `claimed` of the cue is none
    too, unless it is sure that it is not 0: then it is a part of it, and decides nothing. Where a
    `part` of the cue was changed, all of it would do more.
    """
    sure = effect.corrected <= level
    # per part: half of the cue does half of what all of it does
    most = effect.most / part
    if most < margin or (most < claimed and not sure):
        return NO_MORE
    confirmed = sure and effect.value / part >= margin and effect.high / part >= claimed
    return "confirms" if confirmed else "undecided"


@dataclass(frozen=True)
class Ruling:
    """The verdict on a cue; `missing` says what a decision lacks.

    A cause may be confirmed by single kinds, or by all evidence `together`; by the `inside` of the
    model alone.
    """

    verdict: Verdict
    necessary: bool = False
    sufficient: bool = False
    missing: Undecided | None = None
    together: bool = False
    inside: bool = False


def rule(
    removing: Decisions,
    inserting: Decisions,
    coarse: Decisions = (),
    partial: Decisions = (),
    *,
    located: bool,
    exact: bool = False,
) -> Ruling:
    """The verdict of all interventions together.

    Necessary: taking the cue out is confirmed by most of the interventions that decide. Sufficient:
    the same of putting it in. Either makes a cause if two confirm: one alone may have changed what
    goes with the cue, unless it is `exact` where the cue is. `partial` ones leave something of the
    cue, and may be the second. Where none confirms, and more decide than not, the cue accompanies.
    The `coarse` ones change all of a frame, which holds the cue and whatever goes with it: they are
    asked where no other decides, and there they can tell that nothing moves, but not that it is the
    cue that moves answers.
    """
    if not located:
        return Ruling("cannot tell", missing=UNSURE_PLACE)
    necessary = _most_confirm(removing)
    sufficient = _most_confirm(inserting)
    everything = [*removing, *inserting]
    # either direction is enough: a cue may be necessary and not sufficient
    if necessary or sufficient:
        confirming = [*everything, *partial].count("confirms")
        if confirming < 2 and not exact:
            return Ruling("cannot tell", missing=SECOND_CAUSE)
        return Ruling("causes", necessary, sufficient)
    # some confirm, but not most of those that decide
    if "confirms" in everything:
        return Ruling("cannot tell", missing=DISAGREEMENT)
    if partial:
        return Ruling("cannot tell", missing=PART_ALONE)
    if NO_MORE not in everything:
        if "confirms" in coarse:
            return Ruling("cannot tell", missing=REGION)
        everything += coarse
    if not everything:
        return Ruling("cannot tell", missing=NO_CHANGE)
    if everything.count(NO_MORE) > everything.count("undecided"):
        return Ruling("accompanies")
    return Ruling("cannot tell", missing=MORE_SAMPLES)


def _most_confirm(decisions: Decisions) -> bool:
    # what is undecided has no vote: it may only lack samples
    return decisions.count("confirms") > decisions.count(NO_MORE)


def samples_needed(effect: float, tests: int, *, level: float) -> int:
    """How many changed samples show a mean change of `effect` with 80% power, after correction."""
    # the first step of Holm, which is the hardest to pass
    return ChangePlan(level / max(tests, 1)).samples(effect)
