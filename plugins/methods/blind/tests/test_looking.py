"""What a model needs to see, of models whose need is known."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import Field

from cuescope_blind.looking import Looking
from cuescope_blind.looking.trials import turn_options
from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Options,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
    digest,
)
from cuescope_testing import MethodContract, Setup

CHOICES = ("one", "two", "three", "four")


class ClipOptions(Options):
    count: int = Field(60, description="how many questions")
    frames: int = Field(4, description="frames of a clip")


class Clips(Plugin):
    """Clips whose brightness rises by the answer, which the question has for its first word."""

    Options = ClipOptions
    options: ClipOptions
    labels: tuple[str, ...] = ()
    facts: Mapping[str, str] = {}

    def __init__(self, options: ClipOptions, context: Context) -> None:
        super().__init__(options, context)
        rng = np.random.default_rng(0)
        self.right = rng.integers(0, 4, options.count)
        self.fingerprint = digest(options.model_dump())

    def __len__(self) -> int:
        return self.options.count

    def __getitem__(self, index: int) -> Sample:
        right = int(self.right[index])
        frames = []
        for number in range(self.options.frames):
            # the level of the first frame says nothing, the step from frame to frame the answer
            level = 60 + index % 7 + (right + 1) * number
            frames.append(Frame.from_array(np.full((2, 2, 3), level, np.uint8)))
        return Sample(
            # a key may have a slash
            key=f"clips/{index:03d}",
            frames=tuple(frames),
            question=f"{CHOICES[right]} is it?",
            choices=CHOICES,
            label=CHOICES[right],
            group=f"g{index // 2}",
        )


class ReaderOptions(Options):
    looks: str = Field("at steps", description="what it answers by")


class Reader(Plugin):
    """Answers by the steps of brightness, by the question, or by the first option."""

    Options = ReaderOptions
    options: ReaderOptions
    capabilities = Capabilities(outputs=frozenset({"logits"}), min_frames=0)
    facts: Mapping[str, str] = {}

    def __init__(self, options: ReaderOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("reader", options.model_dump())

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(logits=self._logits(trial.sample)) for trial in trials]

    def _logits(self, sample: Sample) -> np.ndarray:
        logits = np.zeros(len(sample.choices), np.float32)
        word = (sample.question or "").split()[0]
        if self.options.looks == "nowhere without a video" and not sample.frames:
            return logits
        if self.options.looks == "at the place":
            logits[0] = 1
        elif self.options.looks == "at words" and word in sample.choices:
            logits[sample.choices.index(word)] = 1
        elif self.options.looks == "at steps" and len(sample.frames) > 1:
            levels = [int(np.asarray(frame.load())[0, 0, 0]) for frame in sample.frames]
            step = levels[1] - levels[0]
            if 1 <= step <= len(CHOICES):
                logits[sample.choices.index(CHOICES[step - 1])] = 1
        if not logits.any():
            # as a guess: by a draw that goes with the content, and not with the place
            guess = int(digest([f.key for f in sample.frames], sample.question)[:4], 16)
            logits[sample.choices.index(CHOICES[guess % 4])] = 1
        return logits


def audit(looks: str, **data: Any) -> Report:
    return Setup(
        Looking,
        Reader,
        Clips,
        model_options={"looks": looks},
        data_options=data,
    ).report()


def found(report: Report) -> set[str]:
    return {score.feature for score in report.findings}


def test_a_model_that_looks_needs_its_video_and_its_order() -> None:
    report = audit("at steps")
    assert found(report) == set()
    notes = report.notes
    assert notes["unchanged"] == "100.0% of 60 questions are right"
    assert notes["what each question is"].endswith("0 are wrong either way")
    lost = {s.feature: s for s in report.scores if s.metric == "lost"}
    for way in ("question alone", "wrong video", "one frame", "shuffled", "reversed"):
        low = lost[way].low
        assert low is not None
        assert low > 0.4, way


def test_a_model_that_reads_is_right_without_the_video() -> None:
    report = audit("at words")
    # the options alone are asked with a neutral question
    assert found(report) == {"question alone", "wrong video"}
    sentences = [report.sentence(score) or "" for score in report.findings]
    assert sentences[0].startswith(
        "With the question alone the model is right in 100.0% of 60 questions; "
        "chance level 25.0% (+75.0 points;"
    )
    assert [evidence.verdict for evidence in report.evidence] == ["supported"]
    assert "60 are right without it too" in report.notes["what each question is"]


def test_a_model_that_takes_the_first_option_changes_when_they_are_turned() -> None:
    report = audit("at the place")
    assert "options turned" in found(report)
    sentences = [report.sentence(score) or "" for score in report.findings]
    assert "the answer changes in 100.0% of 60 questions" in "".join(sentences)


def test_answers_that_name_no_option_are_wrong() -> None:
    notes = audit("nowhere without a video").notes
    assert (
        notes["name no option, and are wrong"] == "60 question alone, 60 options alone"
    )
    assert (
        "0 are right without it too, 0 are right only without it"
        in (notes["what each question is"])
    )


def test_a_finding_has_the_questions_that_it_is_about() -> None:
    by_key = {f.key: f.occurrences for f in audit("at words").features}
    assert len(by_key["question alone"]) == 60
    assert by_key["shuffled"] == ()
    turned = {f.key: f.occurrences for f in audit("at the place").features}
    assert len(turned["options turned"]) == 60


def test_questions_without_videos_are_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="looking: there is no question with a video"):
        audit("at words", frames=0)


def test_turned_options_have_the_same_label() -> None:
    sample = Sample(key="a", frames=(), choices=CHOICES, label="two")
    turned = turn_options(sample)
    assert turned.choices == ("two", "three", "four", "one")
    assert turned.label == "two"


class TestLooking(MethodContract):
    plugin = Looking
    finds_planted_cue = False  # it finds ways to ask, and no cue
    paradigm = "reliance"

    def test_finds_nothing_where_nothing_is_seen(self) -> None:
        pytest.skip(
            "the fake always takes one place, and changes when options are turned"
        )
