"""Changes of one image; module-level functions, so that a frame that uses one can be sent away.

Boxes are (x0, y0, x1, y1) in pixels; those that leave the image are cut to it.
"""

import numpy as np
from jaxtyping import Bool
from PIL import Image, ImageOps

Box = tuple[float, float, float, float]
Cells = tuple[int, int, int, int]
Shift = tuple[float, float]  # across and down, in shares of the room that a box has


def move_boxes(image: Image.Image, shifts: tuple[tuple[Box, Shift], ...]) -> Image.Image:
    """Each box at another place; what it leaves is filled with the colour around it.

    A box moves on by the shares of the room that its shift says, and wraps around.
    """
    pixels = np.asarray(image)
    cells = [(cell, shift) for box, shift in shifts if (cell := _cells(box, image))]
    # All holes are filled first: a box must not be filled over by the next one's hole.
    changed = _fill(pixels, [box for box, _ in cells])
    for (x0, y0, x1, y1), (dx, dy) in cells:
        wide, high = x1 - x0, y1 - y0
        x = _wrap(x0, dx, image.width - wide)
        y = _wrap(y0, dy, image.height - high)
        changed[y : y + high, x : x + wide] = pixels[y0:y1, x0:x1]
    return Image.fromarray(changed)


def cover_boxes(image: Image.Image, boxes: tuple[Box, ...]) -> Image.Image:
    """The boxes in the mean colour around each."""
    cells = [cell for box in boxes if (cell := _cells(box, image))]
    return Image.fromarray(_fill(np.asarray(image), cells))


def cover_centre(image: Image.Image) -> Image.Image:
    """The middle of the image, half as wide and high, in the mean colour around it."""
    w, h = image.size
    return cover_boxes(image, ((w / 4, h / 4, 3 * w / 4, 3 * h / 4),))


def mirror(image: Image.Image) -> Image.Image:
    """Left is right."""
    return ImageOps.mirror(image)


def roll(image: Image.Image, dx: float, dy: float) -> Image.Image:
    """Shifted by shares of width and height; what leaves comes back in at the other side."""
    shift = round(dy * image.height), round(dx * image.width)
    return Image.fromarray(np.roll(np.asarray(image), shift, axis=(0, 1)))


def brighten(image: Image.Image, boxes: tuple[Box, ...], by: int) -> Image.Image:
    """All but the boxes brighter by so many of 255 levels; a bright image darker."""
    pixels = np.asarray(image)
    # Away from the nearer end of the scale, so that clipping does not eat the change.
    signed = by if pixels.mean() < 128 else -by
    changed = np.clip(pixels.astype(np.int16) + signed, 0, 255).astype(np.uint8)
    return Image.fromarray(np.where(_inside(boxes, image)[..., None], pixels, changed))


def difference(image: Image.Image, other: Image.Image) -> float:
    """Mean absolute difference of the pixels, from 0 to 1."""
    if image.size != other.size:
        other = other.resize(image.size)
    pixels, other_pixels = (np.asarray(each, dtype=np.float32) for each in (image, other))
    return float(np.abs(pixels - other_pixels).mean()) / 255


def _fill(pixels: np.ndarray, cells: list[Cells]) -> np.ndarray:
    """Each of the boxes in the mean colour of a rim of a quarter of its size."""
    changed = pixels.copy()
    for x0, y0, x1, y1 in cells:
        rim = max(1, (x1 - x0 + y1 - y0) // 8)
        top, left = max(y0 - rim, 0), max(x0 - rim, 0)
        around = np.ones(pixels[top : y1 + rim, left : x1 + rim].shape[:2], dtype=bool)
        around[y0 - top : y1 - top, x0 - left : x1 - left] = False
        rim_pixels = pixels[top : y1 + rim, left : x1 + rim][around]
        colour = rim_pixels.mean(axis=0) if len(rim_pixels) else np.full(3, 127)
        changed[y0:y1, x0:x1] = np.rint(colour)
    return changed


def _inside(boxes: tuple[Box, ...], image: Image.Image) -> Bool[np.ndarray, "row col"]:
    mask = np.zeros((image.height, image.width), dtype=bool)
    for x0, y0, x1, y1 in filter(None, (_cells(box, image) for box in boxes)):
        mask[y0:y1, x0:x1] = True
    return mask


def _cells(box: Box, image: Image.Image) -> Cells | None:
    """Whole pixels within the image; None where nothing of the box is."""
    x0, y0 = max(int(np.floor(box[0])), 0), max(int(np.floor(box[1])), 0)
    x1, y1 = min(int(np.ceil(box[2])), image.width), min(int(np.ceil(box[3])), image.height)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _wrap(start: int, share: float, room: int) -> int:
    return (start + round(share * room)) % (room + 1) if room > 0 else 0
