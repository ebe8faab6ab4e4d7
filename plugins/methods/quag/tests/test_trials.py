"""What is averaged, in words and as edits; which answers are right; refusals are one line."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_quag.options import parse_layers
from cuescope_quag.trials import (
    SHORT_CIRCUITS,
    is_correct,
    matches,
    normalise,
    videos_of,
)
from cuescope_sdk import (
    Capabilities,
    Frame,
    Outcome,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_sdk.fusion import AverageAttention, AverageTokens

FRAMES = [Frame.from_array(np.full((1, 1, 3), value, np.uint8)) for value in range(3)]


@pytest.mark.parametrize(
    ("words", "layers"),
    [
        ("all", None),
        ("0-3", (0, 1, 2, 3)),
        ("4,5", (4, 5)),
        (" 0-1, 7 ", (0, 1, 7)),
        ("2-2", (2,)),
    ],
)
def test_layers_are_read(words: str, layers: tuple[int, ...] | None) -> None:
    assert parse_layers(words) == layers


@pytest.mark.parametrize("words", ["", "3-1", "one", "1-", "-1", "0,,1", "0-3-5"])
def test_other_layers_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="all, a range as 0-3"):
        parse_layers(words)


def test_short_circuits_are_those_of_section_2_3() -> None:
    sets = {name: quadrants for name, (quadrants, _) in SHORT_CIRCUITS.items()}
    assert sets == {
        "unimodal": {"VV", "TT"},
        "crossmodal": {"VT", "TV"},
        "video": {"VV", "TV"},  # keys of the video
        "text": {"TT", "VT"},
    }


Audited = Callable[..., Report]


@pytest.fixture
def logging(reader: type[Any]) -> type[Any]:
    """The reader, keeping the trials that it is asked in `log`."""

    class Logging(reader):  # type: ignore[misc]
        log: list[Trial] = []

        def answer(self, trial: Trial) -> Response:
            self.log.append(trial)
            answer: Response = super().answer(trial)
            return answer

    return Logging


@pytest.fixture
def bound(reader: type[Any]) -> type[Any]:
    """A reader that takes no question without a video, no averaged tokens, and shows nothing."""

    class Bound(reader):  # type: ignore[misc]
        capabilities = Capabilities(
            outputs=frozenset({"logits"}), edits=frozenset({"average-attention"})
        )

    return Bound


def test_every_condition_is_asked_with_its_edit(
    audited: Audited, logging: type[Any]
) -> None:
    audited(
        "both",
        "both",
        model=logging,
        data_options={"samples": 8},
        layers="1",
        quag_attention="video-text",
        size_term="multiply",
    )
    shown = {trial.condition: trial.sample for trial in logging.log}
    edits = {trial.condition: trial.edit for trial in logging.log}
    # four questions without a video are asked once each
    assert len(logging.log) == 7 * 8 + 4
    assert (len(shown["baseline"].frames), len(shown["without video"].frames)) == (1, 0)
    assert shown["without video"].question == shown["baseline"].question
    assert shown["without question"].question is None
    assert shown["without question"].frames == shown["baseline"].frames
    assert edits == {
        "baseline": None,
        "without video": None,
        "without question": None,
        "SC: video": AverageAttention(quadrants=frozenset({"VV", "TV"}), layers=(1,)),
        "SC: text": AverageAttention(quadrants=frozenset({"TT", "VT"}), layers=(1,)),
        "SC: unimodal": AverageAttention(
            quadrants=frozenset({"VV", "TT"}), layers=(1,)
        ),
        "SC: crossmodal": AverageAttention(
            quadrants=frozenset({"VT", "TV"}), layers=(1,)
        ),
        "merged both": AverageTokens(
            modalities=frozenset({"video", "text"}), layers=(1,), size_term="multiply"
        ),
    }


def test_a_layer_that_the_model_does_not_have_is_told_first(
    audited: Audited, logging: type[Any]
) -> None:
    with pytest.raises(
        UserError, match="layers from 0 to 1: the model has 2 fusion layers"
    ):
        audited("both", "both", model=logging, layers="0-4")
    assert not logging.log


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"layers": "first"}, "all, a range as 0-3"),
    ],
)
def test_options_that_mean_nothing_are_one_line(
    audited: Audited, given: dict[str, str], expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        audited("both", "both", **given)


def test_what_a_model_cannot_be_asked_is_noted(
    audited: Audited, bound: type[Any]
) -> None:
    report = audited("both", "both", model=bound)
    names = {feature.key for feature in report.features}
    assert "without question" in names
    assert not names & {"without video", "merged video"}
    assert report.notes["not asked"].startswith("without video: ")
    assert "average-tokens" in report.notes["QUAG-attention"]
    assert report.notes["verdict"] == "fuses"
    assert "takes no question without a video" in str(
        report.sentence(report.findings[0])
    )


def test_open_questions_need_text(audited: Audited, bound: type[Any]) -> None:
    with pytest.raises(
        UserError, match="no choices: expected a model with output 'text', got log"
    ):
        audited("both", "both", model=bound, data_options={"open_ended": True})


def test_samples_without_labels_are_refused(audited: Audited, quiz: type[Any]) -> None:
    class Unlabelled(quiz):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            return replace(sample, label=None)

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
            return sample if index % 2 else replace(sample, **{without: None})

    report = audited("both", "both", data=Half)
    assert report.notes["left out"] == f"80 samples without a {without}"
    assert {score.n for score in report.headlines} == {80}
    assert {"without video", "without question"} <= {
        score.feature for score in report.headlines
    }


def test_data_without_a_question_is_refused_first(
    audited: Audited, quiz: type[Any], logging: type[Any]
) -> None:
    class Silent(quiz):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            sample: Sample = super().__getitem__(index)
            return replace(sample, question=None)

    with pytest.raises(
        UserError, match=r"quag: there is nothing to ask.*Take data with q"
    ):
        audited("both", "both", data=Silent, model=logging)
    assert not logging.log


@pytest.mark.parametrize(
    ("given", "words"), [("all", "all 2 layers"), ("0-1", "layers 0-1 of 2")]
)
def test_the_layers_that_are_changed_are_noted(
    audited: Audited, given: str, words: str
) -> None:
    report = audited("both", "both", data_options={"samples": 8}, layers=given)
    assert report.notes["layers"] == words


# ------------------------------------------------------------------------------ right answers


def sample(
    label: str = "yes", choices: tuple[str, ...] = (), **about: object
) -> Sample:
    return Sample(
        key=f"{label}-{about}",
        frames=(FRAMES[0],),
        choices=choices,
        label=label,
        annotations=about,
    )


def test_choices_are_compared_by_their_logits() -> None:
    trial = Trial(sample=sample("no", ("yes", "no")))
    logits = [Response(logits=np.array(pair)) for pair in ([0.1, 0.2], [0.2, 0.1])]
    assert [is_correct(Outcome(trial, response)) for response in logits] == [
        True,
        False,
    ]


def test_samples_of_one_video_share_a_number() -> None:
    samples = [sample(video_id=name) for name in ("a", "b", "a")]
    assert videos_of(samples).codes.tolist() == [0, 1, 0]
    shown = [
        Sample(key=str(number), frames=frames)
        for number, frames in enumerate(
            [(FRAMES[0], FRAMES[1]), (FRAMES[1], FRAMES[0]), (FRAMES[2],)]
        )
    ]
    first, second, third = videos_of(shown).codes.tolist()
    assert first == second != third


def answer_of(text: str | None, **about: object) -> Outcome:
    sample = Sample(
        key="s", frames=(), question="?", label="The Left one", annotations=about
    )
    return Outcome(Trial(sample=sample), Response(text=text))


@pytest.mark.parametrize(
    "text",
    [
        "the left one",
        " The left, one. ",
        "THE  LEFT ONE!",
        "left 1",
        "A left one. It is.",
    ],
)
def test_what_means_nothing_is_dropped(text: str) -> None:
    assert is_correct(answer_of(text))


def test_other_accepted_answers_count_and_other_words_do_not() -> None:
    assert is_correct(answer_of("west", answers=("West.", "left")))
    assert not is_correct(answer_of("west"))
    assert not is_correct(answer_of("left"))
    assert not is_correct(answer_of("It is the left one."))
    assert not is_correct(answer_of(None))
    assert not is_correct(answer_of("?!", answers=("...",)))  # nothing was said


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
    assert normalise(answer) == expected


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
    assert matches(given, accepted) == right
