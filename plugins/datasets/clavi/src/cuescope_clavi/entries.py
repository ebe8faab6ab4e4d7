"""Segments with their questions, each about an original and a complement video."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cuescope_clavi.curation import Action, Segment, exclusive_pairs, extended, source_times
from cuescope_clavi.footage import Footage, Listed
from cuescope_clavi.questions import (
    CHOICES,
    SUBSETS,
    Question,
    complement,
    drawn,
    negative_controls,
    questions,
)
from cuescope_sdk import Sample, generator

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Entry:
    """A segment of a video, and what is asked about the original and about the complement."""

    key: str
    video: str
    segment: Segment
    asked: tuple[Sequence[Question], Sequence[Question]]

    def __len__(self) -> int:
        return sum(map(len, self.asked))


@dataclass(frozen=True, slots=True)
class Rules:
    """How pairs of actions are chosen and their borders moved; see the options."""

    shortest: float
    neighbourhood: float | None
    extension: float
    pairs_per_video: int | None
    max_videos: int | None
    seed: int

    @property
    def most(self) -> float:
        """The most that a border moves outwards: not into what may hold the action again."""
        near = self.extension if self.neighbourhood is None else self.neighbourhood
        return min(self.extension, near)


def curate(
    listed: Iterable[Listed], parts: Mapping[str, frozenset[str]], rules: Rules
) -> tuple[list[Entry], int]:
    """The segments, and how many were left out for want of a negative control.

    `parts` are the object and verb, or the words, of every action that may serve as one.
    """
    videos = {video.video: video for video in listed}
    pairs = {
        name: exclusive_pairs(
            video.actions, shortest=rules.shortest, neighbourhood=rules.neighbourhood
        )
        for name, video in videos.items()
    }
    entries = [
        _entry(videos[name], index, pair, parts, rules)
        for name, index, pair in chosen(pairs, rules)
    ]
    kept = [entry for entry in entries if entry is not None]
    return kept, len(entries) - len(kept)


def chosen(groups: Mapping[str, Sequence[Item]], rules: Rules) -> Iterator[tuple[str, int, Item]]:
    """(video, index, item) of as many videos that have any, and items of each, as the rules say."""
    names = [name for name, items in groups.items() if items]
    rng = generator(rules.seed, "clavi", "videos")
    for name in (names[index] for index in _drawn_of(len(names), rules.max_videos, rng)):
        rng = generator(rules.seed, "clavi", "pairs", name)
        for index in _drawn_of(len(groups[name]), rules.pairs_per_video, rng):
            yield name, index, groups[name][index]


def asked_of(
    segment: Segment,
    occurring: frozenset[str],
    parts: Mapping[str, frozenset[str]],
    rng: np.random.Generator,
) -> tuple[tuple[Question, ...], tuple[Question, ...]] | None:
    """The questions about both videos; None where every action shares something with these."""
    negative = drawn(negative_controls(tuple(occurring), parts), rng)
    if negative is None:
        return None
    asked = questions(segment.first.name, segment.second.name, negative)
    return asked, asked


def sample_of(
    entry: Entry, footage: Footage, complemented: bool, number: int, frames: int, split: str | None
) -> Sample:
    """Question `number` about the original or the complement video."""
    asked = entry.asked[complemented]
    question = asked[number]
    times = source_times(entry.segment.spans(complemented), frames)
    turned = complement(question.text)
    counterparts = {
        "video": _key(entry, not complemented, question.text),
        "text": None if turned is None else _key(entry, complemented, turned),
    }
    return Sample(
        key=f"{_video_key(entry, complemented)}-{number:02d}",
        frames=footage.look(times),
        question=question.text,
        choices=CHOICES,
        label=question.answer(complemented),
        annotations={
            "question_type": question.kind,
            "subset": SUBSETS[question.kind],
            "split": split,
            "counterparts": {kind: key for kind, key in counterparts.items() if key is not None},
            "video": "complement" if complemented else "original",
            "video_id": entry.video,
            "actions": shown_actions(entry.segment, times),
        },
    )


def shown_actions(segment: Segment, times: Sequence[float]) -> tuple[tuple[str, int, int], ...]:
    """(name, first frame, frame after the last) of the segment's actions, looked at at `times`.

    In the order in which they are seen; an action that falls between two frames is none of them.
    """
    seen = []
    for action in (segment.first, segment.second):
        within = [i for i, time in enumerate(times) if action.start <= time < action.end]
        if within:
            seen.append((action.name, within[0], within[-1] + 1))
    return tuple(sorted(seen, key=lambda shown: shown[1]))


def _entry(
    video: Listed,
    index: int,
    pair: tuple[Action, Action],
    parts: Mapping[str, frozenset[str]],
    rules: Rules,
) -> Entry | None:
    rng = generator(rules.seed, "clavi", video.video, str(index))
    segment = extended(*pair, video.length, rng, most=rules.most, step=video.step)
    occurring = frozenset(action.name for action in video.actions)
    asked = asked_of(segment, occurring, parts, rng)
    return Entry(f"{video.video}-{index}", video.video, segment, asked) if asked else None


def _drawn_of(count: int, most: int | None, rng: np.random.Generator) -> Sequence[int]:
    if most is None or most >= count:
        return range(count)
    return sorted(rng.choice(count, most, replace=False).tolist())


def _video_key(entry: Entry, complemented: bool) -> str:
    return f"{entry.key}_{2 if complemented else 1}"


def _key(entry: Entry, complemented: bool, text: str) -> str | None:
    """The sample that asks `text` about this video."""
    texts = [question.text for question in entry.asked[complemented]]
    return f"{_video_key(entry, complemented)}-{texts.index(text):02d}" if text in texts else None
