"""Pixels of one camera scene: background, object, noise, and the exact mask."""

from dataclasses import astuple, replace
from functools import partial

import numpy as np
from PIL import Image

from cuescope_scenes.camera.camera import CameraScene, Face, View, mirror, visible_faces
from cuescope_scenes.pictures import Mask, draw_polygons
from cuescope_scenes.textures import SIZE, Pixels, Plane, grainy_image, texture
from cuescope_scenes.words import COLOURS
from cuescope_sdk import Frame, digest, generator

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1
# enough for the smallest scale: 144 px on either side, and 8 for an object off the centre
AROUND = 160  # px of the background beside the picture, which is mirrored there


def frame(scene: CameraScene) -> Frame:
    """The picture as a frame that draws itself when loaded; its key digests the scene."""
    key = digest("camera-scenes", DRAWING_VERSION, astuple(scene))
    return Frame(key, partial(_picture, scene))


def foreground(scene: CameraScene) -> Mask:
    """Where the object covers at least half of a pixel."""
    covers: Mask = _coverage(visible_faces(scene)) >= 0.5
    return mirror(covers, scene.view)


def _coverage(faces: list[Face]) -> Plane:
    """Share of each pixel that the object covers, in ninths."""
    polygons = [(face.corners, 255) for face in faces]
    return draw_polygons("L", polygons) / 255


def render(scene: CameraScene) -> Pixels:
    """Grey levels before noise, 0-255."""
    ground = _background(scene)
    faces = visible_faces(scene)
    colour = np.array(COLOURS[scene.colour])
    polygons = []
    for face in faces:
        levels = (colour * face.brightness).round()
        ink = tuple(levels.astype(int).tolist())
        polygons.append((face.corners, ink))
    share = _coverage(faces)[..., None]
    # the object's own colours, weighted by how much of a pixel it has: no black seam
    paint = draw_polygons("RGB", polygons)
    paint /= np.maximum(share, 1 / 255)
    paint = paint.clip(0, 255)
    pixels = ground + share * (paint - ground)
    return mirror(pixels, scene.view)


def _background(scene: CameraScene) -> Pixels:
    """The texture under the view; what lies beside the picture is its mirror image."""
    view = scene.view
    rng = generator(scene.seed, "camera-scenes", "texture")
    pixels = texture(scene.background, rng).clip(0, 255)
    # mirroring is left to the end, and anything else would be resampled
    if replace(view, mirrored=False, upside_down=False) == View():
        return pixels
    whole = np.rint(pixels).astype(np.uint8)
    edges = (AROUND, AROUND)
    wide = np.pad(whole, (edges, edges, (0, 0)), "symmetric")
    image = Image.fromarray(wide)
    if view.turn:
        image = image.rotate(view.turn, Image.Resampling.BILINEAR)
    side = SIZE / view.zoom
    corner = AROUND + SIZE / 2 - side / 2
    left = corner - view.right / view.zoom
    top = corner - view.down / view.zoom
    box = (left, top, left + side, top + side)
    # resizing averages what becomes smaller
    resized = image.resize((SIZE, SIZE), Image.Resampling.BILINEAR, box)
    return np.asarray(resized, np.float64)


def _picture(scene: CameraScene) -> Image.Image:
    rng = generator(scene.seed, "camera-scenes", "noise")
    return grainy_image(render(scene), scene.noise, rng)
