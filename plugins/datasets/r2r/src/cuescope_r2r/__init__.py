"""R2R (Anderson et al., 2018): instructions to walk through a house, and the way that was meant.

The authors' `R2R_{train,val_seen,val_unseen,test}.json`, and of the Matterport3D simulator the
`SCAN_connectivity.json` of each house, whose poses tell every turn. Pictures are one's own renders.
"""

from collections.abc import Iterator
from math import degrees
from typing import Annotated, ClassVar

from pydantic import Field

from cuescope_r2r.layout import PathRow, Viewpoint, check_path
from cuescope_r2r.samples import picture_of, walk
from cuescope_sdk import Names, UserError
from cuescope_sdk.data import Episode, EpisodeOptions, Episodes

NAMES = {"iid": "val_seen", "ood": "val_unseen"}
UNSEEN = ("val_unseen", "test")


class R2ROptions(EpisodeOptions):
    """Those of every data set of pictures in turn."""

    split: Annotated[str, Names.part()] = Field(
        "val_seen", description="train, val_seen (or iid), val_unseen (or ood), or test"
    )


class R2R(Episodes):
    """A sample an instruction: a frame where the walk begins, and after each turn and each stretch.

    Its group is the house: all paths of a house show the same rooms.

    Its annotation "scene" says what motion led to each frame. "times" number the frames: there is
    no clock. "viewpoints" and "headings" (degrees from the y axis to the right) are by frame;
    "scan", "path_id", "path" and "distance" (metres) are the authors'.
    """

    Options = R2ROptions
    options: R2ROptions
    title: ClassVar[str] = "r2r"
    benchmark: str | None = "R2R"
    split_names: ClassVar[tuple[str, ...]] = (
        "train",
        "val_seen",
        "val_unseen",
        "test",
        *NAMES,
    )

    def read(self, split: str) -> Iterator[Episode]:
        """The instructions of a split; raises UserError where an unseen house was trained on."""
        split = NAMES.get(split, split)
        rows = self._rows(split)
        # each house's file is read once
        houses = {}
        for scan in sorted({row.scan for row in rows}):
            file = self.file(f"{scan}_connectivity.json")
            viewpoints = file.json_rows(Viewpoint)
            houses[scan] = {viewpoint.image_id: viewpoint for viewpoint in viewpoints}
        self.facts["houses"] = f"{len(houses)}{self._unseen(set(houses), split)}"
        for row in rows:
            house = houses[row.scan]
            check_path(row, house, f"{self.title}: R2R_{split}.json path {row.path_id}")
            yield from self._episodes(row, house)

    def _episodes(self, row: PathRow, house: dict[str, Viewpoint]) -> Iterator[Episode]:
        """One for each instruction of a path."""
        positions = {name: house[name].position for name in row.path}
        steps = walk(row.path, positions, degrees(row.heading))
        pictures = tuple(picture_of(self.images, row.scan, step) for step in steps)
        known = {
            "scan": row.scan,
            "path_id": row.path_id,
            "path": row.path,
            "distance": row.distance,
            "viewpoints": tuple(step.viewpoint for step in steps),
            "headings": tuple(round(step.heading % 360, 2) for step in steps),
        }
        for number, instruction in enumerate(row.instructions):
            yield Episode(
                f"{row.path_id}_{number}",
                pictures,
                tuple(map(float, range(len(steps)))),  # no clock: frames are counted
                tuple(step.scene for step in steps),
                instruction,
                known,
                row.scan,
            )

    def _rows(self, split: str) -> list[PathRow]:
        return self.file(f"R2R_{split}.json").json_rows(PathRow)

    def _unseen(self, houses: set[str], split: str) -> str:
        """In words, whether the houses of an unseen split are in no path of training."""
        if split not in UNSEEN:
            return ""
        try:
            trained = {row.scan for row in self._rows("train")}
        except UserError:
            return "; they may be in training too: R2R_train.json cannot be read"
        if shared := sorted(houses & trained):
            raise UserError(
                f"{self.title}: R2R_{split}.json",
                expected="no house of R2R_train.json",
                got=f"{len(shared)} of them: {', '.join(shared[:3])}",
            )
        return f", none of them among the {len(trained)} of R2R_train.json"
