"""What stands in a cue's place and is not the cue: pieces that frames without it have as well.

What goes with a cue helps to tell it, so a place that is learned takes it along, and an
intervention changes both. But it comes apart from the cue: its pieces stand in frames that do not
show the cue too, where the cue's own do not.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage

from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.locating._patch_models import Halves
from cuescope_sdk.locating._visual_words import WORDS, Words

LEAST = 4  # patches of a piece
BOUND = 0.05  # of the highest score of a frame with the cue: pieces are made of what exceeds it
ALIKE = 40  # pieces of other frames, by which one is judged
OF_CUE = 0.9  # of the pieces that are like it, in frames with the cue; of company fewer


def company_of(frames: Sequence[Words], halves: Halves) -> list[Mask] | None:
    """The patches of each frame that are company, by the frames' words; None where none is."""
    shows = halves.frames_with_cue()
    pieces = _pieces(halves, bound=BOUND * _typical_highest(halves, shows))
    numbers = np.array([number for number, _ in pieces])
    if len(pieces) <= 2 * ALIKE or shows.all() or not shows.any():
        return None
    company = [np.zeros(words.shape, bool) for words in frames]
    bags = np.array([_bag(frames[number][piece]) for number, piece in pieces])
    # both sides weigh as much, however many frames each has
    weights = np.where(shows, 0.5 / shows.mean(), 0.5 / (1 - shows.mean()))[numbers]
    for (number, piece), near in zip(pieces, _nearest(bags, numbers), strict=True):
        of_cue = weights[near] @ shows[numbers[near]] / weights[near].sum()
        if of_cue < OF_CUE:
            company[number] |= piece
    return company if any(map(np.any, company)) else None


def _typical_highest(halves: Halves, shows: np.ndarray) -> float:
    highest = np.array([scores.max() for scores in halves.scores])
    return float(np.median(highest[shows])) if shows.any() else 0.0


def _pieces(halves: Halves, bound: float) -> list[tuple[int, Mask]]:
    """What hangs together of the patches that speak for the cue, with the frame's number."""
    pieces = []
    frames = zip(halves.scores, halves.least, strict=True)
    for number, (scores, least) in enumerate(frames):
        labels, count = ndimage.label(scores > max(least, bound), TOUCHING)
        for label in range(1, count + 1):
            piece = labels == label
            if piece.sum() >= LEAST:
                pieces.append((number, piece))
    return pieces


def _bag(words: Int[np.ndarray, " patch"]) -> Float[np.ndarray, " word"]:
    return np.sqrt(np.bincount(words, minlength=WORDS) / len(words))


def _nearest(
    bags: Float[np.ndarray, "piece word"],
    numbers: Int[np.ndarray, " piece"],
) -> Sequence[Int[np.ndarray, " alike"]]:
    """The pieces that are most like each one, in other frames."""
    from sklearn.neighbors import NearestNeighbors

    # more than are wanted: some are of the same frame
    index = NearestNeighbors(n_neighbors=min(2 * ALIKE, len(bags))).fit(bags)
    nearest = index.kneighbors(bags, return_distance=False)
    return [
        near[numbers[near] != number][:ALIKE]
        for number, near in zip(numbers, nearest, strict=True)
    ]
