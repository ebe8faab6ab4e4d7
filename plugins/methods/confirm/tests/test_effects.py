"""The dose-response model of a cue's rows: planted effects, doses and damage."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import scores
from cuescope_confirm.experiment import doses as recognised
from cuescope_confirm.experiment.arms import Answers, Arm, Experiment
from cuescope_confirm.scores import decide, measure
from cuescope_sdk.statistics import DoseResponse, Estimate, PrognosticGap

SAMPLES = 60
AS_IT_IS = 0.4


def target(purity: float = 1.0) -> Any:
    return SimpleNamespace(
        direction=SimpleNamespace(sign=1, toward="the right answer"),
        located=SimpleNamespace(purity=purity, places={}, without=set()),
        samples={"0": None},
        is_judged=lambda _: True,
        cue=SimpleNamespace(id="red", name="red"),
        by_label=True,
    )


def arm(
    of: Any, spec: str, moved: float, damage: float = 0.0, needs: str = "region"
) -> Arm:
    """What it does to samples with the cue, and, by its damage alone, to those without."""
    noise = np.resize([0.2, -0.2], SAMPLES)
    shows = np.arange(SAMPLES) < SAMPLES * 2 // 3
    as_is = np.full(SAMPLES, AS_IT_IS) + noise
    changed = as_is + damage + np.where(shows, moved, 0.0) + noise[::-1] / 4
    values = np.stack([as_is, changed, as_is + damage], axis=1)
    pairs: Any = [
        SimpleNamespace(
            control=not shown,
            case=SimpleNamespace(sample=SimpleNamespace(key=f"{row}", group=None)),
        )
        for row, shown in enumerate(shows)
    ]
    plugin: Any = SimpleNamespace(
        needs=needs, changes=None, effect="removes", placebo="elsewhere"
    )
    return Arm(
        of, spec, plugin, answers=Answers(pairs, (), values, (values > 0.5) * 1.0, {})
    )


def experiment(*arms: Arm, pairs: str | None = None) -> Experiment:
    options = SimpleNamespace(least=10, pairs=pairs, margin=0.1, confidence=0.95)
    audit = SimpleNamespace(
        spare=lambda *_: nullcontext(),
        context=SimpleNamespace(progress=lambda *_: nullcontext(lambda _: None)),
    )
    study: Any = SimpleNamespace(
        options=options, audit=audit, rng=lambda *_: np.random.default_rng(0)
    )
    return Experiment(study, [arms[0].target], arms)


def found(of: Experiment, beside: PrognosticGap | None = None) -> DoseResponse | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "gap_as_they_are", lambda *_: beside)
        [row] = measure(of).rows
    return row.posterior


@pytest.fixture(autouse=True)
def doses(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The share of the cue that each intervention takes, as pictures show; none for others."""
    taken: dict[str, float] = {}

    def left(_: Any, of: Arm, most: int) -> np.ndarray | None:
        if of.spec not in taken:
            return None
        return np.tile([1 - taken[of.spec], 1.0], (SAMPLES, 1))

    monkeypatch.setattr(recognised, "share_left", left)
    return taken


def test_half_of_a_cue_does_half_and_damage_is_none(doses: dict[str, float]) -> None:
    doses |= {"blank": 1.0, "blur": 0.5}
    cue = target()
    both = arm(cue, "blank", 0.3, damage=-0.2), arm(cue, "blur", 0.15)
    told = found(experiment(*both))
    assert told is not None
    assert told.effect.value == pytest.approx(0.3, abs=0.05)
    assert told.above(0.1) > 0.9
    # of the samples half show the cue, so it does twice as much to each of them
    half = target(purity=0.5)
    impure = arm(half, "blank", 0.15, damage=-0.2), arm(half, "blur", 0.075)
    diluted = found(experiment(*impure))
    assert diluted is not None
    assert diluted.effect.value == pytest.approx(0.3, abs=0.08)


def test_damage_alone_is_no_cause(doses: dict[str, float]) -> None:
    doses |= {"blank": 1.0, "blur": 1.0}
    cue = target()
    told = found(experiment(arm(cue, "blank", 0.0, 0.4), arm(cue, "blur", 0.0, 0.3)))
    assert told is not None
    assert told.above(0.1) < 0.2


def test_what_has_no_dose_tells_nothing_beside_what_has(
    doses: dict[str, float],
) -> None:
    cue = target()
    seen = arm(cue, "blank", 0.0)
    edit = arm(cue, "erase", 0.5, needs="inside")
    alone = found(experiment(edit))
    assert alone is not None
    assert alone.effect.value > 0.2
    doses["blank"] = 1.0
    beside, without = found(experiment(seen, edit)), found(experiment(seen))
    assert beside is not None
    assert without is not None
    assert beside.effect == without.effect


def test_pairs_of_the_users_own_do_nothing_beside_the_cue() -> None:
    pair = arm(target(), "pairs", 0.3, needs="pair")
    widths = []
    for folder in ("scenes", None):
        told = found(experiment(pair, pairs=folder))
        assert told is not None
        widths.append(told.effect.high - told.effect.low)
    assert 3 * widths[0] < widths[1]


def test_unchanged_samples_are_a_row(doses: dict[str, float]) -> None:
    doses["blank"] = 0.3
    asked = experiment(arm(target(), "blank", 0.05))
    alike = Estimate(0.3, 0.25, 0.35)
    with_them = found(asked, PrognosticGap(alike, alike, 100))
    without = found(asked)
    assert with_them is not None
    assert without is not None
    assert with_them.above(0.1) > without.above(0.1)


@pytest.mark.parametrize(
    ("above", "told"),
    [
        ([0.96], ["cause"]),
        ([0.94], ["inconclusive"]),
        ([0.04], ["not a cause"]),
        ([None, 0.99], ["inconclusive", "cause"]),
        # each alone would be told: of both together more than .05 false ones are expected
        ([0.96, 0.97], ["inconclusive", "cause"]),
        ([0.99, 0.99, 0.02], ["cause", "cause", "not a cause"]),
    ],
)
def test_at_most_so_many_false_verdicts_are_expected(
    above: list[float | None], told: list[str]
) -> None:
    assert [verdict for verdict, _ in decide(above, 0.05)] == told


def test_with_each_verdict_stands_the_share_of_false_ones() -> None:
    errors = [error for _, error in decide([0.99, 0.97, 0.5, None], 0.05)]
    assert errors == [0.01, 0.02, 0.18, None]


def test_a_cause_costs_what_it_takes_where_it_is(doses: dict[str, float]) -> None:
    doses |= {"blank": 1.0, "blur": 1.0, "swap": 1.0, "mask": 1.0}
    cue = target()
    cue.located.places = {str(row): None for row in range(10)}
    cue.located.without = {str(row) for row in range(10, 40)}
    cue.samples = dict.fromkeys(map(str, range(40)))
    made = [arm(cue, spec, 0.5, needs=spec) for spec in doses]
    [row] = measure(experiment(*made)).rows
    assert row.verdict == "cause"
    assert row.lost is not None
    # answers are right from .5 on: half of those that show it, which are a quarter
    assert row.lost.low < 0.5 * 0.25 < row.lost.high
