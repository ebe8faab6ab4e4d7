"""The variants of one object before one background, and how large each change is."""

from dataclasses import asdict, dataclass, field

import numpy as np

from cuescope_scenes.camera.camera import Pose, View
from cuescope_scenes.textures import SIZE
from cuescope_sdk import generator

SCALES = (0.7, 0.5, 0.35, 0.25)  # of the object's side; 96 px hold no eighth of it
FRONT_AZIMUTH = (-25.0, 25.0)  # degrees that training shows
FRONT_ELEVATION = (10.0, 30.0)
BESIDE = (45.0, 135.0)  # degrees that the camera goes around, either way
ABOVE = (55.0, 85.0)  # degrees of elevation of other viewpoints
BELOW = (-60.0, -20.0)
SHIFT = 0.2  # share of a side
CROPS = (0.6, 0.9)  # shares of the area
TURN = 45.0  # degrees
RADII = (26.0, 32.0)  # px
OFF_CENTRE = 8.0  # px
COUNT = 12  # pictures of an object before a background: itself, and its 11 variants


@dataclass(frozen=True)
class Variant:
    """One change: its subset, the camera, what is done to the picture, and the exact numbers."""

    subset: str
    pose: Pose
    view: View = field(default_factory=View)
    factors: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where an object stands, px, how large it is, and from where it is seen."""

    row: float
    col: float
    radius: float
    pose: Pose


def draw_place(seed: int) -> Place:
    """Near the middle, seen from about its front."""
    rng = generator(seed, "camera-scenes", "place")
    middle = SIZE / 2
    place = rng.uniform(middle - OFF_CENTRE, middle + OFF_CENTRE, 2)
    row, col = place.tolist()
    azimuth = float(rng.uniform(*FRONT_AZIMUTH))
    elevation = float(rng.uniform(*FRONT_ELEVATION))
    radius = float(rng.uniform(*RADII))
    return Place(row, col, radius, Pose(azimuth, elevation))


def variants(pose: Pose, seed: int) -> list[Variant]:
    """The eight subsets in the order of the paper's tables; four scales and two viewpoints."""
    rng = generator(seed, "camera-scenes", "variants")
    shifts = rng.uniform(-SHIFT, SHIFT, 2) * SIZE
    # rounded before they are used, so that the factors are exactly what is drawn
    down, right = shifts.round(2).tolist()
    area = round(float(rng.uniform(*CROPS)), 3)
    turn = round(float(rng.uniform(-TURN, TURN)), 2)
    shift = {"down": down, "right": right}
    # a part with this share of the area fills the whole picture
    crop = View(zoom=area**-0.5)
    above = _viewpoint(pose, ABOVE, rng)
    below = _viewpoint(pose, BELOW, rng)
    every = [
        Variant("background", pose),
        Variant("h-flip", pose, View(mirrored=True)),
        Variant("translate", pose, View(**shift), shift),
        Variant("crop", pose, crop, {"area": area}),
        Variant("v-flip", pose, View(upside_down=True)),
        Variant("rotation", pose, View(turn=turn), {"turn": turn}),
        Variant("viewpoint", above, factors=asdict(above)),
        Variant("viewpoint", below, factors=asdict(below)),
    ]
    for scale in SCALES:
        smaller = Variant("scale", pose, View(zoom=scale), {"scale": scale})
        every.append(smaller)
    return every


def _viewpoint(
    pose: Pose, elevations: tuple[float, float], rng: np.random.Generator
) -> Pose:
    """At one of these elevations, and around to the left or to the right."""
    around = float(rng.uniform(*BESIDE))
    around *= float(rng.choice((-1, 1)))
    elevation = float(rng.uniform(*elevations))
    return Pose(round(pose.azimuth + around, 2), round(elevation, 2))
