"""Answers to choices: what is meant, and with what log-probabilities."""

import json
from math import exp, log

import numpy as np
import pytest

from cuescope_openai.answers import (
    Answer,
    choice_by_letter,
    choice_by_words,
    choice_letters,
    choice_logits,
    read_answer,
)

BOATS = ("boat", "car", "arch")  # (A) arch (B) boat (C) car


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("B", 0),
        ("(B)", 0),
        ("B.", 0),
        ("**B**", 0),
        ("B) boat", 0),
        ("(C) a car", 1),
        ("A: arch", 2),
        ("The answer is (C).", 1),
        ("boat", 0),
        ("Boat.", 0),
        ("A\nbecause", 2),
        ("A green patch", None),
        ("(B) or (C)", None),
        ("B) is right, (C) is not", None),
        ("D", None),
        ("", None),
        ("I cannot tell", None),
        ("boats", None),
    ],
)
def test_letters_are_read(text: str, choice: int | None) -> None:
    assert choice_by_letter(text, BOATS) == choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Yes", 0),
        ("yes.", 0),
        ("**No**", 1),
        ("No, there is none", 1),
        ("Yes, there is", 0),
        ("Not that I know", None),
        ("I know", None),
        ("Nothing", None),
        ("", None),
        ("I cannot see it", None),
    ],
)
def test_words_are_read(text: str, choice: int | None) -> None:
    assert choice_by_words(text, ("yes", "no")) == choice


def test_the_longest_choice_is_meant() -> None:
    assert choice_by_words("moving east", ("moving", "moving east")) == 1


def test_letters_belong_to_choices_whatever_their_order() -> None:
    assert choice_letters(BOATS) == ["B", "C", "A"]
    assert choice_letters(BOATS[::-1]) == ["A", "C", "B"]


def test_letters_stand_in_the_given_order_where_that_is_asked_for() -> None:
    assert choice_letters(BOATS, "given") == ["A", "B", "C"]
    answer = Answer(text="B", first=(("B", log(0.9)), ("A", log(0.05))))
    logits = choice_logits(answer, BOATS, by_letter=True, order="given")
    assert logits is not None
    assert logits.argmax() == 1


def test_tokens_of_one_meaning_are_added_up() -> None:
    first = (
        ("Yes", log(0.4)),
        (" yes", log(0.2)),
        ("No", log(0.1)),
        ("Maybe", log(0.05)),
    )
    logits = choice_logits(
        Answer(text="Yes", first=first), ("no", "yes"), by_letter=False
    )
    assert logits is not None
    np.testing.assert_allclose(np.exp(logits), [0.1, 0.6], rtol=1e-5)


def test_a_choice_without_a_token_has_the_most_that_it_can_have() -> None:
    few = Answer(text="Yes", first=(("Yes", log(0.7)), ("Perhaps", log(0.2))))
    logits = choice_logits(few, ("yes", "no"), by_letter=False)
    assert logits is not None
    assert exp(logits[1]) == pytest.approx(0.1)  # what the others leave over
    many = Answer(text="Yes", first=(("Yes", log(0.5)), ("Perhaps", log(0.01))))
    logits = choice_logits(many, ("yes", "no"), by_letter=False)
    assert logits is not None
    assert exp(logits[1]) == pytest.approx(0.01)  # no more than the least that is told


def test_letters_are_scored_by_their_tokens() -> None:
    first = (("B", log(0.5)), (" C", log(0.3)), ("(C", log(0.1)), ("a", log(0.05)))
    logits = choice_logits(Answer(text="B", first=first), BOATS, by_letter=True)
    assert logits is not None
    # "a" is an article
    np.testing.assert_allclose(np.exp(logits), [0.5, 0.4, 0.05], rtol=1e-4)


def test_tokens_of_an_answer_that_begins_otherwise_are_not_read() -> None:
    first = (("The", log(0.9)), ("B", log(0.01)))
    logits = choice_logits(
        Answer(text="The answer is (C)", first=first), BOATS, by_letter=True
    )
    np.testing.assert_array_equal(logits, [-20.0, 0.0, -20.0])


def test_without_tokens_the_words_decide() -> None:
    logits = choice_logits(Answer(text="No, none."), ("yes", "no"), by_letter=False)
    np.testing.assert_array_equal(logits, [-20.0, 0.0])
    assert (
        choice_logits(Answer(text="I am not sure"), ("yes", "no"), by_letter=False)
        is None
    )


def test_impossible_tokens_stay_finite() -> None:
    first = (("Yes", 0.0), ("No", -9999.0))
    logits = choice_logits(
        Answer(text="Yes", first=first), ("yes", "no"), by_letter=False
    )
    np.testing.assert_array_equal(logits, [0.0, -20.0])


def test_the_first_word_is_read_off_a_completion() -> None:
    positions = [
        {
            "token": "**",
            "logprob": -0.1,
            "top_logprobs": [{"token": "**", "logprob": -0.1}],
        },
        {
            "token": "Yes",
            "logprob": -0.2,
            "top_logprobs": [
                {"token": "Yes", "logprob": -0.2},
                {"token": "No", "logprob": -2.0},
            ],
        },
        {"token": "**", "logprob": 0.0},
    ]
    choice = {"message": {"content": " **Yes** "}, "logprobs": {"content": positions}}
    answer = read_answer(json.dumps({"choices": [choice], "system_fingerprint": "fp"}))
    assert answer.text == "**Yes**"
    assert answer.first == (("Yes", -0.2), ("No", -2.0))
    assert answer.system_fingerprint == "fp"


def test_a_refusal_is_an_answer() -> None:
    message = {"content": None, "refusal": "I can't help with that."}
    answer = read_answer(json.dumps({"choices": [{"message": message}]}))
    assert answer.text == "I can't help with that."
    assert choice_logits(answer, ("yes", "no"), by_letter=False) is None


@pytest.mark.parametrize(
    "body", ['{"choices": []}', '{"error": 1}', "<html>", '{"choices": [', ""]
)
def test_what_is_no_completion_is_told(body: str) -> None:
    with pytest.raises(ValueError, match=r"choices|JSON"):
        read_answer(body)
