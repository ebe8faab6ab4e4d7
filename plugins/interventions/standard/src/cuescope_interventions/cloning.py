"""One picture's detail in another, without an edge: Poisson image editing (Perez et al., 2003)."""

import math

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_interventions.arrays import Mask, Pixels, as_bytes

SOLVED = 20_000  # pixels of a region; of a larger one every second is solved for, or every third
BESIDE = ((0, 1), (0, -1), (1, 0), (-1, 0))
Values = Float[np.ndarray, "row col channel"]


def clone(pixels: Pixels, source: Pixels, mask: Mask) -> Pixels:
    """What the source has under the mask, on the tones of the pixels round it.

    Both differ at the mask's edge, and that difference is spread over the region as smoothly as can
    be. Where nothing is round it, the source as it is.
    """
    apart = pixels.astype(np.float64) - source
    # what is smooth is told by few pixels as well
    share = mask.sum() / SOLVED
    step = max(math.ceil(math.sqrt(share)), 1)
    thinned = np.s_[::step, ::step]
    smooth = _membrane(apart[thinned], mask[thinned])
    if step > 1:
        smooth = _resize(smooth, mask.shape)
    cloned = as_bytes(source + smooth)
    return np.where(mask[..., None], cloned, pixels)


def _resize(values: Values, size: tuple[int, ...]) -> Values:
    rows, cols = size
    resized = []
    for channel in np.moveaxis(values, -1, 0):
        image = Image.fromarray(channel.astype(np.float32))
        larger = image.resize((cols, rows))
        resized.append(np.asarray(larger))
    return np.stack(resized, axis=-1)


def _membrane(values: Values, mask: Mask) -> Values:
    """Under the mask each pixel is the mean of its neighbours (Laplace's equation).

    At the edge of a frame it is level. 0 where nothing is round the mask.
    """
    if mask.all():
        return np.zeros_like(values)
    filled = values.copy()
    # thinned out, a region of fine lines may be gone
    if mask.any():
        filled[mask] = _solve(values, mask)
    return filled


def _solve(values: Values, mask: Mask) -> Float[np.ndarray, "cell channel"]:
    """The linear equations of the pixels under the mask: one a pixel, of those beside it."""
    # imported late: a list of plugins must not wait for scipy
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import splu

    cells = np.argwhere(mask)
    count = len(cells)
    number = np.full(mask.shape, -1)
    number[mask] = np.arange(count)
    neighbours = np.zeros(count)
    border = np.zeros((count, values.shape[-1]))
    links = []
    for step in BESIDE:
        beside = cells + step
        along_axes = (beside >= 0) & (beside < mask.shape)
        is_inside = along_axes.all(axis=1)
        neighbours += is_inside
        own = np.flatnonzero(is_inside)
        at = tuple(beside[is_inside].T)
        other = number[at]
        # a pixel beside the mask is known, one under it is another unknown
        is_border = other < 0
        border[own[is_border]] += values[at][is_border]
        links.append([own[~is_border], other[~is_border]])
    linked = np.concatenate(links, axis=1)
    ones = np.ones(linked.shape[1])
    adjacency = coo_array((ones, linked), (count, count))
    laplacian = diags_array(neighbours) - adjacency
    solver = splu(laplacian.tocsc(), "MMD_AT_PLUS_A")
    return np.asarray(solver.solve(border))
