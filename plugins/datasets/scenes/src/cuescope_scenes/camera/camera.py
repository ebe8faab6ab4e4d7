"""A pinhole camera before a solid, and what is done to its picture afterwards: all of it exact."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_scenes.camera.solids import Part, solid
from cuescope_scenes.pictures import rotation_matrix
from cuescope_scenes.textures import SIZE

Places = Float[np.ndarray, "point 2"]  # column and row
DISTANCE = 4.0  # of the camera from the object's centre, radii of the object
LIGHT = np.array([-0.45, 0.75, 0.48])  # from the upper left, behind the camera
SHADOW = 0.45  # brightness of a face that the light does not reach


@dataclass(frozen=True)
class Pose:
    """Where the camera stands: degrees to the right of the object's front, and above it."""

    azimuth: float
    elevation: float


@dataclass(frozen=True)
class View:
    """What is done to the whole picture, about its centre: turn, then enlarge, shift, mirror.

    `turn` is in degrees, anticlockwise; `zoom` a factor; `down` and `right` are px.
    """

    turn: float = 0.0
    zoom: float = 1.0
    down: float = 0.0
    right: float = 0.0
    mirrored: bool = False
    upside_down: bool = False


@dataclass(frozen=True)
class CameraScene:
    """One object before one background; the place is that before the view is applied, px."""

    label: str
    colour: str
    background: str
    row: float
    col: float
    radius: float
    pose: Pose
    view: View
    noise: float
    seed: int


@dataclass(frozen=True, eq=False)
class Face:
    """A visible face on the picture: corners (column, row) in px, and how bright it is."""

    corners: Places
    brightness: float


def rotation(pose: Pose) -> Float[np.ndarray, "3 3"]:
    """From the object's axes to the camera's: right, up, towards the camera."""
    about_y = np.eye(3)
    around = np.radians(pose.azimuth)
    about_y[::2, ::2] = rotation_matrix(around).T
    about_x = np.eye(3)
    above = np.radians(pose.elevation)
    about_x[1:, 1:] = rotation_matrix(above).T
    return np.asarray(about_x @ about_y)


def project(points: Float[np.ndarray, "point 3"], pose: Pose) -> Places:
    """Right and down on the picture, in radii of the object at its centre's distance."""
    seen = points @ rotation(pose).T
    right, up, near = seen.T
    nearness = DISTANCE / (DISTANCE - near)
    # up is negative, for rows count downwards
    places = nearness * [right, -up]
    return np.asarray(places.T)


def visible_faces(scene: CameraScene) -> list[Face]:
    """The faces towards the camera, the farthest body first."""
    to_camera = rotation(scene.pose)
    eye = to_camera.T @ (0.0, 0.0, DISTANCE)
    light = LIGHT / np.linalg.norm(LIGHT)

    def distance(part: Part) -> float:
        return float(np.linalg.norm(part.middle - eye))

    visible = []
    for part in sorted(solid(scene.label), key=distance, reverse=True):
        for corners, normal in zip(part.faces, part.normals, strict=True):
            # it looks away: the convex body that it is part of hides it
            if normal @ (eye - corners[0]) <= 0:
                continue
            # a face that looks away from the light is in its own shadow, and not darker still
            lit = max(float(to_camera @ normal @ light), 0.0)
            brightness = SHADOW + (1 - SHADOW) * lit
            places = project(corners, scene.pose) * scene.radius
            places += (scene.col, scene.row)
            visible.append(Face(on_picture(places, scene.view), brightness))
    return visible


def on_picture(places: Places, view: View) -> Places:
    """Where places (column, row) of the picture come to lie; mirroring is left to the pixels."""
    middle = SIZE / 2
    # transposed: anticlockwise
    turn = rotation_matrix(np.radians(view.turn)).T
    turned = (places - middle) @ turn
    shift = np.array([view.right, view.down])
    return np.asarray(turned * view.zoom + middle + shift)


def mirror(pixels: np.ndarray, view: View) -> np.ndarray:
    """The pixels, mirrored as the view says."""
    pixels = pixels[::-1] if view.upside_down else pixels
    return pixels[:, ::-1] if view.mirrored else pixels
