"""Samples as numbers: which frames, which words, which answer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from jaxtyping import Float, Int
from torch import Tensor

from cuescope_sdk import Frame, Sample, UserError
from cuescope_toy.fusion.network import Asked
from cuescope_toy.network import Weights

PACKED = "vocabulary"  # its name among the weights


@dataclass(frozen=True)
class Vocabulary:
    """Words of questions, and whole answers, each numbered in order.

    The number after the last word stands for all unknown words, the next for the answer token.
    """

    words: tuple[str, ...]
    answers: tuple[str, ...]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Vocabulary":
        """What occurs in the questions and labels."""
        words = set(chain.from_iterable(words_of(sample.question) for sample in samples))
        answers = {sample.label for sample in samples if sample.label is not None}
        return cls(tuple(sorted(words)), tuple(sorted(answers)))

    @classmethod
    def beside(cls, weights: Weights) -> "Vocabulary":
        """Of the weights that it was packed beside."""
        words, answers = json.loads(bytes(weights[PACKED].tolist()))
        return cls(tuple(words), tuple(answers))

    def packed(self) -> Weights:
        """As bytes, to be kept beside the weights."""
        text = json.dumps([self.words, self.answers])
        return {PACKED: torch.tensor(list(text.encode()), dtype=torch.uint8)}

    @property
    def rows(self) -> int:
        """How many numbers words have."""
        return len(self.words) + 2


@dataclass(frozen=True, eq=False)
class Shown:
    """Samples: the distinct frames, and for each sample frames and words by number, -1 is none."""

    frames: tuple[Frame, ...]
    index: Int[Tensor, "sample frame"]
    words: Int[Tensor, "sample word"]

    def batch(
        self,
        features: Float[Tensor, "distinct patch feature"],
        samples: Int[Tensor, " batch"] | slice = slice(None),
    ) -> Asked:
        """Some samples as the network takes them, with the features of the distinct frames."""
        index = self.index[samples]
        patches = features[index.clamp_min(0)].flatten(1, 2)
        visible = (index >= 0).repeat_interleave(features.shape[1], dim=1)
        return Asked(patches, visible, self.words[samples])


def words_of(question: str | None) -> list[str]:
    """Words in lower case, without punctuation; [] without a question."""
    return re.findall(r"\w+", (question or "").lower())


def shown(
    samples: Sequence[Sample], vocabulary: Vocabulary, device: torch.device | None = None
) -> Shown:
    """Samples as numbers."""
    frames = {frame.key: frame for sample in samples for frame in sample.frames}
    place = {key: number for number, key in enumerate(frames)}
    number = {word: number for number, word in enumerate(vocabulary.words)}
    index = [[place[frame.key] for frame in sample.frames] for sample in samples]
    words = [[number.get(w, len(number)) for w in words_of(s.question)] for s in samples]
    return Shown(tuple(frames.values()), *(_padded(rows).to(device) for rows in (index, words)))


def labels(samples: Sequence[Sample], vocabulary: Vocabulary) -> Int[Tensor, " sample"]:
    """Each label's number, -1 where it is unknown; raises UserError where there is none."""
    number = {answer: number for number, answer in enumerate(vocabulary.answers)}
    for sample in samples:
        if sample.label is None:
            raise UserError(
                f"toy-fusion: sample '{sample.key}' cannot be trained on",
                expected="the right answer as its label",
                got="no label",
            )
    return torch.tensor([number.get(str(sample.label), -1) for sample in samples])


def _padded(rows: Sequence[Sequence[int]]) -> Int[Tensor, "row number"]:
    width = max(map(len, rows), default=0)
    full = [[*row, *[-1] * (width - len(row))] for row in rows]
    return torch.tensor(full, dtype=torch.int64).reshape(len(rows), width)
