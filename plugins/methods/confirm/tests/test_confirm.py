"""The rule of the verdicts, and the effect beyond a placebo."""

import numpy as np
import pytest

from cuescope_confirm.asking import says, stratified_gap
from cuescope_confirm.scores import Decision, auroc, corrected, decide, effect_of, enough, rule
from cuescope_sdk.statistics import Groups

RNG = np.random.default_rng
YES: Decision = "confirms"
NO: Decision = "placebo does as much"
OPEN: Decision = "undecided"


@pytest.mark.parametrize(
    ("removing", "inserting", "verdict"),
    [
        ([YES], [], ("causes", True, False)),
        ([YES, YES, NO], [YES], ("causes", True, True)),
        ([YES, NO], [], ("cannot tell", False, False)),
        ([YES, NO, NO], [YES], ("causes", False, True)),
        ([YES, NO, NO], [], ("cannot tell", False, False)),
        ([NO, NO], [OPEN], ("accompanies", False, False)),
        ([NO], [OPEN, OPEN], ("cannot tell", False, False)),
        ([OPEN], [], ("cannot tell", False, False)),
        ([], [], ("cannot tell", False, False)),
    ],
)
def test_the_rule(removing: list[Decision], inserting: list[Decision], verdict: object) -> None:
    ruling = rule(removing, inserting, located=True)
    assert (ruling.verdict, ruling.necessary, ruling.sufficient) == verdict
    assert (ruling.missing is None) == (ruling.verdict != "cannot tell")
    assert rule(removing, inserting, located=False).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("removing", "coarse", "verdict"),
    [
        ([], [YES, YES], "cannot tell"),
        ([OPEN], [YES], "cannot tell"),
        ([], [NO, NO], "accompanies"),
        ([NO], [YES, YES], "accompanies"),
        ([YES], [NO, NO], "causes"),
    ],
)
def test_whole_frames_show_that_nothing_moves_but_not_what_moves_it(
    removing: list[Decision], coarse: list[Decision], verdict: str
) -> None:
    ruling = rule(removing, [], coarse, located=True)
    assert ruling.verdict == verdict
    assert ("region" in (ruling.missing or "")) == (verdict == "cannot tell")


def test_what_is_done_without_the_cue_too_is_no_cause() -> None:
    """A placebo that hurts by itself, with and without the cue: nothing is confirmed."""
    rng = RNG(0)
    change = rng.random(80) * 0.6
    groups = Groups.single(80)
    alone = effect_of(change, groups, {}, rng, 0.95)
    others = {"unfound cue": (rng.random(40) * 0.6, Groups.single(40))}
    beside = effect_of(change, groups, others, rng, 0.95)
    [first, second] = corrected([alone, beside])
    assert decide(first, level=0.05, margin=0.1) == YES
    assert decide(second, level=0.05, margin=0.1) == OPEN
    assert second.value == first.value
    still = effect_of(change, groups, {}, rng, 0.95, np.zeros(80))  # the placebo alone moves them
    assert decide(corrected([still])[0], level=0.05, margin=0.1) == OPEN


def test_an_effect_that_is_surely_small_is_none() -> None:
    """Surely above 0, and surely below the margin."""
    small = RNG(0).random(900) * 0.1
    [effect] = corrected([effect_of(small, Groups.single(900), {}, RNG(1), 0.95)])
    assert effect.corrected < 0.05
    assert decide(effect, level=0.05, margin=0.1) == NO


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Twelve witnesses of nothing, many times over: any confirmed one is rare."""
    rng, alarms = RNG(1), 0
    for _ in range(100):
        effects = [
            effect_of(rng.choice([-1.0, 0, 0, 0, 1], 40), Groups.single(40), {}, rng, 0.95)
            for _ in range(12)
        ]
        decided = [decide(e, level=0.05, margin=0.1) for e in corrected(effects)]
        alarms += YES in decided
    assert alarms <= 10


def test_enough_is_enough() -> None:
    """As many samples as are called enough show the effect in about four runs of five."""
    rng, tests = RNG(2), 8
    n, found = enough(0.25, tests, level=0.05), 0
    for _ in range(200):
        change = (rng.random(n) < 0.25) * 1.0
        effect = effect_of(change, Groups.single(n), {}, rng, 0.95)
        found += effect.p_value <= 0.05 / tests
    assert found >= 150
    assert n < 100


def test_auroc_counts_pairs() -> None:
    scores, shows = np.array([1.0, 2, 2, 3]), np.array([False, True, False, True])
    assert auroc(scores, shows) == pytest.approx(3.5 / 4)
    assert auroc(scores, np.full(4, True)) is None


def test_a_gap_is_told_within_labels() -> None:
    """The label that the cue goes with is the easier one; within labels nothing differs."""
    labels = np.repeat(["a", "b"], 100)
    present = np.r_[np.arange(100) < 90, np.arange(100) < 10]
    values = np.r_[np.ones(100), np.zeros(100)]
    gap, _ = stratified_gap(values, present, labels, np.full(200, True))
    assert gap == 0


@pytest.mark.parametrize(
    ("text", "answer", "right"),
    [
        ("north", "north", True),
        ("Northern", "north", False),
        ("Step 1: it goes south. Answer: north", "north", True),
        ("Step 1: it goes north. Answer: south.", "north", False),
        ("Yes, there is a cup.", "yes", True),
        (None, "yes", False),
    ],
)
def test_a_text_is_an_answer(text: str | None, answer: str, right: bool) -> None:
    assert says(text, answer) == right
