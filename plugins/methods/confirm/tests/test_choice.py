"""Which interventions are asked about: those that tell most of the effect, told by doses alone."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from cuescope_confirm.experiment import choice
from cuescope_confirm.experiment.arms import Answers, Arm
from cuescope_confirm.experiment.choice import LEFT_OUT, MOST, NO_DOSE, choose, error_of
from cuescope_confirm.experiment.doses import Dose

STUDY: Any = SimpleNamespace(audit=SimpleNamespace(spare=lambda *_: nullcontext()))


def arm(spec: str, needs: str = "region", changes: str | None = None) -> Arm:
    pair: Any = SimpleNamespace(control=False)
    nothing: Any = (None, None, None)
    plugin: Any = SimpleNamespace(needs=needs, changes=changes, effect="removes")
    target: Any = SimpleNamespace()
    answers = Answers.unknown([pair] * 20, [nothing] * 20)
    return Arm(target, spec, plugin, answers=answers)


def chosen(
    arms: dict[Arm, float | None], patch: pytest.MonkeyPatch
) -> dict[str, str | None]:
    """By what each is called, why it is not asked about, where pictures show these doses."""

    def dose(_: Any, of: Arm) -> Dose | None:
        share = arms[of]
        return None if share is None else Dose(share, 0.1)

    patch.setattr(choice, "first_dose", dose)
    return {one.spec: one.reason for one in choose(STUDY, list(arms))}


def test_much_of_the_cue_and_little_of_it_tell_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What changes little of it tells what all of its kind do beside the cue."""
    arms: dict[Arm, float | None] = {arm(f"{n}"): n / 20 for n in range(1, 16)}
    reasons = chosen(arms, monkeypatch)
    asked = {spec for spec, reason in reasons.items() if reason is None}
    assert len(asked) == MOST
    assert {"1", "13", "14", "15"} <= asked
    assert "7" not in asked
    assert set(reasons.values()) == {None, LEFT_OUT}


def test_one_of_another_kind_tells_more_than_one_more_of_the_same() -> None:
    same = [arm(name) for name in ("blank", "blur", "noise")]
    other = arm("match-light", "still", "light")
    doses = dict.fromkeys([*same, other], Dose(0.9, 0.1))
    assert error_of([*same[:2], other], doses) < error_of(same, doses)
    # and does, as far as it changes the cue
    doses[other] = Dose(0.05, 0.1)
    assert error_of([*same[:2], other], doses) > error_of(same, doses)


def test_what_has_no_dose_is_asked_about_where_nothing_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, unseen = arm("blank"), arm("erase", "inside")
    assert chosen({seen: 0.8, unseen: None}, monkeypatch)["erase"] == NO_DOSE
    assert chosen({unseen: None}, monkeypatch)["erase"] is None
