"""How the object is named, how answers are read, and what counts as the same question."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuescope_sdk import HideTokens, Outcome, Response, Sample, Trial
from cuescope_spurlens.asking import (
    WORDINGS,
    heard,
    key_of,
    questions,
    said,
    trial,
    unique,
    with_article,
    yes_rates,
)

SAMPLE = Sample(key="a", frames=())


def outcome(text: str | None = None, logits: list[float] | None = None) -> Outcome:
    asked = trial(SAMPLE, "Is it?", "text", condition="recognition")
    return Outcome(asked, Response(text=text, logits=None if logits is None else np.array(logits)))


@pytest.mark.parametrize(
    ("noun", "named"),
    [
        ("cup", "a cup"), ("apple", "an apple"), ("oven", "an oven"), ("unicycle", "a unicycle"),
        ("umbrella", "an umbrella"), ("uniform", "a uniform"), ("hourglass", "an hourglass"),
        ("bus", "a bus"), ("scissors", "scissors"), ("skis", "skis"), ("glass", "a glass"),
        ("tennis racket", "a tennis racket"), ("iris", "an iris"), ("cactus", "a cactus"),
    ],
)  # fmt: skip
def test_article(noun: str, named: str) -> None:
    assert with_article(noun) == named


def test_three_questions_name_the_object() -> None:
    asks = questions(WORDINGS, "oven")
    assert len(set(asks)) == 3
    assert all("an oven" in ask and "{" not in ask for ask in asks)


def test_nothing_known_of_the_image_goes_with_the_question() -> None:
    known = Sample(
        key="a", frames=(), choices=("cup", "lamp"), label="cup", annotations={"objects": ("cup",)}
    )
    asked = trial(known, "Is it?", "text", condition="recognition").sample
    assert (asked.choices, asked.label, asked.annotations) == (("yes", "no"), None, {})


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Yes.", True), ("**No**", False), ("yes, there is", True), ("NO, I cannot see.", False),
        ("Oui.", True), ("Nein, das ist keine Tasse.", False), ("はい、あります。", True),
        ("There is a cup.", None), ("", None), (None, None), ("I know nothing.", None),
        ("Cannot say.", None), ("Yes or no?", None), ("A cup stands here.\n\nAnswer: No", False),
    ],
)  # fmt: skip
def test_what_is_said(text: str | None, meant: bool | None) -> None:
    assert said(outcome(text)) is meant


def test_logits_speak_for_themselves() -> None:
    assert said(outcome(logits=[0.1, 0.2])) is False
    assert said(outcome(logits=[0.3, 0.2])) is True


@given(st.text())
def test_any_text_is_yes_no_or_neither(text: str) -> None:
    assert said(outcome(text)) in (True, False, None)


@given(st.text(string.ascii_lowercase, min_size=1), st.sampled_from(["yes", "no"]))
def test_a_word_that_holds_an_answer_is_none(letters: str, word: str) -> None:
    """know, nose, eyes, yesterday: never by what they hold."""
    held = {f"x{word}{letters}", f"{letters}x{word}", f"q{word}"}
    assert {said(outcome(f"{one} there is a cup")) for one in held} == {None}


@given(st.sampled_from([("Yes", True), ("No", False)]), st.text(string.ascii_letters + " ,.\n"))
def test_an_answer_that_leads_is_taken_whatever_follows(lead: tuple[str, bool], rest: str) -> None:
    text, meant = lead
    assert said(outcome(f"**{text}**, one sees that {rest}")) is meant


def test_equal_questions_are_asked_once_and_edits_tell_them_apart() -> None:
    hidden = HideTokens.from_mask(np.ones((1, 2, 2), dtype=bool))
    plain = trial(SAMPLE, "Is it?", "text", condition="recognition")
    again = trial(SAMPLE, "Is it?", "text", condition="hallucination")
    edited = trial(SAMPLE, "Is it?", "text", edit=hidden, condition="drop")
    other = trial(SAMPLE, "Is it not?", "text", condition="recognition")
    assert list(unique([plain, again, edited, other, edited])) == [plain, edited, other]


def test_rates_count_only_yes() -> None:
    rows = [[trial(SAMPLE, f"{n}-{q}", "text", condition="x") for q in range(3)] for n in "ab"]
    words = ["yes", "Yes, it is", "a cup", "no", "no", "nothing"]
    flat: list[Trial] = [one for row in rows for one in row]
    answers = heard([Outcome(t, Response(text=w)) for t, w in zip(flat, words, strict=True)])
    assert answers[key_of(flat[2])] is None
    assert yes_rates(rows, answers).tolist() == pytest.approx([2 / 3, 0])
