"""Every way to ask, measured on the same questions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from cuescope_blind.looking.options import LookingOptions
from cuescope_blind.looking.scores import (
    Estimated,
    PerQuestion,
    Right,
    beyond_guessing,
    lost,
    share_of,
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
from cuescope_sdk.statistics import Groups, benjamini_hochberg

# whose answers have not seen what the question is about
BLIND_WAYS = (QUESTION_ALONE, WRONG_VIDEO, OPTIONS_ALONE)


@dataclass(frozen=True, eq=False)
class WayResult:
    """One way to ask; `finding` says whether the model is right too often in it.

    Of options in another order `right` are the answers that changed, and `gain` is their share.
    """

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

    `silent` counts, by way, the answers that name no option: they are wrong.
    """

    samples: tuple[Sample, ...]
    as_it_is: Right
    results: tuple[WayResult, ...]
    turned: WayResult
    silent: Mapping[str, int] = field(default_factory=dict)

    # computed once: every interval is over these groups
    @cached_property
    def groups(self) -> Groups:
        """The videos."""
        return Groups.of(self.samples)

    def found(self, result: WayResult) -> tuple[Sample, ...]:
        """The questions right in a way that is a finding, or whose answer changed."""
        if not result.finding:
            return ()
        return tuple(self.samples[n] for n in np.flatnonzero(result.right).tolist())

    def right_in(self, key: str) -> Right | None:
        """Whether each question is right in a way; None where it was not asked so."""
        return next((r.right for r in self.results if r.key == key), None)


def sight(audit: Audit) -> Sight:
    """All that is measured; for `audit.once`."""
    asked = audit.once(questions_asked, audit)
    groups = Groups.of(asked)
    # guessing is worth more where there are fewer options
    chance: PerQuestion = np.array([1 / len(sample.choices) for sample in asked])
    right_in: dict[str, Right] = {}
    answers: dict[str, list[str | None]] = {AS_IT_IS: [], TURNED: []}
    silent = Counter[str]()
    for (number, trial), outcome in zip(
        audit.once(numbered_trials, audit),
        audit.once(ask, audit),
        strict=True,
    ):
        key = trial.condition
        answer = named_option(outcome)
        answers.setdefault(key, []).append(answer)
        # one array a way, filled as answers come: a question stands at one place in all
        right = right_in.setdefault(key, np.zeros(len(asked), dtype=bool))
        # an answer that names no option is wrong, and is counted beside
        right[number] = answer is not None and answer == trial.sample.label
        if answer is None and key != TURNED:
            silent[key] += 1
    as_it_is = right_in[AS_IT_IS]
    results = []
    for way in audit.once(ways_of, audit):
        right = right_in[way.key]
        gain = beyond_guessing(right, chance, groups)
        less = lost(as_it_is, right, groups)
        results.append(WayResult(way.key, way.name, right, gain, less))
    pairs = zip(answers[AS_IT_IS], answers[TURNED], strict=True)
    changed = np.array([before != after for before, after in pairs])
    share = share_of(changed, groups)
    less = lost(as_it_is, right_in[TURNED], groups)
    turned = WayResult(TURNED, "options in another order", changed, share, less)
    # over what may be a finding: order and single frames are told, and are no fault
    tested = [result for result in results if result.key in BLIND_WAYS]
    judged = _judge([*tested, turned], audit.options)
    return Sight(
        tuple(asked),
        as_it_is,
        tuple(judged.get(result.key, result) for result in results),
        judged[TURNED],
        silent,
    )


def _judge(
    results: list[WayResult],
    options: LookingOptions,
) -> dict[str, WayResult]:
    """With q-values over all of them, by key."""
    q_values = benjamini_hochberg([result.gain.p_value for result in results])
    judged = {}
    for result, q_value in zip(results, q_values, strict=True):
        large = result.gain.value >= options.min_gain
        finding = large and q_value is not None and q_value <= options.fdr
        judged[result.key] = replace(result, q_value=q_value, finding=finding)
    return judged


def named_option(outcome: Outcome) -> str | None:
    """The option with the largest logit; None where all are equal, and none was named.

    A server's refusal ("I see no video") has equal logits. The first option would be taken for its
    answer, which is right too often where the data have it right too often.
    """
    spread = np.ptp(outcome.logits)
    return outcome.prediction if spread > 0 else None
