"""What is judged: a source photo, what an editor made of it, and what was asked for."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from cuescope_covar_build.geometry import Mask as Mask, zoom
from cuescope_sdk import Frame, UserError

# px, longest side of the copies that are compared; larger images are reduced
WORK = 256
REMEMBERED = 12  # pictures

Matrix = Float[np.ndarray, "3 3"]
Pixels = Float[np.ndarray, "row col 3"]
Plane = Float[np.ndarray, "row col"]
Size = tuple[int, int]  # rows and columns
Scores = dict[str, float | None]  # amounts by name; None could not be computed


@dataclass(frozen=True, eq=False)
class Case:
    """One edited image with its source and what was asked for.

    The masks are True on the object. `geometry` (2 or 3 rows of 3) says where the pixel of the
    source at (column, row) lies in the edited image, centres at whole numbers as in OpenCV; None
    where nobody knows, as for another viewpoint. `base` is the image that the editor was given: the
    source itself for a new background, the image with the new background for all other subsets.
    `painted` is True where the editor painted, None is nowhere: elsewhere the background is that of
    `base` under the geometry.
    `asked_background` is the background alone, as large as the edited image, where it is known.
    `scale` is the side of the object over its side in the source, as asked. `label` is its class.
    """

    source: Frame
    source_mask: Mask
    edited: Frame
    edited_mask: Mask
    subset: str
    base: Frame
    background: str = ""
    label: str = ""
    scale: float = 1.0
    geometry: np.ndarray | None = None
    painted: Mask | None = None
    asked_background: Frame | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels of at most `WORK` px a side, 0-255, not to be written to.

    `size` is the (width, height) of the file, `factor` what it was reduced by.
    """

    pixels: Pixels
    size: tuple[int, int]
    factor: float


class Memory:
    """The last few pictures, for the variants of one source come one after another."""

    def __init__(self) -> None:
        self._pictures: dict[str, Picture] = {}

    def picture(self, frame: Frame) -> Picture:
        """The frame as it is compared."""
        if frame.key not in self._pictures:
            if len(self._pictures) >= REMEMBERED:
                del self._pictures[next(iter(self._pictures))]
            self._pictures[frame.key] = _reduce(frame.load())
        return self._pictures[frame.key]


class View:
    """A case as arrays: float32 pixels 0-255 and masks, at most `WORK` px a side.

    `resolution` is how much larger the copy of the edited image is than that of the source. Raises
    UserError where a mask is empty or has another size than its image.
    """

    def __init__(self, case: Case, memory: Memory) -> None:
        self.case = case
        self._memory = memory
        source = memory.picture(case.source)
        edited = memory.picture(case.edited)
        self.source = source.pixels
        self.edited = edited.pixels
        self.size: Size = edited.pixels.shape[:2]
        self.resolution = edited.factor / source.factor
        self.source_mask = _reduce_mask(case.source_mask, source)
        self.edited_mask = _reduce_mask(case.edited_mask, edited)
        self.geometry: Matrix | None = None
        self.in_place = False
        self.exact = False
        if case.geometry is not None:
            matrix = _square(case.geometry)
            # the geometry is of the whole images, not of their copies
            reduced = _square(zoom(source.factor, source.factor))
            there = _square(zoom(edited.factor, edited.factor))
            self.geometry = there @ matrix @ np.linalg.inv(reduced)
            self.in_place = np.allclose(matrix, np.eye(3))
            # flips and shifts by whole pixels change no pixel
            self.exact = _whole(self.geometry)

    @cached_property
    def moved_source(self) -> Pixels | None:
        """The source's object under the known geometry, so that it lies over the edited image.

        Its edge is resampled without what is beside it.
        """
        if self.geometry is None:
            return None
        if self.exact:
            return move(self.source, self.geometry, self.size)
        weight = self.source_mask.astype(np.float32)
        total = move(self.source * weight[..., None], self.geometry, self.size)
        share = move(weight, self.geometry, self.size)
        mean: Pixels = total / np.maximum(share, 1e-3)[..., None]
        return mean

    @cached_property
    def moved_mask(self) -> Mask | None:
        """The object of the source under the known geometry."""
        if self.geometry is None:
            return None
        return move_mask(self.source_mask, self.geometry, self.size)

    @cached_property
    def background(self) -> Mask:
        """Pixels that are clear of the object and of its edge."""
        clearance = max(3, round(0.02 * max(self.size)))
        return ~grow(self.edited_mask, clearance)

    @cached_property
    def kept(self) -> Mask:
        """Where the editor left the image that it was given as it was."""
        if self.case.painted is None:
            return np.ones(self.size, bool)
        # a pixel that was painted in part is not kept
        left: Mask = shrink_to(self.case.painted, self.size) == 0
        return left

    @cached_property
    def base(self) -> Pixels:
        """The image that the editor was given."""
        return self._memory.picture(self.case.base).pixels

    @cached_property
    def asked_background(self) -> Pixels | None:
        """The background that was asked for, as large as the edited image; None if not known."""
        frame = self.case.asked_background
        if frame is None:
            return None
        pixels = self._memory.picture(frame).pixels
        if pixels.shape != self.edited.shape:
            raise UserError(
                "The asked background has another size than the edited image",
                expected=f"{self.size[0]} x {self.size[1]} px after reduction",
                got=f"{pixels.shape[0]} x {pixels.shape[1]} px",
            )
        return pixels


def move(pixels: np.ndarray, matrix: Matrix, size: Size) -> np.ndarray:
    """An image under a geometry, black beside it; where it is made smaller it is smoothed first."""
    area = abs(np.linalg.det(matrix[:2, :2]))
    scale = float(np.sqrt(area))
    # four neighbours are read: without a blur the others would alias
    if scale < 0.9:
        sigma = 0.5 * np.sqrt(1 / scale**2 - 1)
        pixels = smooth(pixels, sigma)
    return cv2.warpPerspective(pixels, matrix, size[::-1], flags=cv2.INTER_LINEAR)


def move_mask(mask: Mask, matrix: Matrix, size: Size) -> Mask:
    """A mask under a geometry: True where at least half of a pixel is covered."""
    moved: Mask = move(mask.astype(np.float32), matrix, size) >= 0.5
    return moved


def coverage(shape: tuple[int, ...], matrix: Matrix, size: Size) -> Mask:
    """Where an image of `shape` lies under a geometry, clear of its border."""
    whole = np.ones(shape[:2], np.float32)
    # 0.99: a resampled 1 is not quite 1
    return shrink(move(whole, matrix, size) > 0.99, 1)


def grow(mask: Mask, radius: int) -> Mask:
    """The mask and what lies within `radius` px of it."""
    return cv2.dilate(mask.astype(np.uint8), _disc(radius)).astype(bool)


def shrink(mask: Mask, radius: int) -> Mask:
    """The mask without what lies within `radius` px of its edge; the frame is no edge."""
    return cv2.erode(mask.astype(np.uint8), _disc(radius)).astype(bool)


def depth_of(mask: Mask) -> Plane:
    """Distance of each pixel of a mask from the nearest one outside, px; 0 outside."""
    return cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)


def smooth(pixels: np.ndarray, sigma: float, mask: Mask | None = None) -> np.ndarray:
    """Gaussian blur; under a mask only its own pixels count (normalised convolution)."""
    if mask is None:
        return cv2.GaussianBlur(pixels, (0, 0), sigma)
    inside = mask.astype(np.float32)
    total = smooth(pixels * inside[..., None], sigma)
    # not 0: far from the mask no weight is left
    weight = np.maximum(smooth(inside, sigma), 1e-4)
    smoothed: Pixels = total / weight[..., None]
    return smoothed


def shrink_to(pixels: np.ndarray, size: Size) -> np.ndarray:
    """The mean over the pixels that become one, at (row, col) pixels."""
    # of a mask the mean is a share; OpenCV resizes no booleans
    pixels = pixels.astype(np.float32)
    return cv2.resize(pixels, size[::-1], interpolation=cv2.INTER_AREA)


def channel_sum(pixels: np.ndarray) -> np.ndarray:
    """Sum over the channels; numpy's own over a short last axis takes ten times as long."""
    total = pixels[..., 0].copy()
    for channel in range(1, pixels.shape[-1]):
        total += pixels[..., channel]
    return total


def channel_max(pixels: Pixels) -> Plane:
    """The largest of three channels."""
    first_two = np.maximum(pixels[..., 0], pixels[..., 1])
    largest: Plane = np.maximum(first_two, pixels[..., 2])
    return largest


def share_along(change: np.ndarray, way: np.ndarray) -> np.ndarray:
    """How far each colour's change goes along a way, as a share of the way (least squares)."""
    # below a grey level a way has no direction
    length = np.maximum(channel_sum(way**2), 1.0)
    share: np.ndarray = channel_sum(change * way) / length
    return share


def beyond_mixing(change: Pixels, way: Pixels, most: Plane) -> Pixels:
    """What is left of a change when each pixel may have gone its way, by a share of at most `most`.

    An editor mixes the object and what is beside it at the edge: that is no fault.
    """
    mixed = share_along(change, way).clip(0, most)
    left: Pixels = change - mixed[..., None] * way
    return left


@lru_cache(maxsize=16)
def _disc(radius: int) -> UInt8[np.ndarray, "row col"]:
    side = 2 * radius + 1
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)).astype(np.uint8)


def _square(matrix: np.ndarray) -> Matrix:
    """3 x 3, of 2 x 3 or 3 x 3 numbers."""
    if matrix.shape == (2, 3):
        matrix = np.vstack([matrix, (0, 0, 1)])
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
        raise UserError(
            "A geometry is 2 x 3 or 3 x 3 numbers", got=f"shape {matrix.shape}"
        )
    return matrix


def _whole(matrix: Matrix) -> bool:
    """Whether pixels land on pixels, as large as they were."""
    near = np.allclose(matrix, np.rint(matrix), rtol=0, atol=1e-6)
    # whole numbers may enlarge all the same
    area = abs(np.linalg.det(matrix[:2, :2]))
    return near and bool(abs(area - 1) < 1e-6)


def _reduce(image: Image.Image) -> Picture:
    factor = min(1.0, WORK / max(image.size))
    pixels = np.asarray(image.convert("RGB"))
    if factor < 1:
        size = [max(1, round(factor * side)) for side in image.size]
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return Picture(pixels.astype(np.float32), image.size, factor)


def _reduce_mask(mask: Mask, picture: Picture) -> Mask:
    height, width = mask.shape
    if (width, height) != picture.size:
        raise UserError(
            "The mask of an object has another size than its image",
            expected=f"{picture.size[0]} x {picture.size[1]} px",
            got=f"{width} x {height} px",
        )
    if not mask.any():
        raise UserError("The mask of an object is empty", remedy="Leave the image out")
    small = shrink_to(mask, picture.pixels.shape[:2])
    # of a tiny object, what has most of it
    reduced: Mask = small >= min(0.5, small.max())
    return reduced
