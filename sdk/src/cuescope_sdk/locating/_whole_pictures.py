"""What changes of whole pictures, in a photographer's words: light, colour, contrast, texture.

Each word is a figure of a frame, held against frames without the cue. Detail is told apart from
contrast: a blurred picture differs less from pixel to pixel, and as before farther apart. Lines
and patterns are the directionality and regularity by which people tell textures (H. Tamura, S.
Mori and T. Yamawaki, "Textural features corresponding to visual perception", IEEE Transactions on
Systems, Man, and Cybernetics 8, 1978), by figures of our own.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from PIL import Image
from scipy import ndimage

from cuescope_core.types import Frame
from cuescope_sdk.locating._linear import PerFrame, Training
from cuescope_sdk.locating._pictures import opponents
from cuescope_sdk.statistics import Roc

SMALLEST = 8  # pixels along a side
LARGEST = 256  # a larger picture is made smaller before it is measured
FAR = 16  # pixels: few blurs reach so far
BLOCK = 8  # pixels along a block of JPEG, H.264 and most others
PERCENTILES = (5, 95)
CORNER = 1 / 4  # of a side
LEVEL = 1 / 255
FAINT = 0.05  # of a mean of colours: next to none
SHAPES = 4  # pixels: what is larger is of things, and no texture
PERIOD = 32  # pixels: what repeats at larger steps is no texture
DIRECTIONS = 24
Grey = Float[np.ndarray, "row col"]


@dataclass(frozen=True)
class Whole:
    """Figures of a picture: colours are 0 to 1, of contrast and detail they are logarithms."""

    brightness: float
    red: float
    blue: float
    saturation: float
    variety: float
    contrast: float
    fine: float
    detail: float
    left: float
    top: float
    corners: float
    middle: float
    blocks: float
    upright: float
    rising: float
    regular: float

    @classmethod
    def of(cls, frame: Frame) -> "Whole":
        """Blocks are looked for in the frame's own pixels: a smaller picture does not show them."""
        image = frame.load().convert("RGB")
        own = np.asarray(image.convert("L"), np.float64) / 255
        width, height = np.clip(image.size, SMALLEST, LARGEST).tolist()
        image = image.resize((width, height), Image.Resampling.BOX)
        pixels = np.asarray(image, np.float64) / 255
        grey = pixels.mean(axis=-1)
        left, right = np.array_split(grey, 2, axis=1)
        top, bottom = np.array_split(grey, 2, axis=0)
        near = _apart(grey, 1)
        far = _apart(grey, min(FAR, min(grey.shape) // 2))
        upright, rising = _lines(grey)
        corners, middle = _corners_and_middle(grey)
        hues = opponents(pixels)[..., 1:]
        red, blue = hues.mean(axis=(0, 1))
        chroma = float(np.hypot(hues[..., 0], hues[..., 1]).mean())
        return cls(
            brightness=float(grey.mean()),
            red=float(red),
            blue=float(blue),
            # colour and contrast beside the light: a darker picture has less of both by itself
            saturation=float(np.ptp(pixels, axis=-1).mean() / (grey.mean() + LEVEL)),
            # hues that are unlike cancel out; of next to no colour nothing is told
            variety=(chroma - float(np.hypot(red, blue))) / (chroma + FAINT),
            contrast=_contrast(grey),
            fine=near,
            detail=near - far,
            left=float(left.mean() - right.mean()),
            top=float(top.mean() - bottom.mean()),
            corners=corners - middle,
            middle=middle,
            blocks=_steps_at_blocks(own) + _steps_at_blocks(own.T),
            upright=upright,
            rising=rising,
            regular=_regularity(grey),
        )


def auroc_of_figures(wholes: Sequence[Whole], data: Training, rng: Generator) -> float:
    """How well frames of groups held out are told by their figures together, or by the clearest.

    Of few groups all of them together tell less than the one that changes.
    """
    rows = np.array(list(map(astuple, wholes)))
    # in one unit: a colour hardly varies beside the logarithm of a contrast
    rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + LEVEL)
    together = data.held_out_scores(rows, rng)
    of_clearest = _scores_by_clearest(rows, data, rng)
    return max(_auroc(scores, data) for scores in (together, of_clearest))


def _scores_by_clearest(
    rows: Float[np.ndarray, "frame figure"], data: Training, rng: Generator
) -> PerFrame:
    """Each frame by the figure that tells those of the other folds best; NaN as held out."""
    folds = data.folds(rng)
    scores = np.full(len(rows), np.nan)
    for fold in np.unique(folds):
        is_judged = folds == fold
        learned = data.take(~is_judged)
        if learned.has_both(np.ones(len(learned.shows), bool)):
            figures = rows[~is_judged].T
            apart = Roc.aurocs(figures, learned.shows, learned.labels) - 0.5
            clearest = np.abs(apart).argmax()
            scores[is_judged] = np.sign(apart[clearest]) * rows[is_judged, clearest]
    return scores


def _auroc(scores: PerFrame, data: Training) -> float:
    """Within labels; a half where a fold cannot be judged."""
    if np.isnan(scores).any():
        return 0.5
    return Roc(scores, data.shows).auroc(data.labels) or 0.5


def _contrast(grey: Grey) -> float:
    """The range of brightness beside the light, as a logarithm."""
    low, high = np.percentile(grey, PERCENTILES)
    return float(np.log(high - low + LEVEL) - np.log(high + low + LEVEL))


def _apart(grey: Grey, step: int) -> float:
    """How much pixels differ from those so many farther down and across, as a logarithm."""
    down = np.abs(grey[step:] - grey[:-step]).mean()
    across = np.abs(grey[:, step:] - grey[:, :-step]).mean()
    return float(np.log((down + across) / 2 + LEVEL))


def _corners_and_middle(grey: Grey) -> tuple[float, float]:
    """How bright the corners are, and the middle."""
    rows, cols = (np.abs(np.linspace(-1, 1, length)) for length in grey.shape)
    is_outside = [places > 1 - 2 * CORNER for places in (rows, cols)]
    corners = np.logical_and.outer(*is_outside)
    middle = ~np.logical_or.outer(*is_outside)
    return float(grey[corners].mean()), float(grey[middle].mean())


def _steps_at_blocks(grey: Grey) -> float:
    """How much rows differ where blocks begin, beside how much elsewhere."""
    steps = np.abs(np.diff(grey, axis=0)).mean(axis=1)
    begins = np.arange(1, len(steps) + 1) % BLOCK == 0
    if not begins.any() or begins.all():
        return 0.0
    return float(
        np.log(steps[begins].mean() + LEVEL) - np.log(steps[~begins].mean() + LEVEL)
    )


def _lines(grey: Grey) -> tuple[float, float]:
    """How much more edges are upright than level, and rise to the right than fall: -1 to 1.

    An edge counts by how much pixels differ across it.
    """
    # both of the same four pixels: of noise neither tells the other
    across = np.diff(grey[:-1] + grey[1:], axis=1)
    down = np.diff(grey[:, :-1] + grey[:, 1:], axis=0)
    edges = np.hypot(across, down)
    strength = edges + LEVEL**2
    upright = (across**2 - down**2) / strength
    rising = 2 * across * down / strength
    return float(upright.sum() / strength.sum()), float(rising.sum() / strength.sum())


def _regularity(grey: Grey) -> float:
    """How much a texture is like itself a few pixels on, in one direction, after it was unlike.

    It is a correlation: 1 repeats throughout, and a single line is like itself all along.
    """
    texture = grey - ndimage.gaussian_filter(grey, SHAPES)
    power = np.abs(np.fft.rfft2(texture)) ** 2
    alike = np.fft.irfft2(power, s=grey.shape)
    alike /= alike[0, 0] + LEVEL**2
    steps = np.arange(1, min(PERIOD, min(grey.shape) // 2 + 1))
    angles = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    places = [np.outer(np.sin(angles), steps), np.outer(np.cos(angles), steps)]
    along = ndimage.map_coordinates(alike, places, order=1, mode="grid-wrap")
    return float((along - np.minimum.accumulate(along, axis=1)).max())
