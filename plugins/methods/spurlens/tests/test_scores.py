"""Answers in words, gaps against closed forms, and the nulls against simulation."""

import string
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cuescope_sdk import Outcome, Response, Sample, Trial, generator
from cuescope_spurlens.answers import (
    Answer,
    ask_more,
    read_answer,
    read_answers,
    yes_probabilities,
    yes_rates,
)
from cuescope_spurlens.questions import question_trial, trial_key
from cuescope_spurlens.scores import (
    draws_needed,
    gap_by_k,
    largest_k,
    spurious_gap_interval,
    spurious_gaps,
)
from cuescope_spurlens.spuriosity.detections import rank_images


def rng(name: str) -> np.random.Generator:
    return generator(0, name)


SAMPLE = Sample(key="a", frames=())


def outcome(text: str | None = None, logits: list[float] | None = None) -> Outcome:
    asked = question_trial(SAMPLE, "Is it?", "text", condition="recognition")
    return Outcome(
        asked, Response(text=text, logits=None if logits is None else np.array(logits))
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Yes.", True),
        ("**No**", False),
        ("yes, there is", True),
        ("NO, I cannot see.", False),
        ("Oui.", True),
        ("Nein, das ist keine Tasse.", False),
        ("はい、あります。", True),
        ("There is a cup.", None),
        ("", None),
        (None, None),
        ("I know nothing.", None),
        ("Cannot say.", None),
        ("Yes or no?", None),
        ("A cup stands here.\n\nAnswer: No", False),
    ],
)
def test_words_are_read_as_yes_no_or_neither(
    text: str | None, meant: bool | None
) -> None:
    assert read_answer(outcome(text)) == Answer(meant, float(meant is True))


def test_logits_speak_for_themselves() -> None:
    no, yes = (
        read_answer(outcome(logits=[0.0, np.log(3)])),
        read_answer(outcome(logits=[0.3, 0.2])),
    )
    assert (no.yes, yes.yes) == (False, True)
    assert no.sure == pytest.approx(0.25)


@given(st.text())
def test_any_text_is_yes_no_or_neither(text: str) -> None:
    assert read_answer(outcome(text)).yes in (True, False, None)


@given(st.text(string.ascii_lowercase, min_size=1), st.sampled_from(["yes", "no"]))
def test_a_word_that_holds_an_answer_is_none(letters: str, word: str) -> None:
    """know, nose, eyes, yesterday: never by what they hold."""
    words = {f"x{word}{letters}", f"{letters}x{word}", f"q{word}"}
    assert {read_answer(outcome(f"{word} there is a cup")).yes for word in words} == {
        None
    }


@given(
    st.sampled_from([("Yes", True), ("No", False)]),
    st.text(string.ascii_letters + " ,.\n"),
)
def test_an_answer_that_leads_is_taken_whatever_follows(
    lead: tuple[str, bool], rest: str
) -> None:
    text, meant = lead
    assert read_answer(outcome(f"**{text}**, I think that {rest}")).yes is meant


def test_rates_count_only_yes() -> None:
    rows = [
        [question_trial(SAMPLE, f"{n}-{q}", "text", condition="x") for q in range(3)]
        for n in "ab"
    ]
    words = ["yes", "Yes, it is", "a cup", "no", "no", "nothing"]
    flat = [trial for row in rows for trial in row]
    outcomes = [Outcome(t, Response(text=w)) for t, w in zip(flat, words, strict=True)]
    answers = read_answers(outcomes)
    assert answers[trial_key(flat[2])].yes is None
    assert (
        yes_probabilities(rows, answers).tolist() == yes_rates(rows, answers).tolist()
    )
    assert yes_rates(rows, answers).tolist() == pytest.approx([2 / 3, 0])


def test_only_what_has_no_answer_yet_is_asked() -> None:
    old, new = (
        question_trial(SAMPLE, ask, "text", condition="x") for ask in ("old?", "new?")
    )
    asked: list[Trial] = []

    def respond(trials: Iterable[Trial]) -> list[Outcome]:
        asked.extend(trials)
        return [Outcome(trial, Response(text="no")) for trial in asked]

    audit: Any = SimpleNamespace(respond=respond)
    yes, no = Answer(True, 1.0), Answer(False, 0.0)
    answers = ask_more(audit, [old, new, new], {trial_key(old): yes})
    assert asked == [new]
    assert answers == {trial_key(old): yes, trial_key(new): no}


def test_ranks_by_score_and_breaks_ties_by_seed() -> None:
    scores = np.array([[0.1, 1], [0.9, 1], [0.5, 0], [0.0, 1], [0.7, 0]])
    top, bottom = rank_images(scores, 2, rng("a"))
    assert top[0].tolist() == [1, 4]
    assert set(bottom[0].tolist()) == {0, 3}
    assert set(bottom[1].tolist()) == {2, 4}
    assert set(top[1].tolist()) <= {0, 1, 3}
    assert np.array_equal(rank_images(scores, 2, rng("a"))[0], top)
    tops = {
        tuple(sorted(rank_images(scores, 2, rng(str(n)))[0][1].tolist()))
        for n in range(40)
    }
    assert tops == {(0, 1), (0, 3), (1, 3)}


def test_gap_is_the_difference_of_the_means() -> None:
    rates = np.array([1, 2 / 3, 0, 1 / 3])
    assert spurious_gaps(
        rates, np.array([[0, 1]]), np.array([[2, 3]])
    ) == pytest.approx([2 / 3])


def test_interval_of_a_gap_holds_it_and_has_width() -> None:
    low, high = spurious_gap_interval(np.ones(30), np.zeros(30))
    assert 0.75 < low < high <= 1
    low, high = spurious_gap_interval(np.full(40, 2 / 3), np.full(40, 2 / 3))
    assert low < 0 < high
    assert high == pytest.approx(-low)


def test_draws_suffice_for_holm_over_all_cases() -> None:
    draws = draws_needed(158, 0.05, 2000)
    assert 158 / (draws + 1) < 0.05 / 3
    assert draws_needed(3, 0.05, 2000) == 2000


def test_gap_by_k_is_that_of_each_k() -> None:
    rates = generator(0, "k").random(30)
    top, bottom = np.arange(10), np.arange(29, 19, -1)
    gaps = gap_by_k(rates, top, bottom)
    for k in range(1, 11):
        assert gaps[k - 1] == pytest.approx(
            rates[:k].mean() - rates[20 : 20 + k].mean()
        )


def test_largest_k_against_brute_force() -> None:
    rng = generator(0, "adequacy")
    scores = np.where(rng.random((40, 6)) < 0.5, rng.random((40, 6)), 0)
    thresholds = (0.0, 0.3, 0.6)
    for cues in (1, 3, 6):
        by_hand = []
        for threshold in thresholds:
            fits = [
                k
                for k in range(41)
                if sum(
                    (scores[:, c] > threshold).sum() >= k
                    and (scores[:, c] <= threshold).sum() >= k
                    for c in range(6)
                )
                >= cues
            ]
            by_hand.append(max(fits))
        k, threshold = largest_k(scores, cues, thresholds)
        assert (k, threshold) == (max(by_hand), thresholds[int(np.argmax(by_hand))])
    assert largest_k(scores, 7)[0] == 0
