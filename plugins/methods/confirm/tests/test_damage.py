"""A placebo that moves answers by itself makes no witness: another of its kind is asked about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import looks, trials
from cuescope_confirm.analysis import _tested
from cuescope_confirm.asking import Direction
from cuescope_confirm.locating import Target
from cuescope_confirm.looks import FEW, ask_in_looks
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.testimony.effects import does_damage, harm_of, placebo_moves
from cuescope_confirm.testimony.votes import ENOUGH
from cuescope_confirm.testimony.witnesses import CHANGED, Answers, Dossier, Witness
from cuescope_confirm.trials import SEEN
from cuescope_sdk import Context, Sample

LOCATED: Any = SimpleNamespace(is_sure=True, area=0.1)
CUE: Any = SimpleNamespace(feature=SimpleNamespace(key="lamp"))
STUDY: Any = SimpleNamespace(options=SimpleNamespace(margin=0.1))


def witness(as_is: float, changed: float, placebo: float) -> Witness:
    """Of 20 samples with the cue, and of 10 without it, in which nothing moves."""
    values = np.tile([as_is, changed, placebo], (20, 1))
    values = np.concatenate([values, np.full((10, 3), 0.9)])
    pairs: Any = [SimpleNamespace(control=row >= 20) for row in range(30)]
    target: Any = SimpleNamespace(direction=SimpleNamespace(sign=1))
    plugin: Any = SimpleNamespace(effect="removes")
    answers = Answers(pairs, (), values, values, {})
    return Witness(target, "blank", plugin, answers=answers)


@pytest.mark.parametrize(
    ("changed", "placebo", "is_damage"),
    [
        (0.80, 0.55, False),  # less than the margin
        (0.55, 0.35, True),  # more than a third of what is beyond it
        (0.95, 0.48, False),  # little beside the effect
        (0.50, 0.75, True),  # whichever way it moves them
    ],
)
def test_a_placebo_that_moves_answers_makes_no_witness(
    changed: float, placebo: float, *, is_damage: bool
) -> None:
    asked = witness(0.6, changed, placebo)
    assert placebo_moves(asked) == pytest.approx(placebo - 0.6)
    assert does_damage(STUDY, asked) is is_damage


@pytest.mark.parametrize(
    ("effect", "elsewhere", "controls", "is_harm"),
    [
        (0.2, 0.0, 30, False),
        (-0.1, -0.25, 30, True),  # a place that holds the thing
        (-0.1, -0.25, 9, False),  # too few to say so
        (0.2, -0.09, 100, False),  # less than the margin
        (0.4, -0.13, 100, False),  # little beside the effect
        (0.2, 0.25, 30, True),  # what looks like the cue does the same
    ],
)
def test_what_moves_answers_where_the_cue_is_not_is_no_witness(
    effect: float, elsewhere: float, controls: int, *, is_harm: bool
) -> None:
    rng = np.random.default_rng(0)
    shows = np.arange(40 + controls) < 40
    beyond = np.where(shows, effect, elsewhere) + rng.normal(0, 0.02, len(shows))
    values = np.stack([np.full(len(shows), 0.5)] * 3, axis=1)
    values[:, CHANGED] += beyond
    pairs: Any = [
        SimpleNamespace(
            control=not shown,
            case=SimpleNamespace(sample=Sample(key=str(row), frames=())),
        )
        for row, shown in enumerate(shows)
    ]
    target = Target(CUE, Direction(), {}, LOCATED)
    plugin: Any = SimpleNamespace(needs="region", effect="removes", placebo="elsewhere")
    answers = Answers(pairs, (), values, values, {})
    study: Any = SimpleNamespace(options=ConfirmOptions(run="."))
    reason = harm_of(study, Witness(target, "heal", plugin, answers=answers))
    assert (reason is not None) is is_harm
    assert reason is None or reason.startswith("where the cue is not, it moves answers")


def test_the_first_pairs_are_of_both_sides() -> None:
    pairs: Any = [SimpleNamespace(control=row % 3 == 0) for row in range(30)]
    trials: Any = [(None, None, None)] * 30
    first = Answers.unknown(pairs, trials).first(4)
    assert first.with_cue.tolist() == [False, True, True] * 2 + [False, False]


COUNT = 50  # pairs of a witness, with `looks=1`


class Ward:
    """A finding with changes of one kind, whose placebos move answers by so much alone."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        damages: Mapping[str, float],
        **options: Any,
    ) -> None:
        self.damages = damages
        self.asked: list[dict[str, int]] = []
        self.target = Target(CUE, Direction(), {}, LOCATED)
        audit: Any = SimpleNamespace(
            context=Context(),
            more_trials=0,
            once=lambda function, *given: function(*given),
            expect_more=lambda *_: None,
        )
        chosen = ConfirmOptions.model_validate({"run": ".", "looks": 1, **options})
        study: Any = SimpleNamespace(audit=audit, options=chosen)
        best, *others = map(self.witness, damages)
        witnesses = [replace(best, instead=tuple(others))]
        witnesses += [other.unasked("best changes as much") for other in others]
        self.dossier = Dossier(study, [self.target], witnesses)
        monkeypatch.setattr(looks, "ask", self._ask)
        monkeypatch.setattr(looks, "with_answers", self.answer)
        monkeypatch.setattr(looks, "slots", lambda _: ())
        nothing = SimpleNamespace(rows=[], study=study)
        monkeypatch.setattr(looks, "measure", lambda _: nothing)

    def witness(self, spec: str) -> Witness:
        plugin: Any = SimpleNamespace(
            needs="region", effect="removes", placebo="elsewhere"
        )
        pair: Any = SimpleNamespace(control=False)
        trials: Any = [(None, None, None)] * COUNT
        answers = Answers.unknown([pair] * COUNT, trials)
        return Witness(self.target, spec, plugin, answers=answers)

    def _ask(self, dossier: Dossier) -> tuple[Dossier, Sequence[Any]]:
        counts = {one.spec: len(one.answers.pairs) for one in dossier.witnesses}
        self.asked.append({spec: count for spec, count in counts.items() if count})
        return dossier, ()

    def answer(self, dossier: Dossier, _: Sequence[Any]) -> Dossier:
        witnesses = []
        for asked in dossier.witnesses:
            values = np.tile(
                [0.5, 0.6, 0.5 - self.damages.get(asked.spec, 0.0)], (COUNT, 1)
            )
            answers = replace(asked.answers, values=values[: len(asked.answers.pairs)])
            witnesses.append(replace(asked, answers=answers))
        return replace(dossier, witnesses=witnesses)


@pytest.mark.parametrize(
    ("damages", "asked"),
    [
        ({"heal": 0.02, "blur": 0.0}, ["heal"]),
        ({"heal": 0.15, "blur": 0.02}, ["heal", "blur"]),
        ({"heal": 0.15, "blur": 0.4, "blank": 0.0}, ["heal", "blur", "blank"]),
        # the last is not tried before: nothing would be asked about in its place
        ({"heal": 0.15, "blur": 0.4, "blank": 0.2}, ["heal", "blur", "blank"]),
    ],
)
def test_what_does_damage_gives_way_to_the_next_of_its_kind(
    monkeypatch: pytest.MonkeyPatch, damages: Mapping[str, float], asked: list[str]
) -> None:
    ward = Ward(monkeypatch, damages)
    dossier, _ = ask_in_looks(ward.dossier)
    *tried, whole = ward.asked
    *_, last = asked
    assert whole == {last: COUNT}
    assert tried == [{spec: FEW} for spec in asked[: len(tried)]]
    reasons = {witness.spec: witness.reason for witness in dossier.witnesses}
    assert reasons[last] is None
    for spec in asked[:-1]:
        moved = f"{-100 * damages[spec]:.0f}".replace("-", "−")
        assert reasons[spec] == f"its placebo alone moves answers ({moved} points)"


@pytest.mark.parametrize(
    ("reason", "damage", "asked"),
    [
        # all that pictures offer does damage: the embedding in its place
        (SEEN, 0.2, {"erase": COUNT}),
        (SEEN, 0.02, {"blur": COUNT}),
        # one of the kinds that were enough does: what changes a part beside it
        (ENOUGH, 0.2, {"blur": COUNT, "erase": COUNT}),
        (ENOUGH, 0.02, {"blur": COUNT}),
    ],
)
def test_what_seemed_needless_is_asked_where_others_do_damage(
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
    damage: float,
    asked: Mapping[str, int],
) -> None:
    ward = Ward(monkeypatch, {"heal": 0.15, "blur": damage})
    erase = ward.witness("erase")
    witnesses = [*ward.dossier.witnesses, erase.unasked(reason)]
    monkeypatch.setattr(trials, "_witnesses", lambda *_: [erase])
    ask_in_looks(replace(ward.dossier, witnesses=witnesses))
    # where something was left out, the last of a kind is tried too
    assert ward.asked == [{"heal": FEW}, {"blur": FEW}, asked]


def test_within_a_budget_nothing_is_asked_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ward = Ward(monkeypatch, {"heal": 0.4, "blur": 0.0}, max_calls=500)
    ask_in_looks(ward.dossier)
    assert ward.asked == [{"heal": COUNT}]


def test_a_plan_counts_what_may_be_asked_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ward = Ward(monkeypatch, {"heal": 0.4, "blur": 0.0, "blank": 0.0})
    audit = ward.dossier.study.audit
    monkeypatch.setattr(audit, "context", SimpleNamespace(planning=True))
    ask_in_looks(ward.dossier)
    assert ward.asked == [{"heal": COUNT, "blur": FEW, "blank": FEW}]


def test_a_witness_that_does_damage_is_not_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ward = Ward(monkeypatch, {"heal": 0.05, "blur": 0.4})
    witnesses = list(map(ward.witness, ("heal", "blur")))
    dossier = ward.answer(replace(ward.dossier, witnesses=witnesses), ())
    [heard] = _tested(dossier)[ward.target]
    assert heard.spec == "heal"
