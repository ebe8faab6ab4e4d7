"""Every way to ask, measured on the same questions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float

from cuescope_blind.looking.options import LookingOptions
from cuescope_blind.looking.scores import (
    Estimated,
    PerQuestion,
    Right,
    beyond_guessing,
    lost,
)
from cuescope_blind.looking.trials import (
    AS_IT_IS,
    OPTIONS_ALONE,
    QUESTION_ALONE,
    TURNED,
    WRONG_VIDEO,
    ask,
    numbered_trials,
    questions_asked,
    ways_of,
)
from cuescope_sdk import Audit, Outcome, Sample
from cuescope_sdk.statistics import (
    Groups,
    MeanAboveZero,
    benjamini_hochberg,
    change_interval,
)

# logits: a batch of another size rounds otherwise
SAME = 1e-3
# whose answers have not seen what the question is about
BLIND_WAYS = (QUESTION_ALONE, WRONG_VIDEO, OPTIONS_ALONE)


@dataclass(frozen=True, eq=False)
class WayResult:
    """One way to ask; `finding` says whether the model is right too often in it."""

    key: str
    name: str
    right: Right
    gain: Estimated
    lost: Estimated
    q_value: float | None = None
    finding: bool = False


@dataclass(frozen=True, eq=False)
class Sight:
    """The questions, whether each is right as it is, and every other way to ask.

    `turned` has the questions that were asked with their options turned, whether an answer
    changed, and the share of changes. It is None where they have the `same_scores` as before.
    `silent` counts, by way, the answers that name no option: they are wrong.
    """

    samples: tuple[Sample, ...]
    as_it_is: Right
    results: tuple[WayResult, ...]
    turned: tuple[Right, Right, Estimated] | None
    turned_q: float | None
    turned_finding: bool
    same_scores: bool = False
    silent: Mapping[str, int] = field(default_factory=dict)

    # computed once: every interval is over these groups
    @cached_property
    def groups(self) -> Groups:
        """The videos."""
        return Groups.of(self.samples)

    @property
    def findings(self) -> dict[str, tuple[Sample, ...]]:
        """By way, where it is a finding: the questions right in it, or whose answer changed."""
        found = {}
        for result in self.results:
            if result.finding:
                found[result.key] = self._samples_of(result.right)
        if self.turned is not None and self.turned_finding:
            found[TURNED] = self._samples_of(self.turned[1])
        return found

    def _samples_of(self, part: Right) -> tuple[Sample, ...]:
        return tuple(self.samples[number] for number in np.flatnonzero(part).tolist())

    def right_in(self, key: str) -> Right | None:
        """Whether each question is right in a way; None where it was not asked so."""
        return next((r.right for r in self.results if r.key == key), None)


def sight(audit: Audit) -> Sight:
    """All that is measured; for `audit.once`."""
    asked = audit.once(questions_asked, audit)
    options = audit.options
    groups = Groups.of(asked)
    # guessing is worth more where there are fewer options
    chance: PerQuestion = np.array([1 / len(sample.choices) for sample in asked])
    right_in: dict[str, Right] = {}
    silent = Counter[str]()
    plain: dict[int, Outcome] = {}
    turns: dict[int, list[Outcome]] = {}
    for (number, trial), outcome in zip(
        audit.once(numbered_trials, audit),
        audit.once(ask, audit),
        strict=True,
    ):
        if trial.condition == TURNED:
            turns.setdefault(number, []).append(outcome)
            continue
        if trial.condition == AS_IT_IS:
            plain[number] = outcome
        # one array a way, filled as answers come: a question stands at one place in all
        right = right_in.setdefault(trial.condition, np.zeros(len(asked), dtype=bool))
        answer = named_option(outcome)
        # an answer that names no option is wrong, and is counted beside
        right[number] = answer is not None and answer == trial.sample.label
        if answer is None:
            silent[trial.condition] += 1
    as_it_is = right_in[AS_IT_IS]
    results = []
    for way in audit.once(ways_of, audit):
        right = right_in[way.key]
        gain = beyond_guessing(right, chance, groups)
        less = lost(as_it_is, right, groups)
        results.append(WayResult(way.key, way.name, right, gain, less))
    # a model that scores options one by one cannot know their order: turning tells nothing
    knows_order = _knows_order(plain, turns)
    turned = None
    if knows_order:
        turned = _turns(plain, turns, groups)
    tested = [result for result in results if result.key in BLIND_WAYS]
    p_values = [result.gain.p_value for result in tested]
    if turned is not None:
        p_values.append(turned[2].p_value)
    # over what may be a finding: order and single frames are told, and are no fault
    q_values = benjamini_hochberg(p_values)
    by_key = {result.key: q for result, q in zip(tested, q_values, strict=False)}
    judged = []
    for result in results:
        q_value = by_key.get(result.key)
        # the q-value is known only when all p-values are there
        judged.append(
            WayResult(
                result.key,
                result.name,
                result.right,
                result.gain,
                result.lost,
                q_value,
                _is_finding(result.gain, q_value, options),
            )
        )
    turned_q = q_values[-1] if turned is not None else None
    turned_finding = turned is not None and _is_finding(turned[2], turned_q, options)
    return Sight(
        tuple(asked),
        as_it_is,
        tuple(judged),
        turned,
        turned_q,
        turned_finding,
        same_scores=bool(turns) and not knows_order,
        silent=silent,
    )


def named_option(outcome: Outcome) -> str | None:
    """The option with the largest logit; None where all are equal, and none was named.

    A server's refusal ("I see no video") has equal logits. The first option would be taken for its
    answer, which is right too often where the data have it right too often.
    """
    spread = np.ptp(outcome.logits)
    return outcome.prediction if spread > 0 else None


def _knows_order(
    plain: Mapping[int, Outcome],
    turns: Mapping[int, Sequence[Outcome]],
) -> bool:
    """Whether any option has another score where it stands at another place."""
    for number, others in turns.items():
        usual = _by_text(plain[number])
        for other in others:
            if not np.allclose(usual, _by_text(other), atol=SAME):
                return True
    return False


def _by_text(outcome: Outcome) -> Float[np.ndarray, " option"]:
    """The logits in alphabetic order of the options."""
    choices = outcome.trial.sample.choices
    # by text: the same option is compared with itself, wherever it stood
    order = sorted(range(len(choices)), key=lambda place: choices[place])
    return np.asarray(outcome.logits, dtype=float)[order]


def _turns(
    plain: Mapping[int, Outcome],
    turns: Mapping[int, Sequence[Outcome]],
    groups: Groups,
) -> tuple[Right, Right, Estimated]:
    """Which questions were turned, whose answer changed, and the share of these."""
    was_turned = np.zeros(len(plain), dtype=bool)
    change = np.zeros(len(plain), dtype=bool)
    for number, others in turns.items():
        was_turned[number] = True
        before = named_option(plain[number])
        # any turn: a question that changes once depends on the order
        change[number] = any(named_option(other) != before for other in others)
    share = change[was_turned].astype(float)
    part = groups.take(was_turned)
    low, high = change_interval(share, part)
    p_value = MeanAboveZero(share, part).p_value()
    estimated = Estimated(float(share.mean()), low, high, p_value)
    return was_turned, change, estimated


def _is_finding(
    gain: Estimated,
    q_value: float | None,
    options: LookingOptions,
) -> bool:

    if q_value is None:
        return False
    return gain.value >= options.min_gain and q_value <= options.fdr
