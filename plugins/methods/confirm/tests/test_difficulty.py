"""Whether wrong answers that come with a cue are one answer, or many."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.asking import Direction, answers_of
from cuescope_confirm.companions.difficulty import Drawn, drawn_answer
from cuescope_confirm.companions.unnamed import AsTheyAre
from cuescope_confirm.scores import Ruling
from cuescope_confirm.study import Cue
from cuescope_confirm.verdicts.rulings import by_embedding_alone
from cuescope_confirm.verdicts.sentences import answer_drawn
from cuescope_confirm.verdicts.undecided import HARD_TO_SEE, own_look
from cuescope_confirm.verify import difficulty_check
from cuescope_sdk import Feature, Outcome, Response, Sample, Trial
from cuescope_sdk.statistics import Estimate

CHOICES = ("cup", "fork", "knife", "plate", "spoon")
COUNT = 200
MARGIN = 0.1
FEATURE = Feature(key="cluster-00", kind="cluster")


def answered(choices: tuple[str, ...], drawn_to: str | None) -> Any:
    """Every second sample shows the cue, and is answered wrongly in half of the cases."""
    rng = np.random.default_rng(0)
    outcomes = []
    shows = []
    for number in range(COUNT):
        label = choices[number % len(choices)]
        is_shown = bool(rng.random() < 0.5)
        given = label
        if is_shown and rng.random() < 0.5:
            others = [choice for choice in choices if choice != label]
            given = drawn_to or str(rng.choice(others))
        logits = np.array([4.0 * (choice == given) for choice in choices], np.float32)
        sample = Sample(key=str(number), frames=(), choices=choices, label=label)
        outcomes.append(Outcome(Trial(sample=sample), Response(logits=logits)))
        shows.append(is_shown)
    return outcomes, shows


def ask(
    *,
    choices: tuple[str, ...] = CHOICES,
    drawn_to: str | None = None,
    direction: Direction | None = None,
) -> Drawn | None:
    cue = Cue(FEATURE, "blue mark")
    outcomes, shows = answered(choices, drawn_to)
    answers = answers_of(cue, outcomes, shows)
    # pictures that tell nothing of the answers
    looks = np.random.default_rng(1).normal(size=(COUNT, 3))
    plain = AsTheyAre(answers, looks, np.ones(COUNT, bool))
    target: Any = SimpleNamespace(
        cue=cue, direction=direction or Direction(gap=-0.4, z=-5.0)
    )
    study: Any = SimpleNamespace(rng=lambda *_: np.random.default_rng(2))
    return drawn_answer(study, target, plain)


def test_a_cue_stands_for_one_answer() -> None:
    drawn = ask(drawn_to="fork")
    assert drawn is not None
    assert drawn.answer == "fork"
    assert drawn.share > 0.9
    assert drawn.is_one
    assert drawn.alike is not None
    assert drawn.alike.low < 0.34 < drawn.alike.high
    assert drawn.stands_out(MARGIN)


def test_what_is_hard_to_see_is_taken_for_many() -> None:
    drawn = ask()
    assert drawn is not None
    assert drawn.many == 4
    assert drawn.share < 0.5
    assert not drawn.is_one
    # each of four is likelier by ten points, and none by more than the others
    assert drawn.alike is not None
    assert drawn.alike.value > MARGIN
    assert not replace(drawn, alike=Estimate(0.11, 0.1, 0.12)).stands_out(MARGIN)


@pytest.mark.parametrize(
    "given",
    [
        # of two wrong answers one always has half
        {"choices": CHOICES[:3]},
        {"direction": Direction("the label", sign=-1)},
        {"direction": Direction(sign=-1)},
    ],
)
def test_where_nothing_can_be_told_nothing_is_said(
    given: Any,
) -> None:
    assert ask(**given) is None


@pytest.mark.parametrize(
    ("share", "alike", "is_one"),
    [(0.9, None, True), (0.3, None, False), (0.5, Estimate(0.2, 0.15, 0.25), True)],
)
def test_a_report_says_which_answer_a_cause_brings_or_doubts_it(
    share: float, alike: Estimate[float] | None, is_one: bool
) -> None:
    drawn = Drawn("fork", share, 4, 80, alike)
    ruling = Ruling("causes", inside=True)
    cue = Cue(FEATURE, "blue mark")
    row: Any = SimpleNamespace(
        drawn=drawn,
        ruling=ruling,
        draws_answers=False,
        target=SimpleNamespace(cue=cue, located=None),
    )
    options: Any = SimpleNamespace(margin=MARGIN)
    study = SimpleNamespace(options=options)
    results: Any = SimpleNamespace(name_of=lambda _: cue.name, study=study)
    check = difficulty_check(results, row, drawn)
    assert (check.verdict, check.doubt is None) == (
        ("supported", True) if is_one else ("inconclusive", False)
    )
    assert any("'fork'" in words for words in answer_drawn(row, options)) is is_one
    assert by_embedding_alone(row, MARGIN) == (None if is_one else HARD_TO_SEE)
    # a change of pictures decides: what is hard to see is a cause, in doubt
    row.ruling = Ruling("causes", necessary=True)
    assert by_embedding_alone(row, MARGIN) is None


@pytest.mark.parametrize("draws_answers", [True, False])
@pytest.mark.parametrize(("own", "is_look"), [(0.6, True), (0.1, False)])
def test_what_a_label_looks_like_is_no_cause_by_the_embedding_alone(
    own: float, is_look: bool, draws_answers: bool
) -> None:
    """Of other labels one sample in ten shows it; of the answer's own as many, or most."""
    samples = {}
    places = set()
    for number in range(COUNT):
        key, label = str(number), CHOICES[number % len(CHOICES)]
        samples[key] = Sample(key=key, frames=(), choices=CHOICES, label=label)
        if number % 100 < 100 * (own if label == "fork" else 0.1):
            places.add(key)
    located = SimpleNamespace(places=places, without=samples.keys() - places)
    cue = Cue(FEATURE, "blue mark", ("fork",) if draws_answers else ("cup",))
    row: Any = SimpleNamespace(
        drawn=None if draws_answers else Drawn("fork", 0.9, 4, 80),
        ruling=Ruling("causes", inside=True),
        draws_answers=draws_answers,
        target=SimpleNamespace(cue=cue, located=located, samples=samples),
    )
    assert by_embedding_alone(row, MARGIN) == (own_look("fork") if is_look else None)
    row.ruling = Ruling("causes", necessary=True)
    assert by_embedding_alone(row, MARGIN) is None
