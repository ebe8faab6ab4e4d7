"""CounterAnimal (Wang et al., 2024): animals on two backgrounds, easy and hard for CLIP models.

The authors' `LAION-final`: a folder a class ("296 ice bear", with ImageNet's number), and in it
`common-snow` with the easy photos and `counter-grass` with the hard ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple

from pydantic import Field

from cuescope_sdk import Options, UserError
from cuescope_sdk.data import (
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    Listing,
    folders_in,
    images_in,
)

GROUPS = {"common": "easy", "counter": "hard"}
_CLASS = re.compile(r"(\d+)\s+(\S.*)")
_GROUP = re.compile(r"(common|counter)-(\S.*)")


class Group(NamedTuple):
    """A folder of photos of one class on one background; `side` is "easy" or "hard"."""

    folder: Path
    number: int
    label: str
    side: str
    background: str


class CounterAnimalsOptions(ImageFolderOptions):
    """Those of every image folder; both groups are shown by default."""

    split: str = Field("all", description="which group to show: all, easy or hard")


class CounterAnimals(ImageFolder):
    """A sample a photo; every class's common background is an annotated cue."""

    Options: ClassVar[type[Options]] = CounterAnimalsOptions
    title: ClassVar[str] = "counter-animals"
    split_names: ClassVar[tuple[str, ...]] = ("all", "easy", "hard")

    def read(self, split: str) -> Listing:
        """The photos of one group, or of both."""
        groups = sorted(self._groups(), key=lambda group: (group.number, group.side))
        cues = sorted({group.background for group in groups if group.side == "easy"})
        root = groups[0].folder.parent.parent
        items = [
            ImageItem(
                photo.relative_to(root).as_posix(), photo, (group.label,),
                label=group.label, annotations=_annotations(group, cues),
            )
            for group in groups
            if split in ("all", group.side)
            for photo in images_in(group.folder)
        ]  # fmt: skip
        return Listing(tuple(dict.fromkeys(group.label for group in groups)), items)

    def _groups(self) -> Iterator[Group]:
        root = self.place("LAION-final", ".")
        found = 0
        for folder in folders_in(root):
            named = _CLASS.fullmatch(folder.name)
            for inner in folders_in(folder) if named else ():
                group = _GROUP.fullmatch(inner.name)
                if named is None or group is None:
                    raise UserError(
                        f"{self.title}: folder '{folder.name}/{inner.name}'",
                        expected="common-BACKGROUND or counter-BACKGROUND",
                    )
                found += 1
                label, background = (text.replace("_", " ") for text in (named[2], group[2]))
                yield Group(inner, int(named[1]), label, GROUPS[group[1]], background)
        if not found:
            raise UserError(f"{self.title}: no class folders",
                            expected=f"'296 ice bear/common-snow' in {root}")  # fmt: skip


def _annotations(group: Group, cues: list[str]) -> dict[str, object]:
    return {
        "factors": {"background": group.background, "difficulty": group.side},
        "group": f"{group.label} on {group.background}",
        "class_number": group.number,
        "cues": {f"{cue} background": (cue == group.background,) for cue in cues},
    }
