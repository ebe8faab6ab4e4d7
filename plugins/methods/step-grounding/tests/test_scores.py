"""The paper's equations against its own examples, and against slow forms of themselves."""

import numpy as np
import pytest

from cuescope_step_grounding.options import Policy
from cuescope_step_grounding.paper import read_tables
from cuescope_step_grounding.scores import (
    StepCounts,
    grounding,
    hallucinates,
    hallucination_rate,
    rates_of_stage,
    stages,
    state_justification,
    step_grounding_rate,
    temporal_consistency,
    transition_justification,
    visual_reliance,
)


def test_the_papers_examples_of_a_step() -> None:
    """A red chair, a blue table and a green bulb, of which two are there; a chair and a table."""
    assert grounding(StepCounts(2, 1)) == pytest.approx(2 / 3)
    assert grounding(StepCounts(1, 1)) == 0.5
    assert grounding(StepCounts(1)) == 1
    assert grounding(StepCounts(0, 1)) == 0


def test_figure_3_of_the_paper() -> None:
    """Three steps, the second unsupported: the person walks, and does not cross."""
    steps = [StepCounts(1), StepCounts(0, 1), StepCounts(1)]
    assert step_grounding_rate(steps) == pytest.approx(0.67, abs=0.005)
    assert hallucination_rate(steps) == pytest.approx(0.33, abs=0.005)


def test_one_false_claim_of_three_flags_the_whole_step() -> None:
    """Section 3.4: SGR gives 0.67, HR 1."""
    assert step_grounding_rate([StepCounts(2, 1)]) == pytest.approx(0.67, abs=0.005)
    assert hallucination_rate([StepCounts(2, 1)]) == 1
    steps = [StepCounts(2, 1), StepCounts(1), StepCounts(), StepCounts(0, 0, 3)]
    assert hallucination_rate(steps) == 1 / 2
    assert hallucination_rate(steps, over_all=True) == 1 / 4  # eq. 3 as printed
    assert hallucination_rate([StepCounts()], over_all=True) is None


@pytest.mark.parametrize(
    ("policy", "share", "flagged"),
    [("exclude", 0.5, True), ("penalise", 0.25, True), ("neutral", 0.5, True)],
)
def test_policies_of_what_cannot_be_verified(
    policy: Policy, share: float, flagged: bool
) -> None:
    assert grounding(StepCounts(1, 1, 2), policy) == share
    assert hallucinates(StepCounts(1, 1, 2), policy) is flagged


@pytest.mark.parametrize(
    ("policy", "share", "flagged"),
    [("exclude", None, None), ("penalise", 0.0, True), ("neutral", 0.5, False)],
)
def test_policies_of_a_step_without_evidence(
    policy: Policy, share: float | None, flagged: bool | None
) -> None:
    assert grounding(StepCounts(0, 0, 2), policy) == share
    assert hallucinates(StepCounts(0, 0, 2), policy) is flagged


@pytest.mark.parametrize("policy", ["exclude", "penalise", "neutral"])
def test_a_step_that_claims_nothing_never_counts(policy: Policy) -> None:
    assert grounding(StepCounts(), policy) is None
    assert step_grounding_rate([StepCounts(), StepCounts(1)], policy) == 1
    assert step_grounding_rate([StepCounts()], policy) is None


def test_rates_against_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        steps = [StepCounts(*rng.integers(0, 4, 3).tolist()) for _ in range(6)]
        shares, flags = [], []
        for s in steps:
            if s.supported + s.unsupported:
                shares.append(s.supported / (s.supported + s.unsupported))
                flags.append(s.unsupported > 0)
        assert step_grounding_rate(steps) == pytest.approx(sum(shares) / len(shares))
        assert hallucination_rate(steps) == pytest.approx(sum(flags) / len(flags))


def test_the_papers_example_of_tcs() -> None:
    """ "Now on my right", after turning left: neither belief holds then, and TCS drops to 0."""
    before, after = StepCounts(1, 0), StepCounts(0, 1)
    j = transition_justification(0.6, before, after, 0.8)
    assert j == 0
    assert temporal_consistency([0.6], [j]) == 0


@pytest.mark.parametrize(
    ("similarity", "before", "after", "j"),
    [
        (0.9, StepCounts(1), StepCounts(1), 1.0),  # kept, and it holds
        (0.9, StepCounts(0, 1), StepCounts(1), 0.0),  # kept, though it is so no longer
        (0.5, StepCounts(0, 1), StepCounts(1), 1.0),  # revised, as it had to be
        (0.5, StepCounts(1), StepCounts(1), 0.0),  # given up without need
        (0.5, StepCounts(0, 1), StepCounts(1, 1), 0.0),  # revised to what does not hold
        (0.8, StepCounts(0, 1), StepCounts(1), 1.0),  # tau itself is a change
        (0.9, StepCounts(0, 0, 1), StepCounts(1), None),
        (0.5, StepCounts(0, 1), StepCounts(0, 0, 1), None),
        (0.5, StepCounts(1), StepCounts(0, 0, 1), 0.0),  # wrong whatever the rest is
    ],
)
def test_when_a_transition_is_justified(
    similarity: float, before: StepCounts, after: StepCounts, j: float | None
) -> None:
    assert transition_justification(similarity, before, after, 0.8) == j


def test_policies_of_a_transition_without_evidence() -> None:
    open_ = StepCounts(0, 0, 1)
    assert transition_justification(0.9, open_, open_, 0.8, "penalise") == 0
    assert transition_justification(0.9, open_, open_, 0.8, "neutral") == 0.5


@pytest.mark.parametrize(
    ("belief", "policy", "j"),
    [
        (StepCounts(3), "exclude", 1.0),
        (StepCounts(3, 0, 1), "penalise", 1.0),
        (StepCounts(3, 1), "exclude", 0.0),
        (StepCounts(0, 0, 1), "exclude", None),
        (StepCounts(0, 0, 1), "penalise", 0.0),
        (StepCounts(0, 0, 1), "neutral", 0.5),
    ],
)
def test_a_state_is_upheld_by_all_that_can_be_seen(
    belief: StepCounts, policy: Policy, j: float | None
) -> None:
    assert state_justification(belief, policy) == j


def test_the_papers_tcs_goes_with_sgr_as_much_as_with_steps_without_a_fault() -> None:
    """So its table does not tell what a belief is."""
    tables = read_tables()
    by_fault = np.corrcoef(tables.tcs.ravel(), 100 - tables.hr.ravel())[0, 1]
    by_support = np.corrcoef(tables.tcs.ravel(), tables.sgr.ravel())[0, 1]
    assert by_fault == pytest.approx(0.993, abs=5e-4)
    assert by_support >= 0.99


def test_consistency_is_a_mean_of_products() -> None:
    assert temporal_consistency([1.0, 0.5, 0.4], [1.0, 1.0, 0.0]) == pytest.approx(0.5)
    assert temporal_consistency([1.0, 0.5], [None, 1.0]) == 0.5
    assert temporal_consistency([], []) is None


def test_reliance_is_the_equation() -> None:
    """(0.2 / 0.1) / (0.02 / 0.1 + 0.01)."""
    assert visual_reliance(0.2, 0.1, 0.02, 0.1) == pytest.approx(2 / 0.21)
    assert visual_reliance(0.2, 0.1, 0.0, 0.1) == 10  # clipped: 2 / 0.01
    assert visual_reliance(-0.2, 0.1, 0.0, 0.1) == 0
    assert visual_reliance(0.0, 0.1, 0.0, 0.1) == 0
    assert visual_reliance(0.2, 0.1, 0.05, 0.1, epsilon=0.5) == pytest.approx(2.0)
    assert visual_reliance(0.2, 0.1, 0.0, 0.0) is None


def test_a_gain_under_the_control_is_no_loss() -> None:
    assert visual_reliance(0.001, 0.1, -0.5, 0.1) == visual_reliance(
        0.001, 0.1, 0.0, 0.1
    )


def test_reliance_orders_the_papers_models() -> None:
    """With equal magnitudes table 3 gives CLIP-ViL the lowest and GPT-4o the highest VRS."""
    table = read_tables().perturbed
    relevant = np.mean(
        [table[k]["sgr"] for k in ("position", "temporal", "visibility")], axis=0
    )
    scores = [
        visual_reliance(-lost / 100, 1, -control / 100, 1)
        for lost, control in zip(
            relevant.tolist(), table["irrelevant"]["sgr"].tolist(), strict=True
        )
    ]
    assert scores[0] == min(s for s in scores if s is not None)
    assert scores[-1] == max(s for s in scores if s is not None)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 6, 7, 8, 40])
def test_stages_are_a_quarter_a_half_and_a_quarter(steps: int) -> None:
    found = stages(steps)
    assert found == sorted(found, key=("early", "middle", "late").index)
    assert found.count("early") == found.count("late") == round(steps / 4 - 1e-9)


def test_staged_rates_are_of_their_own_steps() -> None:
    steps = [StepCounts(1), StepCounts(0, 1), StepCounts(1), StepCounts(0, 1)]
    assert rates_of_stage(steps, "early") == (1, 0)
    assert rates_of_stage(steps, "middle") == (0.5, 0.5)
    assert rates_of_stage(steps, "late") == (0, 1)
    assert rates_of_stage([StepCounts(1)], "late") == (None, None)
