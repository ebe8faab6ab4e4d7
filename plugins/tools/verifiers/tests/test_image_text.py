"""Likeness by a model whose pictures and words are the same few directions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Plugin,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_sdk.grounding import Claim
from cuescope_testing import FakeModel, PluginShelf
from cuescope_verifiers.image_text import ImageText
from cuescope_verifiers.phrases import opposites, sentence, third_person

from .claims import action, attribute, entity, motion, order, relation, says

# What a frame shows, by its shade of grey.
SHOWN = {
    10: "There is a red chair.",
    20: "The chair is left of the table.",
    30: "The door is open.",
    40: "The man picks up the red cup.",
    50: "There is no red chair.",
}
SHADES = list(SHOWN)


class Words(Plugin):
    """A picture is the sum of its sentence's words in their places, a text is of its own."""

    capabilities = Capabilities(outputs=frozenset({"embedding"}), min_frames=2)
    fingerprint = "words"
    facts: dict[str, str] = {}
    asked: list[str] = []

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 512))
        for row, text in zip(rows, texts, strict=True):
            for place, word in enumerate(text.lower().strip(".").split()):
                row[hash_of(word)] += 1
                row[hash_of(f"{place} {word}")] += 1
        return rows

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        found = []
        for trial in trials:
            assert len(trial.sample.frames) == 2
            self.asked.append(trial.sample.frames[0].key)
            shade = np.asarray(trial.sample.frames[0].load())[0, 0, 0]
            found.append(Response(embedding=self.embed_texts([SHOWN[int(shade)]])[0]))
        return found


def hash_of(word: str) -> int:
    return sum(ord(letter) * 31**place for place, letter in enumerate(word)) % 509


@pytest.fixture
def build(tmp_path: Path) -> Any:
    """`build(model=, **options)`."""
    Words.asked.clear()
    shelf = PluginShelf({("model", "words"): Words, ("model", "fake"): FakeModel})

    def made(model: str = "words", **options: Any) -> ImageText:
        given = ImageText.Options(model=model, **options)
        return ImageText(given, replace(Context(cache=tmp_path), registry=shelf))

    return made


SAMPLE = Sample(
    key="v",
    frames=tuple(Frame.from_array(np.full((4, 4, 3), s, np.uint8)) for s in SHADES),
)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (entity("red chair", 0), "supported"),
        (entity("red chair", 4), "unsupported"),
        (entity("red chair"), "supported"),
        (entity("blue chair", 0), "unsupported"),
        (entity("red chair", 4, negated=True), "supported"),
        (relation("chair", "left of", "table", 1), "supported"),
        (relation("chair", "right of", "table", 1), "unsupported"),
        (attribute("door", "open", 2), "supported"),
        (attribute("door", "closed", 2), "unsupported"),
        (action("man", "pick up", 3, object="red cup"), "supported"),
        (action("man", "put down", 3, object="red cup"), "unsupported"),
        (
            order(entity("red chair"), "before", attribute("door", "open", 2)),
            "supported",
        ),
        (motion("turn left", 1), "out of vocabulary"),
        (attribute("door", "happy", 2), "abstract"),
    ],
)
def test_verdicts(build: Any, said: Claim, verdict: str) -> None:
    assert says(build(), SAMPLE, said) == [verdict]


def test_a_small_lead_is_left_open(build: Any) -> None:
    claim = relation("chair", "left of", "table", 1)
    [[found]] = build().judge([(SAMPLE, [claim])])
    assert found.score == pytest.approx(1 - build_likeness(claim))
    assert says(build(margin=0.9), SAMPLE, claim) == ["no evidence"]


def build_likeness(claim: Claim) -> float:
    one, other = Words(None, Context()).embed_texts(
        [sentence(claim) or "", *opposites(claim)]
    )
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_a_frame_is_embedded_once_and_only_where_it_is_meant(build: Any) -> None:
    tool = build()
    cases = [
        (SAMPLE, [entity("red chair", 0), entity("lamp", 0, 1)]),
        (SAMPLE, [motion("stop")]),
    ]
    tool.judge(cases)
    tool.judge(cases)
    assert Words.asked == [frame.key for frame in SAMPLE.frames[:2]]


def test_claims_in_words() -> None:
    assert sentence(entity("old umbrella")) == "There is an old umbrella."
    assert opposites(relation("cup", "near", "plate")) == [
        "The cup is far from the plate."
    ]
    assert opposites(relation("cup", "on", "plate")) == ["The cup is under the plate."]
    assert opposites(attribute("tap", "shiny")) == ["The tap is not shiny."]
    assert opposites(action("dog", "bark")) == ["The dog does not bark."]
    assert "There is a small blue cup." in opposites(entity("small red cup"))
    assert [third_person(v) for v in ("carry", "wash", "go up", "play", "pick up")] == [
        "carries",
        "washes",
        "goes up",
        "plays",
        "picks up",
    ]


def test_a_model_without_texts_is_refused(build: Any) -> None:
    with pytest.raises(
        UserError, match="model fake does not embed both images and texts"
    ):
        build("fake")
