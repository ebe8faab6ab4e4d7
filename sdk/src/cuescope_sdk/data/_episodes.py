"""Data sets whose samples are pictures taken in turn, with what was done between them.

A data set subclasses `Episodes` and gives an `Episode` for each sample; pictures are opened, and
those of them that cannot be shown leave their episodes out.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from cuescope_sdk import Context, Options, Sample, UserError, digest, generator
from cuescope_sdk.data._layouts import Layout
from cuescope_sdk.grounding._scenes import SCENE, TIMES, SceneFrame
from cuescope_sdk.models._refusals import refuse_unknown


def held_out_categories(
    named: Collection[str] | None,
    known: Collection[str],
    count: int,
    *,
    title: str,
    what: str,
) -> frozenset[str]:
    """The named categories; where none are named, `count` of the known ones, by a fixed lot.

    Raises UserError for a name that is not known, and for fewer known ones than are to be drawn.
    """
    if named is None:
        if len(known) < count:
            raise UserError(
                f"{title}: {count} held-out {what}s",
                expected=f"{count} or more",
                got=f"{len(known)} in all",
                remedy="Name them instead",
            )
        # sorted: a set has another order in each process
        drawn = generator(0, title, what).choice(sorted(known), count, replace=False)
        return frozenset(map(str, drawn))
    for name in named:
        refuse_unknown(title, what, name, sorted(known))
    return frozenset(named)


# ---------------------------------------------------------------------------------------- episodes


@dataclass(frozen=True, slots=True)
class Episode:
    """A sample to be: a picture, a time in seconds and what is known, for each frame.

    `group` is what was drawn independently (the game, the house), None where that is not known.
    """

    key: str
    pictures: tuple[Path, ...]
    times: tuple[float, ...]
    scene: tuple[SceneFrame, ...]
    question: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    group: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Its pictures."""
        return self.pictures


class EpisodeOptions(Options):
    """Where the annotation and the pictures are."""

    argument = "path"

    path: Path = Field(description="the folder of the authors' annotation files")
    images: Path | None = Field(
        None, description="the folder of the pictures; default PATH/images"
    )
    split: str = Field(description="which split to show")
    max_missing: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of samples whose pictures may be missing or unreadable",
    )


class Episodes(Layout):
    """One sample an episode whose pictures are all there and can be decoded.

    A subclass names itself (`title`) and its splits, and reads its layout. Raises UserError for
    what is not in the authors' layout, and BadDataError where more than `max_missing` of the
    episodes are left out.
    """

    Options: ClassVar[type[Options]] = EpisodeOptions
    options: EpisodeOptions

    def __init__(self, options: EpisodeOptions, context: Context) -> None:
        super().__init__(options, context)
        if not self.root.is_dir():
            raise UserError(f"{self.title}: no such folder", got=f"'{self.root}'")
        self.images = (
            options.images.expanduser() if options.images else self.root / "images"
        )
        episodes = list(self.read(options.split))
        self.episodes, left_out = self.keep_shown(
            episodes,
            "sample",
            [self.root, self.images],
            f"Pictures are looked for in {self.images} (-O data.images=FOLDER)",
        )
        self.facts["samples"] = f"{len(self.episodes):,}, split {options.split}"
        self.facts |= left_out

    def read(self, split: str) -> Iterable[Episode]:
        """The episodes of a split; may add to `facts`."""
        raise NotImplementedError

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything that a sample shows."""
        shown = []
        for e in self.episodes:
            # by content: a path is of this machine
            pictures = [self.probes[picture].digest for picture in e.pictures]
            shown.append((e.key, e.question, e.annotations, e.times, e.scene, pictures))
        return digest(self.title, self.options.split, shown)

    def __len__(self) -> int:
        return len(self.episodes)

    def group_of(self, index: int) -> str | None:
        """The group of an episode."""
        return self.episodes[index].group

    def __getitem__(self, index: int) -> Sample:
        episode = self.episodes[index]
        base = {"split": self.options.split, SCENE: episode.scene, TIMES: episode.times}
        return Sample(
            key=episode.key,
            frames=tuple(self.probes[path].image() for path in episode.pictures),
            question=episode.question,
            group=episode.group,
            annotations={**base, **episode.annotations},
        )
