"""Answers that are written freely: by the probability of their words, or by what is written."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from cuescope_maps import Maps
from cuescope_sdk import (
    Capabilities,
    Frame,
    Options,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    digest,
)
from cuescope_testing import Setup

SIDE = 42
ANSWERS = ("a dog", "a cat")


class Pets(Plugin):
    """Grey pictures with a white square: at the top left it is a dog, at the bottom right a cat."""

    Options = Options
    labels: tuple[str, ...] = ()
    facts: Mapping[str, str] = {}
    fingerprint = "pets"

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Sample:
        index = range(12)[index]
        pixels = np.full((SIDE, SIDE, 3), 90 + index, np.uint8)
        place = slice(0, 6) if index % 2 else slice(SIDE - 6, SIDE)
        pixels[place, place] = 255
        frame = Frame.from_array(pixels)
        return Sample(key=f"{index:02d}", frames=(frame,), question="What is it?")


class Writer(Plugin):
    """Writes "a dog" or "a cat" by the squares; "a" it writes nearly as surely without."""

    Options = Options
    facts: Mapping[str, str] = {}
    capabilities = Capabilities(
        outputs=frozenset({"text"}), exposes=frozenset({"answer-words"}), min_frames=0
    )

    @property
    def fingerprint(self) -> str:
        return digest(type(self).__name__)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [Response(text=ANSWERS[odds(trial) < 0]) for trial in trials]

    def word_log_probabilities(
        self, trials: Sequence[Trial], words: Sequence[str]
    ) -> list[np.ndarray]:
        sign = 1 if words[-1] == "dog" else -1
        found = []
        for asked in trials:
            article = -0.01 if asked.sample.frames else -0.02
            noun = -np.log1p(np.exp(-sign * odds(asked)))
            found.append(np.array([article, noun], np.float32))
        return found


class Server(Writer):
    """The same, of which nobody knows more than what it writes."""

    capabilities = Writer.capabilities.model_copy(update={"exposes": frozenset()})


def odds(trial: Trial) -> float:
    """Above 0 for a dog."""
    if not trial.sample.frames:
        return 0.0
    pixels = np.asarray(trial.sample.frames[0].load(), float)[..., 0]
    dog, cat = (
        bool(pixels[place, place].mean() > 200)
        for place in (slice(0, 6), slice(36, SIDE))
    )
    return 6.0 * (dog - cat)


@cache
def audit(model: type[Any], word: str | None = None) -> Report:
    return Setup(Maps, model, Pets, options={"word": word}).report()


def test_a_word_of_an_answer_has_a_cause() -> None:
    report = audit(Writer)
    [finding] = report.findings
    assert finding.value is not None
    assert finding.value > 0.2
    [one] = report.features
    for occurrence in one.occurrences:
        assert occurrence.region in ((0, 0, 6, 6), (36, 36, 42, 42))


def test_one_word_is_explained_alone() -> None:
    whole, word = audit(Writer), audit(Writer, word="dog")
    assert len(word.features[0].occurrences) == len(whole.features[0].occurrences) / 2
    # the article, which is sure anyhow, does not soften the effect
    assert (word.findings[0].value or 0) > (whole.findings[0].value or 0)


def test_words_that_need_no_picture_are_told() -> None:
    words = audit(Writer).notes["language prior"]
    assert words.endswith("no picture needed for 'a'")


def test_what_a_server_writes_is_enough() -> None:
    report = audit(Server)
    assert report.findings
    assert report.cues[0].status == "used"
