"""CLAVI: yes-no questions on what happened when, each with its complement in video and in text.

Rawal et al., 2024, section 5.1 and appendix B.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product, starmap
from pathlib import Path
from typing import Any, Self

import numpy as np

from cuescope_clavi.layout import is_charades, read_charades, read_classes
from cuescope_clavi.options import ClaviOptions
from cuescope_clavi.questions import Question, word_parts
from cuescope_clavi.samples import (
    Entry,
    Footage,
    clip_footage,
    curate,
    make_sample,
    open_footage,
    published_entries,
    video_key,
)
from cuescope_sdk import Context, HasSplits, Plugin, Sample, UserError, digest
from cuescope_sdk.data import Probe, Videos

# Options with which a source shows timed actions, few and fine enough, where none are given.
SOURCES: dict[str, dict[str, Any]] = {
    "moving-shapes": {"actions": 2, "train": 400, "val": 60, "test": 60},
    "folder": {"frames": 64},
}
TIMED = (
    """A manifest's column 'actions' times them in seconds: [["waving", 1.5, 4.0]]"""
)


class Clavi(Plugin):
    """19 questions about each segment and 19 about its complement, where two actions change places.

    All questions about the segments of a source video, and about their complements, are a group; of
    another data set's clips, all of a group there.

    Raises UserError for a source that cannot be had or has no two actions to tell apart, and
    BadDataError where more than `max_missing` of the segments have no readable video.
    """

    Options = ClaviOptions
    labels: tuple[str, ...] = ("yes", "no")

    def __init__(self, options: ClaviOptions, context: Context) -> None:
        super().__init__(options, context)
        self.options: ClaviOptions = options
        self.facts: dict[str, str] = {}
        self.shown_split = options.split
        # The figures of the paper are of Charades; other videos only follow its recipe.
        self.benchmark: str | None = None
        self.source = options.source
        self.parts: Mapping[str, frozenset[str]] = {}
        root = Path(options.source).expanduser()
        self.entries, self.footage = (
            self._from_charades(root) if root.is_dir() else self._from_source()
        )
        if not self.entries:
            raise UserError(
                f"clavi: no segment can be cut from {options.source}",
                expected=f"two actions of {options.shortest:g} s (or frames) or more, one after "
                "the other, neither of them repeated, and a third that is unlike all of the video",
                got=self.facts.get("no negative control", "none"),
                remedy="See -O data.shortest, and the source's own options",
            )
        # published questions are not always whole: counted, not 19 times the videos
        self._ends = np.cumsum(list(map(len, of_videos(self.entries))))
        self.clips = self._open_clips() if options.clips is not None else {}
        self.facts = self._counts() | self.facts
        self.fingerprint = self._digest()

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, index: int) -> Sample:
        # raises IndexError beyond the end, counts back from -1
        index = range(len(self))[index]
        # Videos stand in pairs, an original and its complement, each with its own questions.
        video = int(np.searchsorted(self._ends, index, side="right"))
        number = index - int(self._ends[video - 1]) if video else index
        entry = self.entries[video // 2]
        complemented = bool(video % 2)
        footage = self.footage[entry.video]
        frames = self.options.frames
        sample = make_sample(
            entry, footage, complemented, number, frames, self.shown_split
        )
        # of a written clip frames and features must be of the same file
        clip = self.clips.get(video_key(entry, complemented))
        return sample if clip is None else replace(sample, frames=clip.clip(frames))

    def _digest(self) -> str:
        """Of all that decides the samples; of written clips also what they show."""
        shown = []
        for entry in self.entries:
            segment = entry.segment
            shown.append(
                (
                    entry.key,
                    segment.first,
                    segment.second,
                    segment.cuts,
                    entry.questions,
                    self.footage[entry.video].content,
                )
            )
        parts: list[object] = ["clavi", self.options.frames, self.shown_split, shown]
        if self.clips:
            parts.append({name: clip.digest for name, clip in self.clips.items()})
        return digest(*parts)

    def split(self, name: str) -> Self:
        """The same of another split; no source video is in two of them."""
        return self.with_options(split=name)

    def _from_source(self) -> tuple[list[Entry], dict[str, Footage]]:
        """Segments of the clips of another data set, a video being one of its samples."""
        options = self.options
        if options.annotation is not None:
            raise UserError(
                "clavi: an annotation is of Charades",
                expected="clavi:FOLDER",
                got=f"'{options.source}', no folder that is there",
            )
        name = options.source.partition(":")[0]
        if Path(options.source).expanduser().is_file():
            raise _no_charades(options.source, "is a file")
        # a path that is not there, for names of data sets have no slash
        if "/" in name:
            raise UserError(
                "clavi: no such folder",
                expected="a Charades folder, or NAME[:ARG] of a data set",
                got=f"'{options.source}'",
            )
        # what a person says wins
        given = {**SOURCES.get(name, {}), **options.source_options}
        source = self.context.build("dataset", options.source, given)
        if options.split is not None:
            if not isinstance(source, HasSplits):
                raise UserError(
                    f"clavi: {options.source} has no splits",
                    remedy="Leave -O data.split out",
                )
            source = source.split(options.split)
        videos, footage = clip_footage(map(source.__getitem__, range(len(source))))
        if not videos:
            raise UserError(
                f"clavi: no sample of {options.source} has timed actions",
                expected="an annotation 'actions': (name, first frame, frame after the last), ...",
                remedy=TIMED if name == "folder" else None,
            )
        # a source says on its samples which split it shows by itself
        self.shown_split = options.split or source[0].annotations.get("split")
        # sorted: a negative control is drawn by its number among them
        names = sorted({action.name for video in videos for action in video.actions})
        entries, without = curate(videos, word_parts(names), options)
        self._note_without_control(without)
        return entries, footage

    def _from_charades(self, root: Path) -> tuple[list[Entry], dict[str, Footage]]:
        """Segments of the videos of a Charades folder, curated or as published."""
        options = self.options
        if not is_charades(root):
            raise _no_charades(options.source, "has no file Charades_v1_*")
        self.benchmark = "CLAVI"
        self.shown_split = split = options.split or "test"
        classes = read_classes(root)
        self.parts = classes.parts
        if options.source_options:
            raise UserError(
                "clavi: source_options", expected="none with a Charades folder"
            )
        videos = read_charades(root, split, classes)
        if options.annotation is None:
            entries, without = curate(
                videos, classes.parts, options, classes.objectless
            )
        else:
            entries, without = published_entries(
                options.annotation.expanduser(), split, classes, videos, options
            )
        self._note_without_control(without)
        folder = (options.videos or root).expanduser()
        footage, opened = open_footage(
            [entry.video for entry in entries], folder, self.context
        )
        readable = [entry for entry in entries if entry.video in footage]
        total = sum(map(len, entries))
        out = total - sum(map(len, readable))
        # without entries the constructor says what is wrong
        if entries:
            opened.require_enough("clavi", out, total, options.max_missing)
        if out:
            reasons = opened.describe_problems()
            self.facts["left out"] = f"{out:,} of {total:,} questions: {reasons}"
        return readable, footage

    def _open_clips(self) -> Mapping[str, Probe]:
        """The written clips; raises UserError where one is missing, for then all would be mixed."""
        names = list(starmap(video_key, product(self.entries, (False, True))))
        folder = Path(self.options.clips or ".").expanduser()
        clips = Videos.open(folder, names, self.context, "clavi")
        if clips.problems:
            name, problem = next(iter(clips.problems.items()))
            raise UserError(
                f"clavi: {len(clips.problems):,} of {len(names):,} clips are not in {folder.name}",
                expected=f"{name}.mp4 and the others",
                got=problem,
                remedy="Write them with `cuescope dev bench clavi --write`, with the same options.",
            )
        return clips.good

    def _note_without_control(self, count: int) -> None:
        if count:
            self.facts["no negative control"] = (
                f"{count:,} segments left out: no action is unlike all that their video shows"
            )

    def _counts(self) -> dict[str, str]:
        videos = len({entry.video for entry in self.entries})
        segments = (
            f"{len(self.entries):,} of {videos:,} videos, each with its complement"
        )
        if self.shown_split:
            segments += f", split {self.shown_split}"
        kinds = count_types(self.entries).items()
        questions = ", ".join(f"{count:,} {kind}" for kind, count in kinds)
        return {"segments": segments, "questions": questions}


def of_videos(entries: Sequence[Entry]) -> Iterator[Sequence[Question]]:
    """The questions about each original, and about its complement."""
    for entry in entries:
        yield from entry.questions


def count_types(entries: Sequence[Entry]) -> Counter[str]:
    """How many questions there are of each type."""
    questions = chain.from_iterable(of_videos(entries))
    return Counter(question.kind for question in questions)


def _no_charades(source: str, got: str) -> UserError:
    return UserError(
        f"clavi: {source} {got}",
        expected="a Charades folder",
        remedy=f"For your own clips with a column 'actions' write clavi:folder:{source}",
    )


__all__ = ["Clavi", "ClaviOptions"]
