"""Bad edits planted on purpose, to measure what the quality filter finds.

A `Draft` is a clean edited image in its parts: the object, already moved, and the background. A
defect puts them together wrongly. Its strength is drawn anew each time, from faint to plain.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.quality.cases import Mask, Pixels, grow, move, shrink, smooth
from cuescope_sdk import Frame

Alpha = Float[np.ndarray, "row col"]
Edited = tuple[Pixels, Mask]


@dataclass(frozen=True, eq=False)
class Draft:
    """A clean edit and its parts, all as large as the edited image.

    `clean` is the image as it should be, `mask` its object, `layer` the object's pixels, with
    anything around them, `background` the image without the object, `unchanged` the source under
    the same geometry, `other` and `other_alpha` a further object, anywhere.
    """

    clean: Pixels
    mask: Mask
    layer: Pixels
    background: Pixels
    unchanged: Pixels
    other: Pixels
    other_alpha: Alpha

    @property
    def alpha(self) -> Alpha:
        """The object, its edge slightly softened outwards."""
        soft = cv2.GaussianBlur(self.mask.astype(np.float32), (0, 0), 0.7)
        return np.where(self.mask, 1.0, np.asarray(soft)).astype(np.float32)

    def on(self, background: Pixels) -> Pixels:
        """The object before another background."""
        return np.where(self.mask[..., None], self.layer, background).astype(np.float32)


Defect = Callable[[Draft, np.random.Generator], Edited]


def paste(background: Pixels, layer: Pixels, alpha: Alpha) -> Pixels:
    """An object before a background."""
    return np.asarray(background + alpha[..., None] * (layer - background))


def frame(pixels: Pixels) -> Frame:
    """The image in whole grey levels."""
    return Frame.from_array(np.rint(pixels).clip(0, 255).astype(np.uint8))


# ------------------------------------------------------------------------------- object damaged


def stained(draft: Draft, rng: np.random.Generator) -> Edited:
    """A part of the object in another colour, more or less opaque."""
    colour = rng.uniform(0, 255, 3)
    where = _blob(draft.mask, rng, (0.06, 0.5)) * rng.uniform(0.4, 1)
    return paste(
        draft.clean, np.broadcast_to(colour, draft.layer.shape), where
    ), draft.mask


def eaten(draft: Draft, rng: np.random.Generator) -> Edited:
    """The background shows through a part of the object."""
    where = _blob(draft.mask, rng, (0.06, 0.5))
    return paste(draft.clean, draft.background, where), draft.mask


def redrawn(draft: Draft, rng: np.random.Generator) -> Edited:
    """Another object's look within the same outline."""
    look = _fit(draft.other, draft.other_alpha, draft.mask)
    return _with_object(draft, look), draft.mask


def blurred(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object without its details."""
    side = float(np.sqrt(draft.mask.sum()))
    soft = cv2.GaussianBlur(
        draft.layer, (0, 0), max(1.5, rng.uniform(0.06, 0.15) * side)
    )
    return _with_object(draft, soft), draft.mask


def turned(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object mirrored, or turned about its middle; the mask as it was asked for."""
    turn = np.deg2rad(rng.choice([-1, 1]) * rng.uniform(12, 60))
    cos, sin = np.cos(turn), np.sin(turn)
    matrix = np.diag([-1.0, 1, 1]) if rng.random() < 0.5 else np.eye(3)
    matrix[:2, :2] = matrix[:2, :2] @ np.array([(cos, -sin), (sin, cos)])
    return _moved(draft, _about_centre(matrix, draft.mask)), draft.mask


# --------------------------------------------------------------------------------- object moved


def shifted(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object elsewhere, the mask as it was asked for."""
    return _moved(draft, _shift(draft, rng)), draft.mask


def shifted_with_mask(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object elsewhere, and the mask with it."""
    matrix = _shift(draft, rng)
    mask = move(draft.alpha, matrix, draft.mask.shape) >= 0.5
    return _moved(draft, matrix), mask if mask.any() else draft.mask


def resized(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object of another size, and the mask with it."""
    factor = float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.25, 0.7)))
    matrix = _about_centre(np.diag([factor, factor, 1]), draft.mask)
    mask = move(draft.alpha, matrix, draft.mask.shape) >= 0.5
    return _moved(draft, matrix), mask if mask.any() else draft.mask


# -------------------------------------------------------------------------------- colour leaked


def tinted(draft: Draft, rng: np.random.Generator) -> Edited:
    """The background's colour over the object, all of it or from one side."""
    colour = draft.background.mean(axis=(0, 1))
    rows, cols = np.mgrid[: draft.mask.shape[0], : draft.mask.shape[1]].astype(
        np.float32
    )
    turn = rng.uniform(0, 2 * np.pi)
    along = rows * np.sin(turn) + cols * np.cos(turn)
    low, high = along[draft.mask].min(), along[draft.mask].max()
    ramp = (
        ((along - low) / max(high - low, 1)).clip(0, 1) if rng.random() < 0.5 else 1.0
    )
    share = np.full(draft.mask.shape, rng.uniform(0.15, 0.5)) * ramp * draft.mask
    return paste(
        draft.clean, np.broadcast_to(colour, draft.layer.shape), share
    ), draft.mask


def glowing(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object's colours around it, fading."""
    sigma = rng.uniform(0.025, 0.08) * max(draft.mask.shape)
    alpha = draft.mask.astype(np.float32)
    weight = cv2.GaussianBlur(alpha, (0, 0), sigma)
    spread = cv2.GaussianBlur(draft.layer * alpha[..., None], (0, 0), sigma)
    halo = spread / np.maximum(weight, 1e-3)[..., None]
    share = np.minimum(1, 2 * weight) * rng.uniform(0.35, 0.9)
    return draft.on(paste(draft.clean, halo, share)), draft.mask


# ------------------------------------------------------------------------- background unchanged


def unchanged(draft: Draft, rng: np.random.Generator) -> Edited:
    """The source's background, in another tone half of the time."""
    behind = draft.unchanged
    if rng.random() < 0.5:
        behind = behind * rng.uniform(0.75, 1.15, 3) + rng.normal(0, 3, behind.shape)
    return draft.on(behind), draft.mask


def half_changed(draft: Draft, rng: np.random.Generator) -> Edited:
    """The source's background over a large part of the image."""
    everywhere = np.ones(draft.mask.shape, bool)
    where = _blob(everywhere, rng, (0.45, 0.85))
    behind = paste(draft.clean, draft.unchanged, where)
    return draft.on(behind), draft.mask


# -------------------------------------------------------------------------------- second object


def accompanied(draft: Draft, rng: np.random.Generator) -> Edited:
    """Another object in the background."""
    return _joined(draft, draft.other, draft.other_alpha, 1.0), draft.mask


def faintly_accompanied(draft: Draft, rng: np.random.Generator) -> Edited:
    """Another object that the background shines through."""
    return _joined(
        draft, draft.other, draft.other_alpha, rng.uniform(0.4, 0.7)
    ), draft.mask


def repeated(draft: Draft, rng: np.random.Generator) -> Edited:
    """The object a second time."""
    rows, cols = draft.mask.shape
    best, found, alpha = -1.0, np.eye(3), draft.alpha
    # the place with most of the copy in the image and clear of the object
    for _ in range(20):
        factor = min(
            1.0, 0.3 * max(rows, cols) / np.sqrt(draft.mask.sum())
        ) * rng.uniform(0.6, 1)
        matrix = _about_centre(np.diag([factor, factor, 1]), draft.mask)
        centre = np.argwhere(draft.mask).mean(axis=0)
        matrix[:2, 2] += (
            np.array([rng.uniform(0, cols), rng.uniform(0, rows)]) - centre[::-1]
        )
        copy = move(alpha, matrix, (rows, cols))
        clear = float((copy * ~grow(draft.mask, 4)).sum()) / (factor**2 * alpha.sum())
        if clear > best:
            best, found = clear, matrix
    layer = move(draft.layer, found, (rows, cols))
    return _joined(draft, layer, move(alpha, found, (rows, cols)), 1.0), draft.mask


# ------------------------------------------------------------------------------------------ seam


def fringed(draft: Draft, rng: np.random.Generator) -> Edited:
    """A strip of the old background around the object."""
    width = int(rng.integers(2, 6))
    strip = grow(draft.mask, width).astype(np.float32)
    strip = smooth(strip, rng.uniform(0.3, 1.2))
    behind = paste(draft.clean, draft.unchanged, strip)
    return draft.on(behind), draft.mask


def lined(draft: Draft, rng: np.random.Generator) -> Edited:
    """A line along the border, brighter or darker than both sides, sharp or soft."""
    line = (grow(draft.mask, int(rng.integers(1, 3))) & ~shrink(draft.mask, 1)).astype(
        np.float32
    )
    line = smooth(line, rng.uniform(0.3, 1.0))
    line = line / max(float(line.max()), 1e-3) * rng.uniform(0.5, 1)
    colour = (
        np.full(3, rng.choice([0.0, 255.0]))
        if rng.random() < 0.6
        else rng.uniform(0, 255, 3)
    )
    return paste(
        draft.clean, np.broadcast_to(colour, draft.layer.shape), line
    ), draft.mask


DEFECTS: Mapping[str, Mapping[str, Defect]] = {
    "object damaged": {
        "stained": stained,
        "eaten": eaten,
        "redrawn": redrawn,
        "blurred": blurred,
        "turned": turned,
    },
    "object moved": {
        "shifted": shifted,
        "shifted with its mask": shifted_with_mask,
        "resized": resized,
    },
    "leaked colour": {"into the object": tinted, "from the object": glowing},
    "background unchanged": {"all of it": unchanged, "a part": half_changed},
    "second object": {
        "another": accompanied,
        "another, faint": faintly_accompanied,
        "the same": repeated,
    },
    "seam": {"old background": fringed, "line": lined},
}


# ----------------------------------------------------------------------------------------- parts


def _blob(mask: Mask, rng: np.random.Generator, share: tuple[float, float]) -> Alpha:
    """A soft-edged connected part of the mask with about the given share of its area."""
    rows, cols = np.nonzero(mask)
    centre = rng.integers(len(rows))
    stretch = np.exp(rng.normal(0, 0.3))
    far = np.hypot((rows - rows[centre]) * stretch, (cols - cols[centre]) / stretch)
    radius = np.quantile(far, rng.uniform(*share))
    grid = np.mgrid[: mask.shape[0], : mask.shape[1]]
    distance = np.hypot(
        (grid[0] - rows[centre]) * stretch, (grid[1] - cols[centre]) / stretch
    )
    return np.asarray((1 + radius - distance).clip(0, 1) * mask, np.float32)


def _about_centre(matrix: np.ndarray, mask: Mask) -> np.ndarray:
    row, col = np.argwhere(mask).mean(axis=0)
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = (-col, -row), (col, row)
    return np.asarray(back @ matrix @ there)


def _shift(draft: Draft, rng: np.random.Generator) -> np.ndarray:
    """By 15% to 80% of the object's side, towards the middle more often than not."""
    rows, cols = np.nonzero(draft.mask)
    side = float(np.sqrt(draft.mask.sum()))
    size = np.array(draft.mask.shape)
    towards = size / 2 - (rows.mean(), cols.mean())
    turn = np.arctan2(*towards) + rng.normal(0, 1.0)
    matrix = np.eye(3)
    length = max(3.0, rng.uniform(0.15, 0.8) * side)
    matrix[:2, 2] = length * np.cos(turn), length * np.sin(turn)
    return matrix


def _with_object(draft: Draft, look: Pixels) -> Pixels:
    """Other pixels under the object's mask."""
    return np.where(draft.mask[..., None], look, draft.clean).astype(np.float32)


def _moved(draft: Draft, matrix: np.ndarray) -> Pixels:
    layer = move(draft.layer, matrix, draft.mask.shape)
    return paste(draft.background, layer, move(draft.alpha, matrix, draft.mask.shape))


def _joined(draft: Draft, layer: Pixels, alpha: Alpha, strength: float) -> Pixels:
    """The further object stands behind the object."""
    return draft.on(paste(draft.clean, layer, strength * alpha))


def _fit(pixels: Pixels, alpha: Alpha, mask: Mask) -> Pixels:
    """The further object stretched over the object's box, its mean colour where it has none."""
    rows, cols = np.nonzero(alpha >= 0.5)
    mean = pixels[alpha >= 0.5].mean(axis=0)
    filled = paste(
        np.broadcast_to(mean, pixels.shape), pixels, (alpha >= 0.5).astype(np.float32)
    )
    part = filled[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]
    to_rows, to_cols = np.nonzero(mask)
    box = (
        slice(to_rows.min(), to_rows.max() + 1),
        slice(to_cols.min(), to_cols.max() + 1),
    )
    look = np.array(np.broadcast_to(mean, pixels.shape), np.float32)
    size = (box[1].stop - box[1].start, box[0].stop - box[0].start)
    look[box] = cv2.resize(part.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    return look
