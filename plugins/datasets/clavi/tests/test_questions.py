"""The list of appendix B.3, word for word, and the choice of negative controls."""

from collections import Counter

import numpy as np
import pytest

from cuescope_clavi.questions import (
    complement,
    draw_one,
    negative_controls,
    segment_questions,
    word_parts,
)

# Table 2 and appendix B.3 of the paper: "holding clothes" comes before "taking food".
PAPER = {
    "Was someone holding clothes?": "yes",
    "Was someone taking food?": "yes",
    "Was someone washing mirror?": "no",
    "Was the person holding clothes at the beginning?": "yes",
    "Was the person holding clothes at the end?": "no",
    "Was the person taking food at the end?": "yes",
    "Was the person taking food at the beginning?": "no",
    "Did holding clothes happen before taking food?": "yes",
    "Did holding clothes happen after taking food?": "no",
    "Did taking food happen after holding clothes?": "yes",
    "Did taking food happen before holding clothes?": "no",
} | {
    f"Did {one} happen {word} {other}?": "no"
    for action in ("holding clothes", "taking food")
    for one, other in ((action, "washing mirror"), ("washing mirror", action))
    for word in ("before", "after")
}
ASKED = segment_questions("holding clothes", "taking food", "washing mirror")


def test_the_questions_are_those_of_the_paper() -> None:
    assert len(ASKED) == 19
    assert {q.text: q.answer(complement=False) for q in ASKED} == PAPER
    assert Counter(q.kind for q in ASKED) == {
        "E": 2,
        "E-NC": 1,
        "BE": 4,
        "BA": 4,
        "BA-NC": 8,
    }


def test_the_complement_video_turns_the_order_and_nothing_else() -> None:
    for question in ASKED:
        same = question.answer(complement=False) == question.answer(complement=True)
        assert same == (question.kind not in ("BE", "BA"))
    swapped = segment_questions("taking food", "holding clothes", "washing mirror")
    assert {q.text: q.answer(complement=True) for q in ASKED} == {
        q.text: q.answer(complement=False) for q in swapped
    }
    for shown in (False, True):
        assert Counter(q.answer(shown) for q in ASKED) == {"yes": 6, "no": 13}


def test_complement_questions_are_among_the_questions_and_answered_the_other_way() -> (
    None
):
    by_text = {q.text: q for q in ASKED}
    for question in ASKED:
        other = complement(question.text)
        if question.kind in ("E", "E-NC"):
            assert other is None
            continue
        assert other is not None
        assert complement(other) == question.text
        assert by_text[other].kind == question.kind
        flips = by_text[other].original != question.original
        assert flips == (question.kind in ("BE", "BA"))


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        (
            "Did looking after a child happen before eating?",
            "Did looking after a child happen after eating?",
        ),
        (
            "Was the person reaching the end at the end?",
            "Was the person reaching the end at the beginning?",
        ),
        ("Was someone tidying up at the end of a day?", None),
    ],
)
def test_only_the_word_of_time_is_turned(asked: str, other: str | None) -> None:
    assert complement(asked) == other


def test_a_negative_control_has_no_object_and_no_verb_of_the_video() -> None:
    parts = {
        "holding clothes": frozenset({"clothes", "hold"}),
        "taking food": frozenset({"food", "take"}),
        "holding a bag": frozenset({"bag", "hold"}),
        "washing clothes": frozenset({"clothes", "wash"}),
        "washing a mirror": frozenset({"mirror", "wash"}),
        "opening a door": frozenset({"door", "open"}),
    }
    found = negative_controls(("holding clothes", "taking food"), parts)
    assert found == ("washing a mirror", "opening a door")
    picks = {draw_one(found, np.random.default_rng(seed)) for seed in range(20)}
    assert picks == set(found)
    assert negative_controls(tuple(parts), parts) == ()
    assert draw_one((), np.random.default_rng(0)) is None


def test_words_stand_in_for_object_and_verb() -> None:
    parts = word_parts(
        ("Holding some clothes", "putting clothes somewhere", "opening a door")
    )
    assert parts["Holding some clothes"] == {"holding", "clothes"}
    assert negative_controls(("putting clothes somewhere",), parts) == (
        "opening a door",
    )


def test_a_word_that_every_action_has_tells_nothing() -> None:
    parts = word_parts(("moving west", "moving east", "moving north"))
    assert negative_controls(("moving west", "moving east"), parts) == ("moving north",)
