"""Each namer on the fake data set: its contract, a red corner found among other words, refusals."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_namers.detected import DetectedNames, k_scores
from cuescope_namers.vocabulary import Vocabulary, WrittenVocabulary
from cuescope_sdk import Context, Detection, Frame, Plugin, Sample, UserError
from cuescope_sdk.tools import FrameGroup
from cuescope_testing import FakeDataset, FakeDetector, PluginShelf, ToolContract

WORDS = ("wall", FakeDataset.cue, FakeDataset.decoy, "green patch")


class Writer(Plugin):
    """Lists words for every prompt."""

    fingerprint = "writer"

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """The same list."""
        return ["\n".join(f"- {word}" for word in WORDS) for _ in prompts]


class Closed(FakeDetector):
    """Knows what it can find, and sees walls everywhere."""

    names = frozenset(WORDS)

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        """The corners and a wall."""
        found = super().detect(
            frames,
            [name for name in names if name in (FakeDataset.cue, FakeDataset.decoy)],
        )
        wall = Detection(name="wall", score=1.0, box=(0, 0, 1, 1))
        return [(*of_frame, *([wall] if "wall" in names else [])) for of_frame in found]


TOOLS = {("tool", "w"): Writer, ("tool", "c"): Closed, ("tool", "f"): FakeDetector}


class _Namer(ToolContract):
    @classmethod
    def context(cls) -> Context:
        return replace(
            super().context(),
            registry=PluginShelf({**TOOLS, ("tool", cls.name): cls.plugin}),
        )


class TestVocabulary(_Namer):
    plugin = Vocabulary

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _file(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        path = tmp_path_factory.mktemp("words") / "words.txt"
        path.write_text("\n\n".join(WORDS))
        cls.options = {"words": str(path)}


class TestWritten(_Namer):
    plugin = WrittenVocabulary
    options: ClassVar[dict[str, Any]] = {"generator": "w"}


class TestDetected(_Namer):
    plugin = DetectedNames
    options: ClassVar[dict[str, Any]] = {"detector": "c"}


# ------------------------------------------------------------------------------------- planted


def red_and_other(samples: Sequence[Sample]) -> FrameGroup:
    """Frames with the red corner beside those without.

    Axes of the space: a wall, which is behind all frames, red, blue, and how texts differ from
    images; a text has all of that gap, and images have none.
    """
    axis = {"wall": 0, FakeDataset.cue: 1, FakeDataset.decoy: 2}

    def embed_texts(texts: Sequence[str]) -> np.ndarray:
        rows = np.tile([0.1, 0.1, 0.1, 0.9], (len(texts), 1))
        for row, text in zip(rows, texts, strict=True):
            for word, column in axis.items():
                row[column] += 0.4 * (word in text)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    shown = [(s, f) for s in samples for f in range(len(s.frames))]
    red = [s.frames[f] for s, f in shown if s.annotations["cues"][FakeDataset.cue][f]]
    rest = [
        s.frames[f] for s, f in shown if not s.annotations["cues"][FakeDataset.cue][f]
    ]
    centre, elsewhere = np.array([0.9, 0.35, 0.1, 0]), np.array([0.9, 0.05, 0.12, 0])
    return FrameGroup(
        tuple(red[:9]), tuple(rest[:9]), centre, elsewhere, embed_texts, ("top",)
    )


@pytest.mark.parametrize("kind", ["vocabulary", "llm-vocabulary", "detected-names"])
def test_what_sets_the_frames_apart_is_named(kind: str, tmp_path: Path) -> None:
    """Not the wall, which is nearest to all of them, and seen in all of them."""
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    data = FakeDataset(FakeDataset.Options(samples=60), Context())
    group = red_and_other([data[index] for index in range(60)])
    guess = build(kind, tmp_path).name_groups([group])[0]
    assert guess is not None
    assert guess.name == FakeDataset.cue
    if kind == "detected-names":
        assert (guess.score, guess.elsewhere) == (pytest.approx(1.0, abs=0.2), 0.0)
        assert str(guess).endswith("vs 0.00 elsewhere)")
    else:
        text = group.embed_texts([f"a photo of a {FakeDataset.cue}."])[0]
        assert guess.score == pytest.approx(text @ group.centre)
        assert guess.elsewhere == pytest.approx(text @ group.elsewhere)


def build(kind: str, folder: Path, **options: Any) -> Any:
    words = {"words": folder / "words.txt"}
    plugin, own = {
        "vocabulary": (Vocabulary, words),
        "llm-vocabulary": (WrittenVocabulary, {"generator": "w"}),
        "detected-names": (DetectedNames, {"detector": "c"}),
    }[kind]
    return plugin(
        plugin.Options(**{**own, **options}),
        Context(registry=PluginShelf(TOOLS), cache=folder),
    )


def test_what_cannot_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(" \n")
    samples = FakeDataset(FakeDataset.Options(samples=9), Context())
    group = red_and_other([samples[index] for index in range(9)])
    for make, words in (
        (
            lambda: build("vocabulary", tmp_path),
            "words.txt: expected a word a line, got none",
        ),
        (lambda: build("vocabulary", tmp_path / "no"), "cannot read words.txt"),
        (
            lambda: build("llm-vocabulary", tmp_path, generator="c"),
            "tool c writes no text",
        ),
        (
            lambda: build("detected-names", tmp_path, detector="w"),
            "tool w finds nothing",
        ),
        (
            lambda: build("detected-names", tmp_path, detector="f").name_groups(
                [group]
            ),
            "expected names to ask for. -O tool.namer.words=FILE",
        ),
    ):
        with pytest.raises(UserError) as caught:
            make()
        assert words in str(caught.value)


def test_a_k_score_is_the_best_of_a_name_and_0_without() -> None:
    box = (0.0, 0.0, 1.0, 1.0)
    seen = [
        Detection(name="cat", score=0.3, box=box),
        Detection(name="cat", score=0.4, box=box),
    ]
    other = Detection(name="caterpillar", score=0.9, box=box)
    scores = k_scores([seen, [], [other]], ["cat", "dog"])
    assert scores.tolist() == [[0.4, 0], [0, 0], [0, 0]]
    assert k_scores([], ["cat"]).shape == (0, 1)
