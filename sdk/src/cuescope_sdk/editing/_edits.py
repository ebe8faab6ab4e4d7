"""One edit: whether it can be made, what it is called, and the pixels that it must keep."""

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from jaxtyping import Bool
from PIL import Image
from scipy import ndimage
from scipy.spatial import cKDTree

from cuescope_core.capabilities import ImageEdit
from cuescope_core.digest import digest
from cuescope_core.errors import BadDataError
from cuescope_core.types import Frame

SMALLEST_SIDE = 8  # pixels: a cell that diffusion models see (Rombach et al., 2022)
LARGEST_SIDE = 8192  # pixels: a phone's 48 megapixels pass, a scan of a map does not


@dataclass(frozen=True, eq=False)
class EditableImage:
    """The image of an edit that can be made."""

    edit: ImageEdit
    source: Image.Image

    @classmethod
    def open(cls, owner: str, edit: ImageEdit) -> Self:
        """Load and check an edit; `owner` is the plugin that speaks.

        Raises BadDataError for an image with a side below 8 or above 8,192 pixels, for a mask of
        another size or kind, for one that lets no pixel change, and for an empty instruction.
        """
        image = edit.frame.load()
        if not edit.instruction.strip():
            raise BadDataError(
                f"{owner}: an edit without words", expected="an instruction"
            )
        if min(image.size) < SMALLEST_SIDE or max(image.size) > LARGEST_SIDE:
            raise BadDataError(
                f"{owner}: an image that cannot be edited",
                expected=f"sides of {SMALLEST_SIDE} to {LARGEST_SIDE} pixels",
                got=f"{image.width} x {image.height}",
                remedy="Resize it first, or leave it out",
            )
        mask = edit.mask
        if mask is None:
            return cls(edit, image)
        if mask.dtype != bool or mask.shape != image.size[::-1]:
            raise BadDataError(
                f"{owner}: a mask that does not fit its image",
                expected=f"bool of (row, col) {image.size[::-1]}",
                got=f"{mask.dtype} of {mask.shape}",
            )
        if not mask.any():
            raise BadDataError(
                f"{owner}: an empty mask lets no pixel change",
                expected="True in a pixel or more",
                remedy="Check what outlined the image, or leave it out",
            )
        return cls(edit, image)

    def frame(self, edited: Image.Image, fingerprint: str) -> Frame:
        """The frame of the edited image, of the same size, held in memory.

        Outside of the mask its pixels are the source's own, to the bit. A seam lies within
        (`keep_outside`), so that what the source shows under the mask never shines through.
        `fingerprint` is the editor's. Where nothing was edited, `edited` is `source` itself.
        """
        mask = self.edit.mask
        if mask is not None and edited is not self.source:
            # diffusion models decode the whole photo, so every pixel changes (docs/cci.md)
            edited = keep_outside(self.source, edited, mask)
        key = edit_key(self.edit, fingerprint)
        return Frame(key, partial(Image.fromarray, np.array(edited)))


def edit_key(edit: ImageEdit, fingerprint: str) -> str:
    """Names the edited image: equal source pixels, editor, words, mask and seed, equal key."""
    mask = None if edit.mask is None else digest(edit.mask)
    return digest(
        "edited", 1, edit.frame.key, fingerprint, edit.instruction, mask, edit.seed
    )


def keep_outside(
    source: Image.Image,
    edited: Image.Image,
    mask: Bool[np.ndarray, "row col"],
    feather: int = 4,
) -> Image.Image:
    """The edited image where `mask` is True; elsewhere the source's own pixels, to the bit.

    A seam of `feather` pixels lies within the mask: there the edited image fades into the colour of
    the nearest pixel outside. What the source shows under the mask never shines through: neither an
    old background nor the empty border of a turned image. A mask narrower than two seams has
    narrower ones. All are of one size; 0 gives a hard edge.
    """
    before = np.asarray(source.convert("RGB"))
    after = np.asarray(edited.convert("RGB"))
    result = np.where(mask[..., None], after, before)
    if feather <= 0 or mask.all() or not mask.any():
        return Image.fromarray(result)
    seam = mask & ~ndimage.minimum_filter(mask, 2 * feather + 1, mode="nearest")
    # the nearest are of these
    beside = ~mask & ndimage.maximum_filter(mask, 3, mode="nearest")
    outside = np.argwhere(beside)
    distance, nearest = cKDTree(outside).query(np.argwhere(seam))
    deepest = feather + 1
    if seam.sum() == mask.sum():  # the deepest pixels are the edit's own
        deepest = min(deepest, distance.max())
    share = np.minimum(distance / deepest, 1)[:, None]
    colour = before[tuple(outside[nearest].T)]
    blend = share * after[seam] + (1 - share) * colour
    result[seam] = np.rint(blend).astype(np.uint8)
    return Image.fromarray(result)
