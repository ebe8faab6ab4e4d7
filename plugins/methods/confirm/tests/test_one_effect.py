"""The dose-response model of a cue's rows: planted effects, doses and damage."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.testimony import one_effect
from cuescope_confirm.testimony.one_effect import posterior_of
from cuescope_confirm.testimony.witnesses import Answers, Dossier, Witness
from cuescope_confirm.verdicts.row import Row
from cuescope_sdk.statistics import DoseResponse, Estimate, PrognosticGap

SAMPLES = 60
AS_IT_IS = 0.4


def target(purity: float = 1.0) -> Any:
    return SimpleNamespace(
        direction=SimpleNamespace(sign=1),
        located=SimpleNamespace(purity=purity),
        placebos={},
        cue=SimpleNamespace(id="red"),
    )


def witness(
    of: Any, spec: str, moved: float, damage: float = 0.0, needs: str = "region"
) -> Witness:
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
    return Witness(
        of, spec, plugin, answers=Answers(pairs, (), values, (values > 0.5) * 1.0, {})
    )


def dossier(*witnesses: Witness, pairs: str | None = None) -> Dossier:
    options = SimpleNamespace(least=10, pairs=pairs)
    study: Any = SimpleNamespace(
        options=options, rng=lambda *_: np.random.default_rng(0)
    )
    return Dossier(study, [witnesses[0].target], witnesses)


def found(of: Dossier, beside: PrognosticGap | None = None) -> DoseResponse | None:
    return posterior_of(of, Row(of.targets[0], (), (), (), beside=beside))


@pytest.fixture(autouse=True)
def doses(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The share of the cue that each intervention takes, as pictures show; none for others."""
    taken: dict[str, float] = {}

    def left(_: Any, of: Witness) -> np.ndarray | None:
        if of.spec not in taken:
            return None
        return np.tile([1 - taken[of.spec], 1.0], (SAMPLES, 1))

    monkeypatch.setattr(one_effect, "share_left", left)
    return taken


def test_half_of_a_cue_does_half_and_damage_is_none(doses: dict[str, float]) -> None:
    doses |= {"blank": 1.0, "blur": 0.5}
    cue = target()
    both = witness(cue, "blank", 0.3, damage=-0.2), witness(cue, "blur", 0.15)
    told = found(dossier(*both))
    assert told is not None
    assert told.effect.value == pytest.approx(0.3, abs=0.05)
    assert told.above(0.1) > 0.9
    # of the samples half show the cue, so it does twice as much to each of them
    half = target(purity=0.5)
    impure = witness(half, "blank", 0.15, damage=-0.2), witness(half, "blur", 0.075)
    diluted = found(dossier(*impure))
    assert diluted is not None
    assert diluted.effect.value == pytest.approx(0.3, abs=0.08)


def test_damage_alone_is_no_cause(doses: dict[str, float]) -> None:
    doses |= {"blank": 1.0, "blur": 1.0}
    cue = target()
    told = found(
        dossier(witness(cue, "blank", 0.0, 0.4), witness(cue, "blur", 0.0, 0.3))
    )
    assert told is not None
    assert told.above(0.1) < 0.2


def test_what_has_no_dose_tells_nothing_beside_what_has(
    doses: dict[str, float],
) -> None:
    cue = target()
    seen = witness(cue, "blank", 0.0)
    edit = witness(cue, "erase", 0.5, needs="inside")
    frozen = witness(cue, "freeze", 0.5, needs="frames")
    alone = found(dossier(edit))
    assert alone is not None
    assert alone.effect.value > 0.2
    doses["blank"] = 1.0
    beside, without = found(dossier(seen, edit, frozen)), found(dossier(seen))
    assert beside is not None
    assert without is not None
    assert beside.effect == without.effect
    assert found(dossier(frozen)) is None


def test_pairs_of_the_users_own_do_nothing_beside_the_cue() -> None:
    pair = witness(target(), "pairs", 0.3, needs="pair")
    widths = []
    for folder in ("scenes", None):
        told = found(dossier(pair, pairs=folder))
        assert told is not None
        widths.append(told.effect.high - told.effect.low)
    assert 3 * widths[0] < widths[1]


def test_unchanged_samples_are_a_row(doses: dict[str, float]) -> None:
    doses["blank"] = 0.3
    asked = dossier(witness(target(), "blank", 0.05))
    alike = Estimate(0.3, 0.25, 0.35)
    with_them = found(asked, PrognosticGap(alike, alike))
    without = found(asked)
    assert with_them is not None
    assert without is not None
    assert with_them.above(0.1) > without.above(0.1)
