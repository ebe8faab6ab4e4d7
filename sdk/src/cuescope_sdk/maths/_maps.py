"""Importance maps: their size, their ranks, and how well they agree with a mask.

A map is (row, col), origin top left, more is more important; a mask is True on the foreground.
"""

import numpy as np
from jaxtyping import Bool, Float, Int
from PIL import Image

Map = Float[np.ndarray, "row col"]
Mask = Bool[np.ndarray, "row col"]


def upsample(
    importance: Float[np.ndarray, "map_row map_col"],
    size: tuple[int, int],
    *,
    rescaled: bool = False,
) -> Map:
    """Bilinear, to (rows, cols) in pixels, as torch does without aligned corners; float32.

    To a smaller size it averages, as Pillow does. If `rescaled`, from 0 for the lowest value of
    the result to 1 for the highest; a map that is the same everywhere becomes 0.
    """
    rows, cols = size
    fine = np.asarray(importance, dtype=np.float32)
    if fine.shape != size:
        image = Image.fromarray(fine)
        fine = np.array(image.resize((cols, rows), Image.Resampling.BILINEAR))
    # behind the resize, which averages and so moves the lowest and the highest
    if rescaled:
        values = fine.astype(np.float64)
        values -= values.min()
        fine = (values / (values.max() or 1.0)).astype(np.float32)
    return fine


def rank_pixels(importance: Map, rng: np.random.Generator) -> Int[np.ndarray, " pixel"]:
    """Flat indices, the most important first; equals come in an order drawn from `rng`."""
    flat = importance.ravel()
    return np.lexsort((rng.random(flat.size), -flat))


def energy_share(importance: Map, mask: Mask) -> float:
    """Share of the positive importance that lies on the mask (energy-based pointing game).

    A map without any counts as one that is the same everywhere: the mask's share of the picture.
    """
    positive = np.maximum(_alike(importance, mask), 0.0)
    total = float(positive.sum())
    if total == 0:
        return float(mask.mean())
    return float(positive[mask].sum()) / total


def _alike(importance: np.ndarray, mask: np.ndarray) -> Float[np.ndarray, "row col"]:
    """The map in float64; raises ValueError where the mask is of another shape."""
    if importance.shape != mask.shape:
        raise ValueError(
            f"a map of shape {importance.shape} and a mask of shape {mask.shape}"
        )
    return np.asarray(importance, dtype=np.float64)
