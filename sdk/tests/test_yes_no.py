"""Yes and no in answers of many habits."""

import pytest
from hypothesis import given, strategies as st

from cuescope_sdk.language._yes_no import parse_yes_no

LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
MARKS = st.text(" .,!*_\"'\n:;()-", max_size=4)


@pytest.mark.parametrize(
    "answer",
    [
        "Yes.",
        "**Yes**",
        "yes, there is",
        "YES!\nIt stands on a table.",
        " - Yes",
        "The answer is yes.",
        "Answer: **Yes**",
        "Let me look.\n\nYes.",
        "<think>no, no</think>Yes",
        "Ja.",
        "Sí, claro",
        "Oui",
        "да",
        "是的。",
        "はい。",
        "예",
        "हाँ, है",
        "نعم",
        "Yes, there is no doubt.",
    ],
)
def test_yes(answer: str) -> None:
    assert parse_yes_no(answer) is True


@pytest.mark.parametrize(
    "answer",
    [
        "No",
        "**No**",
        "no.",
        "No, I cannot see it, but yes is what you hope for",
        "Answer: no",
        "Therefore the answer is: No.",
        "Hmm ...\nno",
        "<THINK>yes\nyes</THINK>\nNo",
        "Nein!",
        "Non, pas ici",
        "não",
        "нет",
        "不是。",
        "没有",
        "いいえ、ありません",
        "아니요",
        "नहीं",
        "Nope",
    ],
)
def test_no(answer: str) -> None:
    assert parse_yes_no(answer) is False


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "...",
        "I know.",
        "I cannot see it",
        "There is a cup.",
        "Nothing",
        "Not really",
        "Yesterday",
        "yes or no?",
        "Yes/No",
        "No or yes: hard to say",
        "No idea",
        "No doubt",
        "Maybe\nIt may be yes there",
        "<think>yes",
        "Nobody is there",
        "eyes",
        "<think>yes</think>",
    ],
)
def test_neither(answer: str) -> None:
    assert parse_yes_no(answer) is None


@given(st.text())
def test_any_text_has_a_verdict(text: str) -> None:
    assert parse_yes_no(text) in (True, False, None)


@given(MARKS, st.sampled_from(["yes", "Yes", "YES", "no", "No", "NO"]), MARKS)
def test_marks_around_the_word_change_nothing(
    before: str, word: str, after: str
) -> None:
    assert parse_yes_no(before + word + after) is (word.lower() == "yes")


@given(LETTERS, st.sampled_from(["yes", "no"]), LETTERS)
def test_a_word_that_holds_yes_or_no_says_neither(
    before: str, word: str, after: str
) -> None:
    assert parse_yes_no(f"x{before}{word}{after}x, so it seems") is None
