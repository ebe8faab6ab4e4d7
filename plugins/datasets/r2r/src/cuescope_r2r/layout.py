"""The authors' files: paths with instructions, and the viewpoints of a house."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, FiniteFloat

from cuescope_r2r.walking import Position, Step
from cuescope_sdk import UserError, nearest

SUFFIXES = (".jpg", ".png")


class PathRow(BaseModel):
    """An entry of `R2R_{split}.json`; `heading` in radians. The test split has only path starts."""

    scan: str
    path_id: int
    path: Annotated[tuple[str, ...], Field(min_length=1)]
    heading: FiniteFloat
    instructions: tuple[str, ...]
    distance: FiniteFloat | None = None


class Viewpoint(BaseModel):
    """An entry of `SCAN_connectivity.json`: a 4x4 pose row by row, metres, z up."""

    image_id: str
    pose: Annotated[tuple[FiniteFloat, ...], Field(min_length=16, max_length=16)]
    included: bool
    unobstructed: tuple[bool, ...]

    @property
    def position(self) -> Position:
        """x, y, z."""
        return self.pose[3], self.pose[7], self.pose[11]


def check(row: PathRow, house: Mapping[str, Viewpoint], place: str) -> None:
    """Raise UserError for a path of viewpoints that are not there, or not next to each other."""
    known = {name for name, viewpoint in house.items() if viewpoint.included}
    for name in row.path:
        if name not in known:
            raise UserError(f"{place}: no viewpoint '{name[:60]}' in house {row.scan}",
                            remedy=nearest(name, known))  # fmt: skip
    order = {name: number for number, name in enumerate(house)}
    for here, there in pairwise(row.path):
        open_to = house[here].unobstructed
        if order[there] >= len(open_to) or not open_to[order[there]]:
            raise UserError(place, expected="viewpoints that one can walk between",
                            got=f"{here}, then {there}")  # fmt: skip


def picture_of(images: Path, scan: str, step: Step) -> Path:
    """The picture of a step: its view, else one of all the viewpoint, else the simulator's skybox.

    Where none is there, the first that was looked for.
    """
    house = images / scan
    stems = [
        house / step.viewpoint / str(step.view),
        house / step.viewpoint,
        house / "matterport_skybox_images" / f"{step.viewpoint}_skybox_small",
    ]
    places = [stem.with_name(stem.name + suffix) for stem in stems for suffix in SUFFIXES]
    return next((place for place in places if place.is_file()), places[0])
