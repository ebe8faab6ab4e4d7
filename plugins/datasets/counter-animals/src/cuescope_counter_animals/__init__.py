"""CounterAnimal (Wang et al., 2024): animals on two backgrounds, easy and hard for CLIP models.

The authors' `LAION-final`: a folder a class ("296 ice bear", with ImageNet's number), and in it
`common-snow` with the easy photos and `counter-grass` with the hard ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from cuescope_sdk import Names, PlantedCue, UserError
from cuescope_sdk.data import ImageFolder, ImageFolderOptions, ImageItem, MediaFolder

GROUPS = {"common": "easy", "counter": "hard"}
_CLASS = re.compile(r"(\d+)\s+(\S.*)")
_GROUP = re.compile(r"(common|counter)-(\S.*)")


class Group(NamedTuple):
    """A folder of photos of one class on one background; `difficulty` is "easy" or "hard"."""

    folder: Path
    number: int
    label: str
    difficulty: str
    background: str


class CounterAnimalsOptions(ImageFolderOptions):
    """Those of every image folder; both groups are shown by default."""

    split: Annotated[str, Names.part()] = Field(
        "all", description="which group to show: all, easy or hard"
    )


class CounterAnimals(ImageFolder):
    """A sample a photo; every class's common background is an annotated cue.

    No group: nothing in the authors' folders says which photos are of one animal or photographer.
    """

    Options = CounterAnimalsOptions
    title: ClassVar[str] = "counter-animals"
    benchmark: str | None = "CounterAnimals"
    split_names: ClassVar[tuple[str, ...]] = ("all", "easy", "hard")

    def read(self, split: str) -> Iterator[ImageItem]:
        """The photos of one group, or of both; sets `planted_cues`."""
        # by number: names of folders would sort 10 before 9
        groups = sorted(
            self._groups(), key=lambda group: (group.number, group.difficulty)
        )
        # A background that is common for one class may be the hard one of another: as a cue it
        # is annotated in the photos of every class, and gives away those that it is common for.
        easy: dict[str, list[str]] = {}
        for group in groups:
            if group.difficulty == "easy":
                easy.setdefault(group.background, []).append(group.label)
        self.planted_cues: tuple[PlantedCue, ...] = ()
        for background in sorted(easy):
            name = cue_name(background)
            self.planted_cues += (
                PlantedCue(key=name, name=name, labels=tuple(easy[background])),
            )
        self.labels = tuple(dict.fromkeys(group.label for group in groups))
        root = groups[0].folder.parent.parent  # keys do not tell where the folder is
        for group in groups:
            if split not in ("all", group.difficulty):
                continue
            annotations = _annotations(group, sorted(easy))
            for photo in MediaFolder(group.folder).images():
                key = photo.relative_to(root).as_posix()
                label = group.label
                yield ImageItem(key, photo, (label,), label, annotations)

    def _groups(self) -> Iterator[Group]:
        root = self.place("LAION-final", ".")
        folders = []
        for folder in MediaFolder(root).folders():
            name = _CLASS.fullmatch(folder.name)
            if name:
                folders += [(name, inner) for inner in MediaFolder(folder).folders()]
        if not folders:
            raise UserError(
                f"{self.title}: no class folders",
                expected=f"'296 ice bear/common-snow' in {root}",
            )
        for name, folder in folders:
            group = _GROUP.fullmatch(folder.name)
            if group is None:
                raise UserError(
                    f"{self.title}: folder '{folder.parent.name}/{folder.name}'",
                    expected="common-BACKGROUND or counter-BACKGROUND",
                )
            label = name[2].replace("_", " ")
            background = group[2].replace("_", " ")
            yield Group(folder, int(name[1]), label, GROUPS[group[1]], background)


def cue_name(background: str) -> str:
    """What a background is called as a cue."""
    return f"{background} background"


def _annotations(group: Group, cues: list[str]) -> dict[str, object]:
    return {
        "factors": {"background": group.background, "difficulty": group.difficulty},
        "subgroup": f"{group.label} on {group.background}",
        "class_number": group.number,
        "cues": {cue_name(cue): (cue == group.background,) for cue in cues},
    }
