"""Traces that are wrong on purpose, and random ones."""

import numpy as np
import pytest

from cuescope_sdk import Sample, generator
from cuescope_sdk.grounding import (
    SCENE,
    Action,
    Claim,
    SceneFrame,
    SceneVerifier,
    Thing,
)
from cuescope_step_grounding.verification.controls import (
    CHANGES,
    Maker,
    opposite_words,
    vocabulary,
)
from cuescope_step_grounding.verification.judged import judge_claims

CUPS = (
    Thing(id="red cup", name="cup", attributes=("red",), box=(2, 3, 8, 9)),
    Thing(id="blue cup", name="cup", attributes=("blue",), box=(20, 3, 26, 9)),
)
STILL = SceneFrame(things=CUPS, closed=frozenset({"things", "attributes"}))
MOVING = SceneFrame(
    things=CUPS,
    actions=(Action(subject="red cup", verb="move left"),),
    motion="turn left",
    closed=frozenset({"things", "attributes", "actions", "motion"}),
)
ROOM = Sample(key="a", frames=(), annotations={SCENE: (STILL, MOVING)})
LEFT = Claim(
    kind="relation",
    text="",
    subject="red cup",
    predicate="left of",
    object="blue cup",
    frames=(0,),
)
WORDS = vocabulary([ROOM], [LEFT])


def verdict(claim: Claim) -> str:
    return judge_claims(SceneVerifier(), [(ROOM, [claim])]).of(ROOM, claim).verdict


def test_words_are_the_datas_and_the_claims() -> None:
    assert WORDS.heads == ("cup",)
    assert WORDS.adjectives == ("blue", "red")
    assert WORDS.predicates["relation"] == ("left of",)
    assert WORDS.predicates["action"] == ("move left",)
    assert "turn right" in WORDS.predicates["ego-motion"]


def test_true_claims_become_false() -> None:
    claims = [
        LEFT,
        Claim(
            kind="action",
            text="",
            subject="red cup",
            predicate="move left",
            frames=(1,),
        ),
        Claim(kind="ego-motion", text="", predicate="turn left", frames=(1,)),
        Claim(kind="attribute", text="", subject="cup", predicate="red", frames=(0,)),
        Claim(kind="entity", text="", subject="green cup", negated=True, frames=(0,)),
    ]
    words = vocabulary(
        [ROOM], [*claims, Claim(kind="entity", text="", subject="green cup")]
    )
    rng = generator(0, "wrong")
    for claim in claims[:3]:
        assert verdict(claim) == "supported"
        wrong = Maker(words, 2, rng).counterfactual(claim, frozenset({"relations"}))
        assert verdict(wrong) == "unsupported"
    turned = [
        Maker(words, 2, rng).counterfactual(claims[3], frozenset({"entities"}))
        for _ in range(20)
    ]
    assert {claim.predicate for claim in turned} == {"blue", "green"}
    asserted = Maker(words, 2, rng).counterfactual(claims[4], frozenset({"entities"}))
    assert not asserted.negated


def test_each_change_touches_its_own() -> None:
    rng = generator(0, "own")
    inverted, swapped, late = (
        Maker(WORDS, 8, rng).counterfactual(LEFT, frozenset({change}))
        for change in CHANGES
    )
    assert (inverted.predicate, inverted.subject, inverted.frames) == (
        "right of",
        "red cup",
        (0,),
    )
    assert (swapped.predicate, swapped.subject, swapped.frames) == (
        "left of",
        "blue cup",
        (0,),
    )
    assert (late.predicate, late.subject, late.frames) == ("left of", "red cup", (7,))


def test_time_is_turned_round() -> None:
    parts = (LEFT, LEFT.model_copy(update={"frames": (2, 3)}))
    order = Claim(kind="temporal", text="", predicate="before", parts=parts)
    turned = Maker(WORDS, 4, generator(0)).counterfactual(order, frozenset({"time"}))
    assert turned.predicate == "after"
    assert [part.frames for part in turned.parts] == [(3,), (0, 1)]


def test_nearness_and_unknown_relations_are_inverted_too() -> None:
    near = LEFT.model_copy(update={"predicate": "near"})
    held = LEFT.model_copy(update={"predicate": "holding"})
    rng, change = generator(0), frozenset({"relations"})
    assert Maker(WORDS, 2, rng).counterfactual(near, change).predicate == "far from"  # type: ignore[arg-type]
    other = Maker(WORDS, 2, rng).counterfactual(held, change)  # type: ignore[arg-type]
    assert (other.subject, other.object) == ("blue cup", "red cup")


def test_words_of_a_step_are_turned_round() -> None:
    said = "Before it leaves, the cup is to the left of and above the bowl."
    assert opposite_words(said) == (
        "after it enters, the cup is to the right of and below the bowl."
    )
    assert opposite_words("A leftover uplift.") == "A leftover uplift."


def test_random_traces_have_the_shape_and_the_words() -> None:
    claims = [
        [LEFT, Claim(kind="entity", text="", subject="old red cup", negated=True)],
        [],
    ]
    words = vocabulary([ROOM], [])
    rng = generator(0, "random")
    for _ in range(20):
        (one, two), none = Maker(words, 5, rng).random_trace(claims)
        assert none == ()
        assert (one.kind, two.kind, two.negated, two.frames) == (
            "relation",
            "entity",
            False,
            None,
        )
        assert one.frames in [(f,) for f in range(5)]
        assert set(one.subject.split()) <= {"red", "blue", "cup"}
        assert len(two.subject.split()) == 3


def test_random_moments_are_even_and_of_the_same_length() -> None:
    claim = LEFT.model_copy(update={"frames": (3, 4)})
    rng = generator(0, "moments")
    drawn = [
        Maker(WORDS, 5, rng).random_trace([[claim]])[0][0].frames for _ in range(2000)
    ]
    assert set(drawn) == {(0, 1), (1, 2), (2, 3), (3, 4)}
    counts = np.unique([f[0] for f in drawn if f], return_counts=True)[1]
    assert counts == pytest.approx([500] * 4, abs=100)


def test_an_empty_vocabulary_leaves_words_as_they_are() -> None:
    nothing = vocabulary([], [])
    assert (
        Maker(nothing, 2, generator(0)).random_trace([[LEFT]])[0][0].subject
        == "red cup"
    )
