"""What says that two classes look alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cuescope_cci import CCI
from cuescope_cci.error_source.look_alikes import choose_judge, parse_similar
from cuescope_sdk import Frame, Sample
from cuescope_testing import FakeTextGenerator, Setup

CHOICES = ("owl", "toad", "hawk")
MakeAudit = Callable[..., Any]
PAIR = ("owl", "hawk")


class Scripted:
    """Always the same answer; keeps what it was asked."""

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, list[str]()

    def generate(self, prompts: Any) -> list[str]:
        self.asked.extend(prompts)
        return [self.answer for _ in prompts]


def photo(label: str, family: str | None = None) -> Sample:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    notes = {} if family is None else {"family": family}
    return Sample(
        key=label, frames=(frame,), choices=CHOICES, label=label, annotations=notes
    )


BIRDS = (photo("owl", "bird"), photo("hawk", "bird"), photo("toad", "frog"))


# ------------------------------------------------------------------------------- language models


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("similar", True),
        ("  SIMILAR.\n", True),
        ('Answer: "similar"', True),
        ("(similar)", True),
        ("different", False),
        ("**different**", False),
        ("not similar", None),
        ("They aren't similar", None),
        ("They aren\u2019t similar", None),
        ("I cannot call them similar", None),
        ("dissimilar", None),
        ("similar or different", None),
        ("", None),
        ("both are birds", None),
    ],
)
def test_an_answer_is_read_or_left(answer: str, verdict: bool | None) -> None:
    assert parse_similar(answer) is verdict


@given(before=st.text(), after=st.text())
def test_whatever_surrounds_it_a_denied_similar_is_never_true(
    before: str, after: str
) -> None:
    assert parse_similar(f"{before} not similar {after}") is not True
    assert parse_similar(f"{before} similar, no, different {after}") is None


@given(st.text())
def test_a_yes_has_the_word_in_it(answer: str) -> None:
    assert parse_similar(answer) is not True or "similar" in answer.lower()


def test_a_language_model_is_asked_about_both_names(part_audit: MakeAudit) -> None:
    tool = Scripted("similar")
    name, judge = choose_judge(part_audit(**{"text-generator": tool})) or ("", dict)
    assert judge([PAIR]) == {PAIR: True}
    assert '"owl" and "hawk"' in tool.asked[0]
    assert "language model" in name
    assert judge([]) == {}
    assert len(tool.asked) == 1


def test_a_language_model_is_asked_once_for_each_distinct_pair() -> None:
    asked: list[str] = []

    class Counting(FakeTextGenerator):
        def generate(self, prompts: Any) -> list[str]:
            asked.extend(prompts)
            return ["similar" for _ in prompts]

    setup = Setup(
        CCI,
        data_options={"frames": 1},
        tools={"text-generator": Counting},
    )
    report = setup.report()
    assert 0 < len(asked) == len(set(asked)) <= 6  # ordered pairs of three labels
    shares = {
        s.metric: s.value
        for s in report.scores
        if (s.feature, s.label) == ("background", None)
    }
    # all others are alike
    assert shares["fine_er"] == pytest.approx(1 - (shares["bg_er"] or 0))


# ------------------------------------------------------------------------------------- taxonomies


def test_annotated_families(part_audit: MakeAudit) -> None:
    name, judge = choose_judge(part_audit(BIRDS)) or ("", dict)
    assert name == "same family of labels"
    assert judge([PAIR, ("owl", "toad"), ("owl", "newt")]) == {
        PAIR: True,
        ("owl", "toad"): False,
        ("owl", "newt"): None,
    }


def test_without_either_nothing_is_known(part_audit: MakeAudit) -> None:
    assert choose_judge(part_audit((photo("owl"),))) is None
