"""Pixels of one camera scene: background, object, noise, and the exact mask."""

from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image, ImageDraw

from cuescope_scenes.camera.camera import Face, Pose, View, mirror, visible_faces
from cuescope_scenes.pictures import FINE
from cuescope_scenes.textures import SIZE, texture
from cuescope_scenes.words import COLOURS
from cuescope_sdk import Frame, digest, generator

DRAWING_VERSION = 1  # part of every frame key: raise it when the same numbers give other pixels
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


def foreground(scene: CameraScene) -> Bool[np.ndarray, "row col"]:
    """Where the object covers at least half of a pixel."""
    share = mirror(_coverage(_faces(scene)), scene.view)
    return np.asarray(share >= 0.5)


def _faces(scene: CameraScene) -> list[Face]:
    return visible_faces(scene.label, scene.pose, scene.row, scene.col, scene.radius, scene.view)


def _coverage(faces: list[Face]) -> Float[np.ndarray, "row col"]:
    """Share of each pixel that the object covers, in ninths."""
    canvas = Image.new("L", (SIZE * FINE, SIZE * FINE))
    draw = ImageDraw.Draw(canvas)
    for face in faces:
        draw.polygon(_fine(face), fill=255)
    return np.asarray(canvas.reduce(FINE), np.float64) / 255


def _fine(face: Face) -> list[tuple[float, float]]:
    return [(float(col), float(row)) for col, row in face.corners * FINE]


def render(scene: CameraScene) -> Float[np.ndarray, "row col 3"]:
    """Grey levels before noise, 0-255."""
    ground = _background(scene)
    faces = _faces(scene)
    canvas = Image.new("RGB", (SIZE * FINE, SIZE * FINE))
    draw = ImageDraw.Draw(canvas)
    for face in faces:
        colour = np.array(COLOURS[scene.colour]) * face.brightness
        levels = colour.round().astype(int).tolist()
        draw.polygon(_fine(face), fill=tuple(levels))
    share = _coverage(faces)[..., None]
    # the object's own colours, weighted by how much of a pixel it has: no black seam
    paint = np.asarray(canvas.reduce(FINE), np.float64) / np.maximum(share, 1 / 255)
    pixels = ground + share * (paint.clip(0, 255) - ground)
    return np.asarray(mirror(pixels, scene.view))


def _background(scene: CameraScene) -> Float[np.ndarray, "row col 3"]:
    """The texture under the view; what lies beside the picture is its mirror image."""
    view = scene.view
    pixels = texture(scene.background, generator(scene.seed, "camera-scenes", "texture"))
    if view in (View(), View(mirrored=True), View(upside_down=True)):
        return pixels.clip(0, 255)
    edges = ((AROUND, AROUND), (AROUND, AROUND), (0, 0))
    whole = np.rint(pixels.clip(0, 255)).astype(np.uint8)
    wide = Image.fromarray(np.pad(whole, edges, "symmetric"))
    turned = wide.rotate(view.turn, Image.Resampling.BILINEAR) if view.turn else wide
    half = SIZE / 2 / view.zoom
    corner = AROUND + SIZE / 2 - half
    left = corner - view.right / view.zoom
    top = corner - view.down / view.zoom
    box = (left, top, left + 2 * half, top + 2 * half)
    # resizing averages what becomes smaller
    resized = turned.resize((SIZE, SIZE), Image.Resampling.BILINEAR, box)
    return np.asarray(resized, np.float64)


def _picture(scene: CameraScene) -> Image.Image:
    rng = generator(scene.seed, "camera-scenes", "noise")
    grain = rng.normal(0, scene.noise, (SIZE, SIZE, 3))
    pixels = np.rint(render(scene) + grain)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
