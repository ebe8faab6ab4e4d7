"""When an open answer is right."""

import pytest

from cuescope_quag.answers import is_correct
from cuescope_quag.open_answers import agrees, normalised
from cuescope_sdk import Outcome, Response, Sample, Trial


def said(text: str | None, **about: object) -> Outcome:
    sample = Sample(key="s", frames=(), question="?", label="The Left one", annotations=about)
    return Outcome(Trial(sample=sample), Response(text=text))


@pytest.mark.parametrize(
    "text", ["the left one", " The left, one. ", "THE  LEFT ONE!", "left 1", "A left one. It is."]
)
def test_what_means_nothing_is_dropped(text: str) -> None:
    assert is_correct(said(text))


def test_other_accepted_answers_count_and_other_words_do_not() -> None:
    assert is_correct(said("west", answers=("West.", "left")))
    assert not is_correct(said("west"))
    assert not is_correct(said("left"))
    assert not is_correct(said("It is the left one."))
    assert not is_correct(said(None))
    assert not is_correct(said("?!", answers=("...",)))  # nothing was said


@pytest.mark.parametrize(
    ("answer", "expected"),
    [  # by the rules of the VQA evaluation, by hand
        ("A dog", "dog"),
        ("two, or three?", "2 or 3"),
        ("None", "0"),
        ("1,000.50 euros", "1000.50 euros"),
        ("U.S. flag.", "us flag"),
        ("don't", "dont"),
        ("red/blue t-shirt", "red blue t shirt"),
        ("the", "the"),
        ("A", "a"),
        ("\u00bfQu\u00e9?", "qu\u00e9"),
        ("\u0915\u093f", "\u0915\u093f"),  # a vowel sign is no punctuation
    ],
)
def test_normalisation(answer: str, expected: str) -> None:
    assert normalised(answer) == expected


@pytest.mark.parametrize(
    ("given", "accepted", "right"),
    [
        ("Yes, it is.", ("yes",), True),
        ("No, it is not", ("no",), True),
        ("No, yes", ("yes",), False),
        ("Yes, it is.", ("yes", "maybe"), False),  # not a question of yes or no
        ("Cooking. He stands in a kitchen.", ("cooking",), True),
        ("He is cooking. Yes.", ("cooking",), False),
        ("cooking\nQuestion: and then", ("cooking",), True),
        ("", ("yes",), False),
    ],
)
def test_the_first_word_or_sentence_answers(
    given: str, accepted: tuple[str, ...], right: bool
) -> None:
    assert agrees(given, accepted) == right
