"""A path of viewpoints as a walk (turn, go, turn, go, stop), and the picture of each step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import atan2, degrees, hypot
from pathlib import Path

from cuescope_r2r.layout import Position
from cuescope_sdk.grounding import SceneFrame, turn_name

CLIMB = 0.3  # metres between two viewpoints; of nine in ten edges it is less than 0.16
VIEWS = 12  # at the height of the eyes, numbers 12 to 23 (Anderson et al., 2018)
SUFFIXES = (".jpg", ".png")


@dataclass(frozen=True, slots=True)
class Step:
    """A moment of a walk: where, looking which way, and what was done since the step before.

    `heading` is in degrees from the y axis to the right.
    """

    viewpoint: str
    heading: float
    motion: str | None = None

    @property
    def view(self) -> int:
        """The number of the simulator's view that looks this way, level: 12 to 23."""
        return VIEWS + round(self.heading / (360 / VIEWS)) % VIEWS

    @property
    def scene(self) -> SceneFrame:
        """What is known. Who climbs also goes forward: only of other steps is all motion told."""
        complete = self.motion not in ("go up", "go down")
        return SceneFrame(
            motion=self.motion, closed=frozenset({"motion"} if complete else ())
        )


def walk(
    path: Sequence[str],
    positions: Mapping[str, Position],
    heading: float,
) -> list[Step]:
    """The steps of a path that begins with `heading`, in degrees, and ends by stopping.

    Positions are in metres, z up. A path of one viewpoint is a start, of which no end is known.
    """
    steps = [Step(path[0], heading)]
    for here, there in pairwise(path):
        dx, dy, dz = (
            b - a for a, b in zip(positions[here], positions[there], strict=True)
        )
        # Nearly straight up, as on a spiral staircase, the bearing is noise: keep the heading.
        bearing = degrees(atan2(dx, dy)) if hypot(dx, dy) > CLIMB else heading
        turn = turn_name(bearing - heading)
        if turn is not None:
            steps.append(Step(here, bearing, turn))
        heading = bearing
        climb = "go up" if dz > 0 else "go down"
        steps.append(Step(there, heading, "move forward" if abs(dz) < CLIMB else climb))
    return steps if len(path) == 1 else [*steps, Step(path[-1], heading, "stop")]


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
    files = [
        stem.with_name(f"{stem.name}{suffix}")
        for stem, suffix in product(stems, SUFFIXES)
    ]
    return next((file for file in files if file.is_file()), files[0])
