"""A cue that stands at one place of the frame, and what goes with it at others."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from cuescope_confirm.locating.places import Mask
from cuescope_sdk import Frame
from cuescope_sdk.locating import Fitting, Pictures, Training, edges_of
from cuescope_sdk.statistics import Roc

# of AUROC, by which a piece may tell frames worse than the best: what only goes with a cue does
COMPANY = 0.05
COST = 0.02  # of AUROC, that leaving company out may cost
# of the frame: where more of it differs, what tells the cue may be all of it, or a thing that moves
LARGEST = 0.15
# the same of what lies along edges and leaves the middle free, as a border: nothing that moves does
LARGEST_ALONG = 0.5
MIDDLE = (
    0.25  # of the ninth in the middle: what covers more of it does not leave it free
)


def standing_place(
    frames: Sequence[Frame],
    data: Training,
    rng: Generator,
) -> Mask | None:
    """The cells of a small cue that stands; None for any other.

    Pieces at other places that tell frames less well than the best one go with the cue: they are
    missing in frames that show it, and stand in others.
    """
    pictures = Pictures(frames)
    location = pictures.locate(data, rng)
    if location.mask is None:
        return None

    def auroc_of(mask: Mask) -> float:
        rows = pictures.cells[:, mask].reshape(len(frames), -1).astype(np.float64)
        scores = data.held_out_scores(rows, rng, Fitting.MANY)
        # a fold that cannot be judged tells nothing
        if np.isnan(scores).any():
            return 0.5
        return Roc(scores, data.shows).auroc(data.labels) or 0.5

    pieces = location.pieces()
    told = np.array(list(map(auroc_of, pieces)))
    kept = np.any(
        [
            piece
            for piece, value in zip(pieces, told, strict=True)
            if value >= told.max() - COMPANY
        ],
        axis=0,
    )
    if auroc_of(kept) < auroc_of(location.mask) - COST:
        kept = location.mask
    return kept if kept.mean() <= _largest(kept) else None


def _largest(mask: Mask) -> float:
    """The share of the frame that a place of this shape may have."""
    rows, cols = (slice(side // 3, side - side // 3) for side in mask.shape)
    is_round_it = edges_of(mask) and mask[rows, cols].mean() <= MIDDLE
    return LARGEST_ALONG if is_round_it else LARGEST
