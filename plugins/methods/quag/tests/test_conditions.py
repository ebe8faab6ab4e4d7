"""What is averaged, in words and as edits; what cannot work is one line."""

from collections.abc import Callable
from typing import Any

import pytest

from cuescope_quag.conditions import SHORT_CIRCUITS, layers_of, quadrants_of
from cuescope_sdk import Capabilities, Report, Response, Sample, Trial, UserError
from cuescope_sdk.fusion import AverageAttention, AverageTokens


@pytest.mark.parametrize(
    ("words", "layers"),
    [("all", None), ("0-3", (0, 1, 2, 3)), ("4,5", (4, 5)), (" 0-1, 7 ", (0, 1, 7)), ("2-2", (2,))],
)
def test_layers_are_read(words: str, layers: tuple[int, ...] | None) -> None:
    assert layers_of(words) == layers


@pytest.mark.parametrize("words", ["", "3-1", "one", "1-", "-1", "0,,1", "0-3-5"])
def test_other_layers_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="all, a range as 0-3"):
        layers_of(words)


@pytest.mark.parametrize("words", ["", "VX", "VV,TT", "VV+", "VV+VV"])
def test_other_quadrants_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="of VV, VT, TV and TT"):
        quadrants_of(words)


def test_short_circuits_are_those_of_section_2_3() -> None:
    named = {name: quadrants_of(words) for name, (words, _) in SHORT_CIRCUITS.items()}
    assert named == {
        "unimodal": {"VV", "TT"},
        "crossmodal": {"VT", "TV"},
        "video": {"VV", "TV"},  # keys of the video
        "text": {"TT", "VT"},
    }


Audited = Callable[..., Report]


@pytest.fixture
def asked(reader: type[Any]) -> type[Any]:
    """The reader, keeping the trials that it is asked in `seen`."""

    class Asked(reader):  # type: ignore[misc]
        seen: list[Trial] = []

        def answer(self, trial: Trial) -> Response:
            self.seen.append(trial)
            answer: Response = super().answer(trial)
            return answer

    return Asked


@pytest.fixture
def bound(reader: type[Any]) -> type[Any]:
    """A reader that takes no question without a video, no averaged tokens, and shows nothing."""

    class Bound(reader):  # type: ignore[misc]
        capabilities = Capabilities(
            outputs=frozenset({"logits"}), edits=frozenset({"average-attention"})
        )

    return Bound


def test_every_condition_is_asked_with_its_edit(audited: Audited, asked: type[Any]) -> None:
    audited(
        "both", "both", model=asked, data_options={"samples": 8}, layers="1", quadrants="VT",
        short_circuits="video", quag_attention="video-text", size_term="multiply",
    )  # fmt: skip
    shown = {trial.condition: trial.sample for trial in asked.seen}
    edits = {trial.condition: trial.edit for trial in asked.seen}
    assert len(asked.seen) == 5 * 8 + 4  # four questions without a video are asked once each
    assert (len(shown["baseline"].frames), len(shown["without video"].frames)) == (1, 0)
    assert shown["without video"].question == shown["baseline"].question
    assert shown["without question"].question is None
    assert shown["without question"].frames == shown["baseline"].frames
    assert edits == {
        "baseline": None,
        "without video": None,
        "without question": None,
        "SC: video": AverageAttention(quadrants=frozenset({"VV", "TV"}), layers=(1,)),
        "SC: VT": AverageAttention(quadrants=frozenset({"VT"}), layers=(1,)),
        "merged both": AverageTokens(
            modalities=frozenset({"video", "text"}), layers=(1,), size_term="multiply"
        ),
    }


def test_a_layer_that_the_model_does_not_have_is_told_first(
    audited: Audited, asked: type[Any]
) -> None:
    with pytest.raises(UserError, match="layers from 0 to 1: the model has 2 fusion layers"):
        audited("both", "both", model=asked, layers="0-4")
    assert not asked.seen


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"quadrants": "VV+XY"}, "of VV, VT, TV and TT"),
        ({"layers": "first"}, "all, a range as 0-3"),
        ({"short_circuits": "crossmodel"}, "crossmodal"),
    ],
)
def test_options_that_mean_nothing_are_one_line(
    audited: Audited, given: dict[str, str], expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        audited("both", "both", **given)


def test_what_a_model_cannot_be_asked_is_noted(audited: Audited, bound: type[Any]) -> None:
    report = audited("both", "both", model=bound)
    names = {feature.key for feature in report.features}
    assert "without question" in names
    assert not names & {"without video", "merged video"}
    assert report.notes["not asked"].startswith("without video: ")
    assert "average-tokens" in report.notes["QUAG-attention"]
    assert report.notes["verdict"] == "fuses"
    assert "takes no question without a video" in str(report.sentence(report.findings[0]))


def test_open_questions_need_text(audited: Audited, bound: type[Any]) -> None:
    with pytest.raises(UserError, match="no choices: expected a model with output 'text', got log"):
        audited("both", "both", model=bound, data_options={"open_ended": True})


def test_samples_without_labels_are_refused(audited: Audited, quiz: type[Any]) -> None:
    class Unlabelled(quiz):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            return sample.model_copy(update={"label": None})

    with pytest.raises(UserError, match="samples with a label"):
        audited("both", "both", data=Unlabelled)


@pytest.mark.parametrize("without", ["question", "label"])
def test_samples_that_cannot_be_asked_are_counted(
    audited: Audited, quiz: type[Any], without: str
) -> None:
    """They are left out of every condition, and no condition is lost with them."""

    class Half(quiz):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            return sample if index % 2 else sample.model_copy(update={without: None})

    report = audited("both", "both", data=Half)
    assert report.notes["left out"] == f"80 samples without a {without}"
    assert {score.n for score in report.headlines} == {80}
    assert {"without video", "without question"} <= {one.feature for one in report.headlines}


def test_data_without_a_question_is_refused_first(
    audited: Audited, quiz: type[Any], asked: type[Any]
) -> None:
    class Silent(quiz):  # type: ignore[misc]
        __module__ = "cuescope_moving_shapes"

        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            return sample.model_copy(update={"question": None})

    said = "quag: no sample of moving-shapes has a question. Take data with questions"
    with pytest.raises(UserError, match=said):
        audited("both", "both", data=Silent, model=asked)
    assert not asked.seen


@pytest.mark.parametrize(("given", "words"), [("all", "all 2 layers"), ("0-1", "layers 0-1 of 2")])
def test_the_layers_that_are_changed_are_noted(audited: Audited, given: str, words: str) -> None:
    report = audited("both", "both", data_options={"samples": 8}, layers=given)
    assert report.notes["layers"] == words


def test_a_balanced_accuracy_of_open_answers_is_refused_first(
    audited: Audited, asked: type[Any]
) -> None:
    with pytest.raises(UserError, match="do not share one set of several right answers"):
        audited("both", "both", model=asked, measure="balanced", data_options={"open_ended": True})
    assert not asked.seen
