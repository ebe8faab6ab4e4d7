"""What a report says of a cue, word by word: each sentence is read once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuescope_confirm.asking import Direction
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.report import missing_step
from cuescope_confirm.sample_plan import OF_FEW, SamplePlan
from cuescope_confirm.scores import Row, Verdict
from cuescope_confirm.sentences import MORE_TESTED, PAIRS, statement
from cuescope_sdk.statistics import Estimate, PrognosticGap

OPTIONS = ConfirmOptions(run=Path("run"))


def row(
    verdict: Verdict,
    above: float | None = 0.99,
    *,
    direction: Direction = Direction(),  # noqa: B008 -- frozen
    settled: float = 1.0,
    **values: Any,
) -> Row:
    cue = SimpleNamespace(labels=("cow",), label="cow")
    target: Any = SimpleNamespace(cue=cue, direction=direction, reason=None)
    posterior: Any = SimpleNamespace(
        effect=Estimate(0.2, 0.1, 0.3),
        above=lambda _: above,
        heterogeneity=0.91,
        settled_by=lambda *_: settled,
    )
    return Row(
        target,
        {},
        [],
        posterior=None if above is None else posterior,
        verdict=verdict,
        **values,
    )


def test_a_cause_is_told_with_its_size_and_its_cost() -> None:
    told = statement(row("cause", lost=Estimate(0.02, 0.01, 0.03)), OPTIONS)
    assert told.startswith(
        "{feature} on 'cow' causes wrong answers, by +20 (+10 to +30) points of probability. "
        "It costs 2.0 points of accuracy over all samples (1.0 to 3.0)."
    )
    assert "by more than 10 points is 0.99" in told


def test_a_cue_that_helps_gives_accuracy() -> None:
    helps = Direction(sign=-1)
    lost = Estimate(-0.02, -0.03, 0.01)
    told = statement(row("cause", direction=helps, lost=lost), OPTIONS)
    assert "causes right answers" in told
    assert "It may give 2.0 points of accuracy over all samples (−1.0 to 3.0)." in told


def test_what_draws_answers_to_a_label_is_not_on_that_label() -> None:
    told = statement(row("cause", direction=Direction("the label", sign=-1)), OPTIONS)
    assert told.startswith("{feature} causes the answer 'cow'")


@pytest.mark.parametrize(
    ("folds", "settled", "said"),
    [
        (False, 7.0, f"would decide ({MORE_TESTED})"),
        (True, 7.0, "would decide, if the effect is as large as it seems"),
        (False, float("inf"), f"the interventions do unlike things (I² 0.91). {PAIRS}"),
    ],
)
def test_what_is_open_says_what_would_decide(
    *, folds: bool, settled: float, said: str
) -> None:
    options = OPTIONS.model_copy(update={"folds": folds})
    told = statement(row("inconclusive", 0.6, settled=settled), options)
    assert "it is open whether it causes wrong answers" in told
    assert said in told


def test_what_was_not_measured_has_no_effect_to_tell() -> None:
    told = statement(row("inconclusive", None), OPTIONS)
    assert told == (
        "{feature} on 'cow': inconclusive, because no intervention could change enough samples. "
        + PAIRS
    )


def test_unchanged_samples_are_told_beside() -> None:
    alike = Estimate(0.25, 0.2, 0.3)
    told = statement(row("cause", beside=PrognosticGap(alike, alike, 50)), OPTIONS)
    assert told.endswith("others that are alike in all else: +25 (+20 to +30).")


def test_who_tested_by_folds_is_not_advised_to_do_it() -> None:
    study: Any = SimpleNamespace(folds=())
    assert "--folds" in missing_step(study)
    study.folds = (study,)
    assert "--folds" not in missing_step(study)


def test_the_last_word_of_a_plan_judges_it() -> None:
    def plan(expected: int, *, in_folds: bool = False) -> str:
        return SamplePlan(400, "red", expected, 60, in_folds).sentence

    assert plan(60).endswith("enough")
    assert plan(12).endswith(OF_FEW)
    assert not plan(12, in_folds=True).endswith(OF_FEW)
