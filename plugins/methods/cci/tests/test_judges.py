"""Who says that two classes look alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuescope_cci import CCI
from cuescope_cci.judges import chosen_judge, closest_pairs, said_similar
from cuescope_sdk import Frame, Outcome, Response, Sample, UserError
from cuescope_sdk.testing import FakeTextGenerator, Setup

CHOICES = ("owl", "toad", "hawk")
MakeAudit = Callable[..., Any]
PAIR = ("owl", "hawk")


class Scripted:
    """Answers as told, and keeps what it was asked."""

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, list[str]()

    def generate(self, prompts: Any) -> list[str]:
        self.asked.extend(prompts)
        return [self.answer for _ in prompts]


def photo(label: str, family: str | None = None) -> Sample:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    notes = {} if family is None else {"family": family}
    return Sample(key=label, frames=(frame,), choices=CHOICES, label=label, annotations=notes)


BIRDS = (photo("owl", "bird"), photo("hawk", "bird"), photo("toad", "frog"))


# ------------------------------------------------------------------------------- language models


@pytest.mark.parametrize(
    ("answer", "said"),
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
def test_an_answer_is_read_or_left(answer: str, said: bool | None) -> None:
    assert said_similar(answer) is said


@given(before=st.text(), after=st.text())
def test_whatever_surrounds_it_a_denied_similar_is_never_true(before: str, after: str) -> None:
    assert said_similar(f"{before} not similar {after}") is not True
    assert said_similar(f"{before} similar, no, different {after}") is None


@given(st.text())
def test_a_yes_has_the_word_in_it(answer: str) -> None:
    assert said_similar(answer) is not True or "similar" in answer.lower()


def test_a_language_model_is_asked_about_both_names(part_audit: MakeAudit) -> None:
    tool = Scripted("similar")
    name, judge = chosen_judge(part_audit(**{"text-generator": tool}), CCI.Options())
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

    chosen = {"faithfulness": 0, "pictures": 0}
    setup = Setup(
        CCI, options=chosen, data_options={"frames": 1}, tools={"text-generator": Counting}
    )
    report = setup.report()
    assert 0 < len(asked) == len(set(asked)) <= 6  # ordered pairs of three labels
    fine = {(s.feature, s.label): s.value for s in report.scores if s.metric == "fine_er"}
    background = {(s.feature, s.label): s.value for s in report.headlines}
    everyone = ("background", None)
    assert fine[everyone] == pytest.approx(1 - (background[everyone] or 0))  # all others are alike


# ------------------------------------------------------------------------------------- taxonomies


def test_annotated_families(part_audit: MakeAudit) -> None:
    name, judge = chosen_judge(part_audit(BIRDS), CCI.Options())
    assert name == "same family of labels"
    assert judge([PAIR, ("owl", "toad"), ("owl", "newt")]) == {
        PAIR: True, ("owl", "toad"): False, ("owl", "newt"): None
    }  # fmt: skip


def test_a_taxonomy_file_comes_before_the_annotation(tmp_path: Path, part_audit: MakeAudit) -> None:
    file = tmp_path / "families.yaml"
    file.write_text("owl: night\nhawk: day\n7: day\n")
    _, judge = chosen_judge(part_audit(BIRDS), CCI.Options(taxonomy=file))
    pairs = [PAIR, ("hawk", "7"), ("owl", "toad")]
    assert judge(pairs) == {PAIR: False, ("hawk", "7"): True, ("owl", "toad"): None}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot read"),
        ("- owl\n- hawk\n", "expected a mapping"),
        ("owl: [unclosed", "cannot read"),
    ],
)
def test_a_taxonomy_that_cannot_be_read(
    tmp_path: Path, content: str | None, told: str, part_audit: MakeAudit
) -> None:
    file = tmp_path / "families.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UserError, match=told) as caught:
        chosen_judge(part_audit(BIRDS), CCI.Options(taxonomy=file))
    assert "\n" not in str(caught.value)


def test_a_taxonomy_is_asked_for_and_not_there(part_audit: MakeAudit) -> None:
    with pytest.raises(UserError, match=r"without families.*taxonomy=FILE\.yaml"):
        chosen_judge(part_audit((photo("owl"),)), CCI.Options(judge="taxonomy"))


# ------------------------------------------------------------------------------------- embeddings


def similarities(*upper: float) -> np.ndarray:
    """Symmetric, 1 on the diagonal, from the entries above it."""
    size = int((1 + np.sqrt(1 + 8 * len(upper))) / 2)
    found = np.eye(size)
    found[np.triu_indices(size, k=1)] = upper
    return np.maximum(found, found.T)


def test_the_closest_pairs_are_told_by_rank() -> None:
    close = closest_pairs(similarities(0.90, 0.91, 0.92, 0.93, 0.94, 0.95), 0.6)
    assert np.array_equal(close[np.triu_indices(4, k=1)], [False] * 3 + [True] * 3)
    assert np.array_equal(close, close.T)
    shifted = closest_pairs(similarities(*np.linspace(0.1, 0.6, 6)), 0.6)
    assert np.array_equal(close, shifted)  # ranks alone matter


def test_pairs_that_tie_stand_together() -> None:
    close = closest_pairs(similarities(0.1, 0.5, 0.5), 0.9)
    assert close[np.triu_indices(3, k=1)].tolist() == [False, True, True]


@pytest.mark.parametrize("labels", [1, 2])
def test_one_label_has_no_pair_and_two_have_one(labels: int) -> None:
    close = closest_pairs(similarities(*[0.5] * (labels - 1)) if labels > 1 else np.eye(1), 0.9)
    assert close.shape == (labels, labels)
    assert bool(close[0, -1]) is (labels == 2)


def test_the_models_own_embeddings_are_read_once_and_only_if_needed(part_audit: MakeAudit) -> None:
    asked: list[Any] = []

    def respond(trials: Any) -> list[Outcome]:
        asked.extend(trials)
        found = Response(readout=similarities(0.2, 0.9, 0.3))  # owl-toad, owl-hawk, toad-hawk
        return [Outcome(trial, found) for trial in trials]

    audit = part_audit((photo("owl"),))
    audit.respond = respond
    name, judge = chosen_judge(audit, CCI.Options())
    assert "closest 10%" in name
    assert judge([]) == {}
    assert not asked
    assert judge([PAIR, ("hawk", "toad"), ("owl", "newt")]) == {
        PAIR: True, ("hawk", "toad"): False
    }  # fmt: skip
    assert len(asked) == 1
    assert asked[0].readout.choices == CHOICES
