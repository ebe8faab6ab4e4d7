"""The authors' files: paths with instructions, and the viewpoints of a house."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, Field, FiniteFloat

from cuescope_sdk import UserError, nearest

Position = tuple[float, float, float]


# metres of a house, or radians: of larger ones the sums are no numbers
Modest = Annotated[float, Field(ge=-1e6, le=1e6)]


class PathRow(BaseModel):
    """An entry of `R2R_{split}.json`; `heading` in radians. The test split has only path starts."""

    scan: str
    path_id: int
    path: Annotated[tuple[str, ...], Field(min_length=1)]
    heading: Modest
    instructions: tuple[str, ...]
    distance: FiniteFloat | None = None


class Viewpoint(BaseModel):
    """An entry of `SCAN_connectivity.json`: a 4x4 pose row by row, metres, z up."""

    image_id: str
    pose: Annotated[tuple[Modest, ...], Field(min_length=16, max_length=16)]
    included: bool
    unobstructed: tuple[bool, ...]

    @property
    def position(self) -> Position:
        return self.pose[3], self.pose[7], self.pose[11]  # the last column of each row


def check_path(row: PathRow, house: Mapping[str, Viewpoint], location: str) -> None:
    """Raise UserError for a path of viewpoints that are not there, or not next to each other."""
    # the simulator leaves the others out
    known = {name for name, viewpoint in house.items() if viewpoint.included}
    for name in row.path:
        if name not in known:
            raise UserError(
                f"{location}: no viewpoint '{name[:60]}' in house {row.scan}",
                remedy=nearest(name, known),
            )
    # `unobstructed` has a flag for each viewpoint of the house, in the order of the file.
    numbers = {name: number for number, name in enumerate(house)}
    for here, there in pairwise(row.path):
        reachable = house[here].unobstructed
        if numbers[there] >= len(reachable) or not reachable[numbers[there]]:
            raise UserError(
                location,
                expected="viewpoints that one can walk between",
                got=f"{here}, then {there}",
            )
