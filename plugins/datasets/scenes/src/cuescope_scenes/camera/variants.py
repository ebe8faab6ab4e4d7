"""The variants of one object before one background, and how large each change is."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from cuescope_scenes.camera.camera import CameraScene, Pose, View
from cuescope_scenes.textures import SIZE
from cuescope_scenes.words import COLOUR_NAMES
from cuescope_sdk import derive, generator

SCALES = (0.7, 0.5, 0.35, 0.25)  # of the object's side; 96 px hold no eighth of it
FRONT_AZIMUTH = (-25.0, 25.0)  # degrees that training shows
FRONT_ELEVATION = (10.0, 30.0)
BESIDE = (45.0, 135.0)  # degrees that the camera goes around, either way
ABOVE = (55.0, 85.0)  # degrees of elevation of other viewpoints
BELOW = (-60.0, -20.0)
SHIFT = 0.2  # share of a side (CCI, appendix A.6)
CROPS = (0.6, 0.9)  # shares of the area (CCI, appendix A.6)
TURN = 45.0  # degrees (CCI, appendix A.6)
RADII = (26.0, 32.0)  # px
MIDDLE = SIZE / 2
OFF_CENTRE = 8.0  # px
COUNT = 12  # pictures of an object before a background: itself, and its 11 variants


@dataclass(frozen=True)
class Variant:
    """A picture with one change: its subset, what it shows, and the exact numbers."""

    subset: str
    scene: CameraScene
    factors: dict[str, float] = field(default_factory=dict)


def draw_photo(label: str, background: str, noise: float, seed: int) -> CameraScene:
    """An object near the middle, seen from about its front; the place is that of its seed."""
    rng = generator(seed, "camera-scenes", "place")
    place = rng.uniform(MIDDLE - OFF_CENTRE, MIDDLE + OFF_CENTRE, 2)
    row, col = place.tolist()
    azimuth = float(rng.uniform(*FRONT_AZIMUTH))
    elevation = float(rng.uniform(*FRONT_ELEVATION))
    radius = float(rng.uniform(*RADII))
    rng = generator(seed, "camera-scenes", "colour")
    return CameraScene(
        label=label,
        colour=str(rng.choice(COLOUR_NAMES)),
        background=background,
        row=row,
        col=col,
        radius=radius,
        pose=Pose(azimuth, elevation),
        view=View(),
        noise=noise,
        seed=derive(seed, background),  # one texture and grain for all variants
    )


def variants(photo: CameraScene) -> Iterator[Variant]:
    """The eight subsets in the order of the paper's tables; four scales and two viewpoints."""
    rng = generator(photo.seed, "camera-scenes", "variants")
    shifts = rng.uniform(-SHIFT, SHIFT, 2) * SIZE
    # rounded before they are used, so that the factors are exactly what is drawn
    down, right = shifts.round(2).tolist()
    area = round(float(rng.uniform(*CROPS)), 3)
    turn = round(float(rng.uniform(-TURN, TURN)), 2)
    shift = {"down": down, "right": right}
    # a part with this share of the area fills the whole picture
    crop = View(zoom=area**-0.5)
    yield Variant("background", photo)
    yield Variant("h-flip", replace(photo, view=View(mirrored=True)))
    yield Variant("translate", replace(photo, view=View(**shift)), shift)
    yield Variant("crop", replace(photo, view=crop), {"area": area})
    yield Variant("v-flip", replace(photo, view=View(upside_down=True)))
    yield Variant("rotation", replace(photo, view=View(turn=turn)), {"turn": turn})
    for elevations in (ABOVE, BELOW):
        pose = _viewpoint(photo.pose, elevations, rng)
        yield Variant("viewpoint", replace(photo, pose=pose), asdict(pose))
    for scale in SCALES:
        # what gets smaller is brought to the middle
        down = scale * (MIDDLE - photo.row)
        right = scale * (MIDDLE - photo.col)
        view = View(zoom=scale, down=down, right=right)
        yield Variant("scale", replace(photo, view=view), {"scale": scale})


def _viewpoint(
    pose: Pose,
    elevations: tuple[float, float],
    rng: np.random.Generator,
) -> Pose:
    """At one of these elevations, and around to the left or to the right."""
    around = float(rng.uniform(*BESIDE))
    around *= float(rng.choice((-1, 1)))
    elevation = float(rng.uniform(*elevations))
    return Pose(round(pose.azimuth + around, 2), round(elevation, 2))
