"""What each cell of a picture looks like: its colour, how usual that is, and its contrast."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy.random import Generator
from scipy import ndimage

from cuescope_core.types import Frame
from cuescope_sdk.locating._linear import FOLDS, Fitting, Linear, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.locating._patch_models import fill_gaps
from cuescope_sdk.locating._pictures import SIDE, opponents, square_pixels
from cuescope_sdk.statistics import Roc
from cuescope_sdk.statistics._resampling import bound_of_maxima

CELL = 2  # pixels along a side
GRID = SIDE // CELL
FLAT = 0.01  # of a contrast: what is flat has none
DRAWS = 99  # of groups dealt anew
LEVEL = 0.05  # of these draws show as much as what counts
HALF = 0.5  # of a clear cell's difference: what shows less is not the cue's
MOST = 0.9  # of the cells that differ
QUARTILES = (0.25, 0.5, 0.75)
LEAST = 3  # cells of a piece: smaller ones are chance
Pixels = Float[np.ndarray, "frame row col 3"]
Cells = Float[np.ndarray, "frame cell_row cell_col feature"]
FEATURES = ("brightness", "red", "blue", "unlike", "contrast")


def pixels_of(frames: Sequence[Frame]) -> Pixels:
    """Each frame as a square, 0 to 1."""
    return np.stack([square_pixels(frame, SIDE) for frame in frames]).astype(np.float32)


def cells_of(pixels: Pixels) -> Cells:
    """`FEATURES` of each cell.

    They are brightness, red less green, blue less brightness, how far the colour is from the one
    that all frames have there on average, and the logarithm of the contrast. By the fourth a mark
    of a common colour is seen too: it is nearer to the average than what else stands there.
    """
    count = len(pixels)
    colours = opponents(pixels)
    brightness = colours[..., 0]
    colours = colours.reshape(count, GRID, CELL, GRID, CELL, 3).mean(axis=(2, 4))
    unlike = np.linalg.norm(colours - colours.mean(axis=0), axis=-1, keepdims=True)
    # twice as wide as a cell: one of four pixels has no contrast to speak of
    padded = np.pad(brightness, ((0, 0), (1, 1), (1, 1)), mode="reflect")
    window = np.lib.stride_tricks.sliding_window_view
    around = window(padded, (2 * CELL, 2 * CELL), axis=(1, 2))[:, ::CELL, ::CELL]
    contrast = np.log(around.std(axis=(-2, -1)) + FLAT)[..., None]
    return np.concatenate([colours, unlike, contrast], axis=-1)


def differences(
    cells: Cells,
    trainings: Sequence[Training],
) -> Float[np.ndarray, "draw cell_row cell_col feature"]:
    """How far frames with the cue are from others, in standard deviations of both (Cohen's d).

    For each training: they differ in which frames are said to show it.
    """
    rows = cells.reshape(len(cells), -1)
    squares = rows**2
    means = []
    variances = []
    for is_shown in (True, False):
        sides = []
        for data in trainings:
            of_side = data.weights() * (data.shows == is_shown)
            sides.append(of_side / of_side.sum())
        # all draws in one product: a hundred of them take as long as a few
        weights = np.array(sides, cells.dtype)
        mean = weights @ rows
        means.append(mean)
        variances.append(weights @ squares - mean**2)
    spread = np.sqrt(np.maximum((variances[0] + variances[1]) / 2, 1e-6))
    return np.asarray((means[0] - means[1]) / spread).reshape(-1, *cells.shape[1:])


def clear_cells(cells: Cells, data: Training, bound: float) -> Mask:
    """The cells that differ by more than chance, and half as much as the clear ones among them."""
    clear = np.abs(differences(cells, [data])[0]).max(axis=-1)
    beyond = clear[clear > bound]
    if not len(beyond):
        return np.zeros(clear.shape, bool)
    # of most: one cell that is much clearer than its neighbours would stand alone
    typical = float(np.quantile(beyond, MOST))
    return _join_pieces(clear > max(bound, HALF * typical), clear)


def chance_bound(cells: Cells, data: Training, rng: Generator) -> float:
    """How much the clearest cell differs by chance: groups are dealt anew within each label."""
    codes = np.unique(data.labels, return_inverse=True)[1]
    dealt = []
    for _ in range(DRAWS):
        source = data.groups.deal(codes, rng)
        dealt.append(replace(data, shows=data.shows[source]))
    most = np.abs(differences(cells, dealt)).max(axis=(1, 2, 3))
    return bound_of_maxima(most, LEVEL)


def _join_pieces(mask: Mask, clear: Float[np.ndarray, "cell_row cell_col"]) -> Mask:
    """With what lies between cells, and without single ones and pieces that are nowhere so clear.

    Pictures with a cue may share more than the cue: a mark is far clearer than such a thing, though
    that is of many cells.
    """
    pieces, count = ndimage.label(fill_gaps(mask), TOUCHING)
    if not count:
        return mask
    numbers = np.arange(1, count + 1)
    peaks = ndimage.maximum(clear, pieces, numbers)
    sizes = np.bincount(pieces.ravel())[1:]
    kept = (sizes >= LEAST) & (peaks >= HALF * peaks.max())
    return np.asarray(np.isin(pieces, numbers[kept]))


def auroc_of_place(
    cells: Cells,
    data: Training,
    rng: Generator,
    bound: float,
) -> float:
    """How well the clearest cells tell frames of groups that did not choose them."""
    folds = data.folds(rng)
    weights = data.weights()
    scores = np.full(len(cells), np.nan)
    for fold in range(FOLDS):
        learned = folds != fold
        if not data.has_both(learned):
            return 0.5
        part = data.take(learned)
        mask = clear_cells(cells[learned], part, bound)
        if not mask.any():
            return 0.5
        rows = cells[:, mask].reshape(len(cells), -1).astype(np.float64)
        model = Linear.fit(rows[learned], part.shows, weights[learned], Fitting.MANY)
        scores[~learned] = model.scores(rows[~learned]) - model.threshold
    return Roc(scores, data.shows).auroc(data.labels) or 0.5


def auroc_of_rest(
    cells: Cells,
    data: Training,
    rng: Generator,
    places: Sequence[Mask] | None = None,
) -> float:
    """How well frames are told by what their cells are together, without a place of each frame."""
    # no means: a small thing that is very bright moves them
    if places is None:
        flat = cells.reshape(len(cells), -1, len(FEATURES))
        quartiles = np.quantile(flat, QUARTILES, axis=1).swapaxes(0, 1)
        rows = quartiles.reshape(len(cells), -1)
    else:
        rows = np.array(list(map(_quartiles_outside, cells, places)))
    scores = data.held_out_scores(rows.astype(np.float64), rng)
    if np.isnan(scores).any():
        return 0.5
    return Roc(scores, data.shows).auroc(data.labels) or 0.5


def _quartiles_outside(
    frame: Float[np.ndarray, "cell_row cell_col feature"], place: Mask
) -> Float[np.ndarray, " figure"]:
    """Of a frame's cells without a place, by feature; of all cells where the place is all."""
    # a cell farther: what stands at an edge of a place shows a little of it
    near = ndimage.binary_dilation(place, TOUCHING)
    kept = frame if near.all() else frame[~near]
    quartiles = np.quantile(kept.reshape(-1, len(FEATURES)), QUARTILES, axis=0)
    return np.asarray(quartiles.ravel())
