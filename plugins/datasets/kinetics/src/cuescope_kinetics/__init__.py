"""Kinetics (Kay et al., 2017): clips of ten seconds, each with one of 400 human actions.

The authors' `{train,val,test}.csv`, or folders of clips by class without one. "val-dev" and
"val-test" are the two parts into which TRoVe (appendix C) splits the validation set.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from cuescope_kinetics.layout import Clip, clips_in_folders, clips_in_table, table_names
from cuescope_sdk import Context, Names, Sample, Words, generator
from cuescope_sdk.data import (
    Probe,
    Question,
    VideoQuestionOptions,
    VideoQuestions,
    shorten_names,
)
from cuescope_sdk.models import refuse_unknown

PARTS = ("val-dev", "val-test")
UNCUT = 1.0  # seconds that a file must be longer than its clip to be the whole upload


class KineticsOptions(VideoQuestionOptions):
    """Those of every set of videos, the classes wanted, and how the validation set is parted."""

    split: Annotated[str, Names.part()] = Field(
        "val",
        description="which split to show: train, val, test, or a part of val: val-dev, val-test",
    )
    classes: Annotated[tuple[str, ...] | None, Words()] = Field(
        None, description="only these classes: NAME,NAME; other videos are never opened"
    )
    per_class: int | None = Field(
        None,
        ge=1,
        description="at most so many clips a class, spread evenly over its own",
    )
    dev_share: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="share of each class's validation clips that val-dev has",
    )
    split_seed: int = Field(
        0,
        ge=0,
        description="another seed, another val-dev and val-test",
    )


class Kinetics(VideoQuestions):
    """A sample a clip, labelled with its action; the group is the upload, by its YouTube id.

    The choices are all classes of the split's table. Of a file that is the whole upload only the
    clip's seconds are shown.
    """

    Options = KineticsOptions
    options: KineticsOptions
    title: ClassVar[str] = "kinetics"
    benchmark: str | None = "Kinetics"
    thing: ClassVar[str] = "clip"
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test", *PARTS)

    def __init__(self, options: KineticsOptions, context: Context) -> None:
        super().__init__(options, context)
        shown = {question.label for question in self.questions}
        empty = sorted(set(self.labels) - shown)
        if empty:
            self.facts["classes without a clip"] = (
                f"{len(empty)} of {len(self.labels)} ({shorten_names(empty)}); they stay among the "
                "choices"
            )

    def read(self, split: str) -> Iterator[Question]:
        """The clips of a split; raises UserError for a class that it has not."""
        official = "val" if split in PARTS else split
        root = self.root
        table = self.find(*table_names(official))
        folder = (self.options.videos or root).expanduser()
        if table is not None:
            clips = clips_in_table(table)
            self.facts["labels from"] = table.path.name
        else:
            clips = clips_in_folders(root, folder, official, self.title)
            self.facts["labels from"] = "the folders of the clips"
        clips = self._select(clips)
        if split in PARTS:
            clips = self._part(clips, split)
        for clip in clips:
            yield Question(
                clip.name,
                clip.name,
                choices=self.labels,
                label=clip.label,
                annotations={}
                if clip.start is None
                else {"clip": (clip.start, clip.end)},
                group=clip.youtube_id,
            )

    def file_names(self, video: str) -> tuple[str, ...]:
        """The name of the clip, ID_START_END with six digits each, or the id alone."""
        return tuple(dict.fromkeys((video, self._ids[video])))

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        question = self.questions[index]
        video = self.clips[question.video]
        # clips of folders may have no times
        start, end = question.annotations.get("clip", (0.0, 0.0))
        # a file called by the id alone may be the whole upload
        maybe_whole = video.path.stem != question.video
        if maybe_whole and video.times()[-1] > end - start + UNCUT:
            frames = video.clip(self.options.frames, start, end)
            return replace(sample, frames=frames)
        return sample

    def _select(self, clips: Sequence[Clip]) -> list[Clip]:
        """Those of the classes wanted, which become the labels."""
        by_class: dict[str, list[int]] = {}
        for index, clip in enumerate(clips):
            by_class.setdefault(clip.label, []).append(index)
        labels = sorted(by_class)
        wanted = self.options.classes or labels
        for name in wanted:
            refuse_unknown(self.title, "class", name, labels)
        # of the classes wanted, not of the clips that per_class leaves
        self.labels = tuple(sorted(set(wanted)))
        selected: list[int] = []
        for label in self.labels:
            indices = by_class[label]
            count = min(self.options.per_class or len(indices), len(indices))
            selected += map(
                indices.__getitem__, Probe.sample_indices(len(indices), count)
            )
        # in the order of the table, not by class
        clips = [clips[index] for index in sorted(selected)]
        self._ids = {clip.name: clip.youtube_id for clip in clips}
        return clips

    def _part(self, clips: Sequence[Clip], split: str) -> list[Clip]:
        """Those in the part; each class is parted by itself, whole uploads at a time."""
        uploads: dict[str, set[str]] = {}
        for clip in clips:
            uploads.setdefault(clip.label, set()).add(clip.youtube_id)
        dev: set[tuple[str, str]] = set()
        for label, ids in uploads.items():
            # by class: another class changes nothing in the part of this one
            rng = generator(self.options.split_seed, "kinetics", label)
            count = round(self.options.dev_share * len(ids))
            # a set has another order in each run
            ordered = sorted(ids)
            for index in rng.permutation(len(ids))[:count]:
                dev.add((label, ordered[index]))
        self.facts["parts"] = (
            f"val-dev has {self.options.dev_share:.0%} of each class's clips, val-test the others "
            f"(seed {self.options.split_seed})"
        )
        wants_dev = split == PARTS[0]
        return [
            clip
            for clip in clips
            if ((clip.label, clip.youtube_id) in dev) == wants_dev
        ]
