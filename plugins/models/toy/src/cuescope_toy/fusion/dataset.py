"""Samples as numbers: which frames, which words, which answer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, UInt8
from pydantic import TypeAdapter
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cuescope_sdk import Frame, Sample
from cuescope_toy.encoders import number_frames
from cuescope_toy.fusion.network import Batch
from cuescope_toy.training import Labels, untrainable

Bytes = UInt8[Tensor, " byte"]

VOCABULARY = "vocabulary"  # its name among the tensors of a checkpoint
PADDING = -1
_WORDS = TypeAdapter(tuple[tuple[str, ...], tuple[str, ...]])


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
        words: set[str] = set()
        for sample in samples:
            words.update(split_words(sample.question))
        answers = {sample.label for sample in samples if sample.label is not None}
        # sorted: sets have another order in each process, and the numbers are of the weights
        return cls(tuple(sorted(words)), tuple(sorted(answers)))

    @classmethod
    def from_tensor(cls, tensor: Bytes) -> "Vocabulary":
        """Raises ValueError for bytes that are no vocabulary."""
        words, answers = _WORDS.validate_json(bytes(tensor.tolist()))
        return cls(words, answers)

    def to_tensor(self) -> Bytes:
        """JSON as bytes: a checkpoint holds tensors, and the words belong to the weights."""
        text = json.dumps([self.words, self.answers])
        return torch.tensor(list(text.encode()), dtype=torch.uint8)

    @property
    def word_rows(self) -> int:
        return len(self.words) + 2  # unknown words, the answer token


@dataclass(frozen=True, eq=False)
class TokenizedSamples:
    """The distinct frames; for each sample the numbers of its frames and words, padded."""

    frames: tuple[Frame, ...]
    frame_ids: Int[Tensor, "sample frame"]
    word_ids: Int[Tensor, "sample word"]

    def batch(
        self,
        features: Float[Tensor, "distinct patch feature"],
        samples: Int[Tensor, " batch"] | slice = slice(None),
    ) -> Batch:
        """Some samples as the network takes them, with the features of the distinct frames."""
        frame_ids = self.frame_ids[samples]
        # padding takes frame 0, and the mask hides it
        video = features[frame_ids.clamp_min(0)].flatten(1, 2)
        patches = features.shape[1]
        # in place: patches of a frame stand beside each other
        mask = (frame_ids != PADDING).repeat_interleave(patches, dim=1)
        return Batch(video, mask, self.word_ids[samples])


def split_words(question: str | None) -> list[str]:
    """Words in lower case, without punctuation; [] without a question."""
    return re.findall(r"\w+", (question or "").lower())


def tokenize(
    samples: Sequence[Sample],
    vocabulary: Vocabulary,
    device: torch.device | None = None,
) -> TokenizedSamples:
    frames, frame_ids = number_frames([sample.frames for sample in samples])
    number = {word: number for number, word in enumerate(vocabulary.words)}
    unknown = len(number)
    word_ids = []
    for sample in samples:
        words = split_words(sample.question)
        word_ids.append([number.get(word, unknown) for word in words])
    return TokenizedSamples(
        frames,
        _pad(frame_ids).to(device),
        _pad(word_ids).to(device),
    )


def answer_ids(samples: Sequence[Sample], vocabulary: Vocabulary) -> Labels:
    """Each label's number, -1 where it is unknown; raises UserError where there is none."""
    number = {answer: number for number, answer in enumerate(vocabulary.answers)}
    for sample in samples:
        if sample.label is None:
            raise untrainable(
                "toy-fusion", sample, "the right answer as its label", "no label"
            )
    return torch.tensor([number.get(str(sample.label), -1) for sample in samples])


def _pad(rows: Sequence[Sequence[int]]) -> Int[Tensor, "row number"]:
    # pad_sequence refuses an empty list
    if not rows:
        return torch.zeros(0, 0, dtype=torch.int64)
    # without dtype a sample without frames or words would be floats
    tensors = [torch.tensor(row, dtype=torch.int64) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=PADDING)
