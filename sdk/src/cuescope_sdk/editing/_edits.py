"""One edit: whether it can be made, what it is called, and the pixels that it must keep."""

from functools import partial

import numpy as np
from jaxtyping import Bool
from PIL import Image
from scipy import ndimage

from cuescope.capabilities import ImageEdit
from cuescope.digest import digest
from cuescope.errors import BadDataError
from cuescope.types import Frame

SMALLEST_SIDE = 16  # pixels: two cells of a diffusion model's grid
LARGEST_SIDE = 8192  # pixels: a phone's 48 megapixels pass, a scan of a map does not


def require_editable(owner: str, edit: ImageEdit) -> Image.Image:
    """The image to be edited; `owner` is the plugin that speaks.

    Raises BadDataError for an image with a side below 16 or above 8,192 pixels, for a mask of
    another size or kind, for one that lets no pixel change, and for an empty instruction.
    """
    image = edit.frame.load()
    if not edit.instruction.strip():
        raise BadDataError(f"{owner}: an edit without words", expected="an instruction")
    if min(image.size) < SMALLEST_SIDE or max(image.size) > LARGEST_SIDE:
        raise BadDataError(
            f"{owner}: an image that cannot be edited",
            expected=f"sides of {SMALLEST_SIDE} to {LARGEST_SIDE} pixels",
            got=f"{image.width} x {image.height}",
            remedy="Resize it first, or leave it out",
        )
    if edit.mask is None:
        return image
    if edit.mask.dtype != bool or edit.mask.shape != image.size[::-1]:
        raise BadDataError(
            f"{owner}: a mask that does not fit its image",
            expected=f"bool of (row, col) {image.size[::-1]}",
            got=f"{edit.mask.dtype} of {edit.mask.shape}",
        )
    if not edit.mask.any():
        raise BadDataError(
            f"{owner}: an empty mask lets no pixel change",
            expected="True in a pixel or more",
            remedy="Check what outlined the image, or leave it out",
        )
    return image


def edit_key(edit: ImageEdit, fingerprint: str) -> str:
    """Names the edited image: equal source pixels, editor, words, mask and seed, equal key."""
    mask = None if edit.mask is None else digest(edit.mask)
    return digest("edited", 1, edit.frame.key, fingerprint, edit.instruction, mask, edit.seed)


def edited_frame(edit: ImageEdit, fingerprint: str, image: Image.Image) -> Frame:
    """The frame of an edited image, held in memory."""
    return Frame(edit_key(edit, fingerprint), partial(Image.fromarray, np.array(image)))


def keep_outside(
    source: Image.Image, edited: Image.Image, mask: Bool[np.ndarray, "row col"], feather: int = 4
) -> Image.Image:
    """The edited image where `mask` is True; elsewhere the source's own pixels, to the bit.

    A seam of `feather` pixels lies within the mask: there the edited image fades into the colour of
    the nearest pixel outside. What the source shows under the mask never shines through: neither an
    old background nor the empty border of a turned image. A mask narrower than two seams has
    narrower ones. All are of one size; 0 gives a hard edge.
    """
    before, after = np.asarray(source.convert("RGB")), np.asarray(edited.convert("RGB"))
    if feather <= 0 or mask.all() or not mask.any():
        return Image.fromarray(np.where(mask[..., None], after, before))
    result = np.where(mask[..., None], after, before)
    box = _box_with_border(mask)
    inside = mask[box]
    distance, nearest = ndimage.distance_transform_edt(inside, return_indices=True)
    width = min(feather, distance.max() - 1) + 1  # the deepest pixels are the edit's own
    rows, cols = np.nonzero(inside & (distance < width))
    share = (distance[rows, cols] / width)[:, None]
    colour = before[box][nearest[0][rows, cols], nearest[1][rows, cols]]
    blend = share * after[box][rows, cols] + (1 - share) * colour
    result[box][rows, cols] = np.rint(blend).astype(np.uint8)
    return Image.fromarray(result)


def _box_with_border(mask: Bool[np.ndarray, "row col"]) -> tuple[slice, slice]:
    """Rows and columns that hold all of the mask, and a pixel around it."""
    rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return slice(max(rows[0] - 1, 0), rows[-1] + 2), slice(max(cols[0] - 1, 0), cols[-1] + 2)
