"""CLAVI: yes-no questions on what happened when, each with its complement in video and in text.

Rawal et al., 2024, section 5.1 and appendix B.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, Sample, UserError, digest

if TYPE_CHECKING:
    from cuescope_clavi.entries import Entry, Rules
    from cuescope_clavi.footage import Footage

# What a source shows timed actions with, few enough and finely enough, unless it is told otherwise.
SOURCES: dict[str, dict[str, Any]] = {
    "moving-shapes": {"actions": 2, "train": 400, "val": 60, "test": 60},
    "folder": {"frames": 64},
}
TIMED = """A manifest's column 'actions' times them in seconds: [["waving", 1.5, 4.0]]"""


class ClaviOptions(Options):
    """Where the videos and their actions come from, and how segments are cut."""

    argument: ClassVar[str | None] = "source"

    source: str = Field(
        description="a Charades folder (annotation and videos), or else a data set NAME[:ARG] "
        "whose samples have timed actions, such as moving-shapes"
    )
    source_options: Mapping[str, Any] = Field({}, description="options of that data set, as YAML")
    annotation: Path | None = Field(
        None, description="the published annotation (its file or folder) instead of curation"
    )
    videos: Path | None = Field(None, description="folder of the Charades videos; default PATH")
    frames: int = Field(8, ge=1, description="frames sampled uniformly from each segment")
    split: str | None = Field(
        None, description="train, val or test; default test of Charades, else what the source shows"
    )
    seed: int = Field(0, ge=0, description="another seed, other borders and negative controls")
    max_videos: int | None = Field(
        None, ge=1, description="source videos of the shown split, drawn at random; default all"
    )
    pairs_per_video: int | None = Field(
        None, ge=1, description="pairs of actions a source video, drawn at random; default all"
    )
    shortest: float = Field(4.0, ge=0, description="least length of an action, seconds or frames")
    extension: float = Field(
        2.0, ge=0, description="most that an action's region grows outwards, seconds or frames"
    )
    neighbourhood: float | None = Field(
        None, ge=0, description="how far from the segment its actions may not occur again; "
        "default: nowhere in the video",
    )  # fmt: skip
    max_missing: float = Field(
        0.5, ge=0, le=1, description="share of segments whose video may be missing or unreadable"
    )


class Clavi(Plugin):
    """19 questions about each segment and 19 about its complement, where two actions change places.

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
                remedy="See -D shortest, -D neighbourhood, and the source's own options",
            )
        self._ends = np.cumsum([len(asked) for entry in self.entries for asked in entry.asked])
        self.facts = self._counted() | self.facts
        self.fingerprint = digest(
            "clavi", options.frames, self.shown_split,
            [(e.key, e.segment.first, e.segment.second, e.segment.cuts, e.asked,
              self.footage[e.video].content) for e in self.entries],
        )  # fmt: skip

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, index: int) -> Sample:
        from cuescope_clavi.entries import sample_of

        index = range(len(self))[index]
        shown = int(np.searchsorted(self._ends, index, side="right"))
        number = index - int(self._ends[shown - 1]) if shown else index
        entry, complemented = self.entries[shown // 2], bool(shown % 2)
        footage = self.footage[entry.video]
        return sample_of(
            entry, footage, complemented, number, self.options.frames, self.shown_split
        )

    def split(self, name: str) -> Self:
        """The same of another split, of all its videos; no source video is in two of them."""
        changes: dict[str, Any] = {"split": name}
        if name != self.shown_split:
            changes["max_videos"] = None  # fewer to audit must not mean less to learn from
        return type(self)(self.options.model_copy(update=changes), self.context)

    @property
    def rules(self) -> "Rules":
        """How segments are cut."""
        from cuescope_clavi.entries import Rules

        options = self.options
        return Rules(
            options.shortest, options.neighbourhood, options.extension,
            options.pairs_per_video, options.max_videos, options.seed,
        )  # fmt: skip

    def _from_source(self) -> "tuple[list[Entry], dict[str, Footage]]":
        """Segments of the clips of another data set, a video being one of its samples."""
        from cuescope_clavi.entries import curate
        from cuescope_clavi.footage import action_names, clips_of
        from cuescope_clavi.questions import word_parts

        options = self.options
        if options.annotation is not None:
            raise UserError(
                "clavi: an annotation is of Charades", expected="clavi:FOLDER",
                got=f"'{options.source}', no folder that is there",
            )  # fmt: skip
        name = options.source.partition(":")[0]
        if Path(options.source).expanduser().is_file():
            raise _no_charades(options.source, "is a file")
        if "/" in name:
            raise UserError("clavi: no such folder", expected="a Charades folder, or NAME[:ARG] of "
                            "a data set", got=f"'{options.source}'")  # fmt: skip
        known = SOURCES.get(name, {})
        source = self.context.build("dataset", options.source, {**known, **options.source_options})
        if options.split is not None:
            if not hasattr(source, "split"):
                raise UserError(f"clavi: {options.source} has no splits",
                                remedy="Leave -D split out")  # fmt: skip
            source = source.split(options.split)
        listed, footage = clips_of(source[index] for index in range(len(source)))
        if not listed:
            raise UserError(
                f"clavi: no sample of {options.source} has timed actions",
                expected="an annotation 'actions': (name, first frame, frame after the last), ...",
                remedy=TIMED if name == "folder" else None,
            )
        self.shown_split = options.split or source[0].annotations.get("split")
        entries, without = curate(listed, word_parts(action_names(listed)), self.rules)
        self._note_without_control(without)
        return entries, footage

    def _from_charades(self, root: Path) -> "tuple[list[Entry], dict[str, Footage]]":
        """Segments of the videos of a Charades folder, curated or as published."""
        from cuescope_clavi.charades import is_charades, read_charades, read_classes
        from cuescope_clavi.entries import curate
        from cuescope_clavi.footage import open_videos
        from cuescope_clavi.published import published_entries
        from cuescope_sdk.data import describe_video_problems, require_enough_questions

        options = self.options
        if not is_charades(root):
            raise _no_charades(options.source, "has no file Charades_v1_*")
        self.shown_split = split = options.split or "test"
        classes = read_classes(root)
        if options.source_options:
            raise UserError("clavi: source_options", expected="none with a Charades folder")
        listed = read_charades(root, split, classes)
        if options.annotation is None:
            entries, without = curate(listed, classes.parts, self.rules)
        else:
            place = options.annotation.expanduser()
            entries, without = published_entries(place, split, classes, listed, self.rules)
        self._note_without_control(without)
        place = (options.videos or root).expanduser()
        footage, problems = open_videos([entry.video for entry in entries], place, self.context)
        kept = [entry for entry in entries if entry.video in footage]
        total = sum(map(len, entries))
        out = total - sum(map(len, kept))
        if entries:
            require_enough_questions("clavi", out, total, options.max_missing, problems, str(place))
        if out:
            self.facts["left out"] = (
                f"{out:,} of {total:,} questions: {describe_video_problems(problems)}"
            )
        return kept, footage

    def _note_without_control(self, count: int) -> None:
        if count:
            self.facts["no negative control"] = (
                f"{count:,} segments left out: every action has something in common with them"
            )

    def _counted(self) -> dict[str, str]:
        videos = len({entry.video for entry in self.entries})
        kinds = Counter(q.kind for entry in self.entries for asked in entry.asked for q in asked)
        return {
            "segments": f"{len(self.entries):,} of {videos:,} videos, each with its complement"
            + (f", split {self.shown_split}" if self.shown_split else ""),
            "questions": ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()),
        }


def _no_charades(source: str, got: str) -> UserError:
    return UserError(
        f"clavi: {source} {got}", expected="a Charades folder",
        remedy=f"For your own clips with a column 'actions' write clavi:folder:{source}",
    )  # fmt: skip
