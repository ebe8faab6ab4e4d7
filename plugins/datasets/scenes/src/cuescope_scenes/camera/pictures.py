"""Pixels of one camera scene: background, object, noise, and the exact mask."""

from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from PIL import Image, ImageDraw

from cuescope_scenes.camera.camera import Face, Pose, View, mirror, visible_faces
from cuescope_scenes.pictures import Mask, fine_canvas, fine_corners, reduce_canvas
from cuescope_scenes.textures import SIZE, Pixels, Plane, add_grain, texture
from cuescope_scenes.words import COLOURS
from cuescope_sdk import Frame, digest, generator

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1
# enough for the smallest scale: 144 px on either side, and 8 for an object off the centre
AROUND = 160  # px of the background beside the picture, which is mirrored there


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


def frame(scene: CameraScene) -> Frame:
    """The picture as a frame that draws itself when loaded; its key digests the scene."""
    key = digest("camera-scenes", DRAWING_VERSION, astuple(scene))
    return Frame(key, partial(_picture, scene))


def foreground(scene: CameraScene) -> Mask:
    """Where the object covers at least half of a pixel."""
    covers: Mask = _coverage(_faces(scene)) >= 0.5
    return mirror(covers, scene.view)


def _faces(scene: CameraScene) -> list[Face]:
    return visible_faces(
        scene.label, scene.pose, scene.row, scene.col, scene.radius, scene.view
    )


def _coverage(faces: list[Face]) -> Plane:
    """Share of each pixel that the object covers, in ninths."""
    canvas = fine_canvas("L")
    draw = ImageDraw.Draw(canvas)
    for face in faces:
        draw.polygon(fine_corners(face.corners), fill=255)
    return reduce_canvas(canvas) / 255


def render(scene: CameraScene) -> Pixels:
    """Grey levels before noise, 0-255."""
    ground = _background(scene)
    faces = _faces(scene)
    canvas = fine_canvas("RGB")
    draw = ImageDraw.Draw(canvas)
    for face in faces:
        colour = np.array(COLOURS[scene.colour]) * face.brightness
        levels = colour.round().astype(int).tolist()
        draw.polygon(fine_corners(face.corners), fill=tuple(levels))
    share = _coverage(faces)[..., None]
    # the object's own colours, weighted by how much of a pixel it has: no black seam
    paint = reduce_canvas(canvas) / np.maximum(share, 1 / 255)
    pixels = ground + share * (paint.clip(0, 255) - ground)
    return mirror(pixels, scene.view)


def _background(scene: CameraScene) -> Pixels:
    """The texture under the view; what lies beside the picture is its mirror image."""
    view = scene.view
    rng = generator(scene.seed, "camera-scenes", "texture")
    pixels = texture(scene.background, rng).clip(0, 255)
    # mirroring is left to the end, and anything else would be resampled
    if view in (View(), View(mirrored=True), View(upside_down=True)):
        return pixels
    edges = ((AROUND, AROUND), (AROUND, AROUND), (0, 0))
    whole = np.rint(pixels).astype(np.uint8)
    wide = Image.fromarray(np.pad(whole, edges, "symmetric"))
    turned = wide.rotate(view.turn, Image.Resampling.BILINEAR) if view.turn else wide
    side = SIZE / view.zoom
    corner = AROUND + SIZE / 2 - side / 2
    left = corner - view.right / view.zoom
    top = corner - view.down / view.zoom
    box = (left, top, left + side, top + side)
    # resizing averages what becomes smaller
    resized = turned.resize((SIZE, SIZE), Image.Resampling.BILINEAR, box)
    return np.asarray(resized, np.float64)


def _picture(scene: CameraScene) -> Image.Image:
    rng = generator(scene.seed, "camera-scenes", "noise")
    return Image.fromarray(add_grain(render(scene), scene.noise, rng))
