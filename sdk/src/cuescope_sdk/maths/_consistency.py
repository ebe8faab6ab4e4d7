"""Consistent accuracy: a question counts as answered where its complement is answered too.

CLAVI, section 5.1 (Rawal et al., 2024): CAcc_V asks for the same question about the complement
video, CAcc_T for the complement question about the same video. A data set says which sample is
the complement of which by `annotations["counterparts"]`, `{"video": key, "text": key}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cuescope_sdk import Sample, digest

Complement = Literal["video", "text"]


@dataclass(frozen=True, slots=True)
class ConsistentPair:
    """Two samples that are complements in video or in text, each pair once.

    `subset` is theirs ("control", "complement"), None where none is annotated; `video` names what
    is drawn together in a bootstrap: `annotations["video_id"]`, or else the frames.
    """

    complement: Complement
    first: str
    second: str
    subset: str | None
    video: str


@dataclass(frozen=True, slots=True)
class ConsistentAccuracy:
    """Share of `pairs` of which both are correct, with its interval over `videos`."""

    value: float
    low: float
    high: float
    pairs: int
    videos: int


def consistent_pairs(samples: Sequence[Sample]) -> tuple[ConsistentPair, ...]:
    """The pairs among these samples, in order; a counterpart that is not among them makes none."""
    known = {sample.key for sample in samples}
    found: dict[tuple[Complement, frozenset[str]], ConsistentPair] = {}
    for sample in samples:
        counterparts = sample.annotations.get("counterparts", {})
        complement: Complement
        for complement in ("video", "text"):
            other = counterparts.get(complement)
            if other in known:
                pair = ConsistentPair(
                    complement, sample.key, other, sample.annotations.get("subset"), _video(sample)
                )
                found.setdefault((complement, frozenset((sample.key, other))), pair)
    return tuple(found.values())


def consistent_accuracy(
    correct: Mapping[str, bool],
    pairs: Sequence[ConsistentPair],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> ConsistentAccuracy | None:
    """Accuracy over the pairs of which both samples are in `correct`; None where there is none.

    The interval is a percentile bootstrap over whole videos, since the pairs of one video share
    its frames and stand or fall together.
    """
    answered = [pair for pair in pairs if pair.first in correct and pair.second in correct]
    if not answered:
        return None
    both = np.array([correct[pair.first] and correct[pair.second] for pair in answered])
    videos, video = np.unique([pair.video for pair in answered], return_inverse=True)
    right, count = np.bincount(video, both), np.bincount(video)
    drawn = rng.integers(len(videos), size=(resamples, len(videos)))
    shares = right[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(shares, (tail, 1 - tail)).tolist()
    return ConsistentAccuracy(float(both.mean()), low, high, len(answered), len(videos))


def _video(sample: Sample) -> str:
    named = sample.annotations.get("video_id")
    return str(named) if named else digest({frame.key for frame in sample.frames})
