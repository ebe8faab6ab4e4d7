"""Which of some images look nearly alike, as frames of one video and copies of one photo do.

Images are compared by a difference hash (Krawetz's dHash) of rows and of columns, in two ways. Are
neighbours in the data set's order more alike than others? That is a permutation test, and holds
whatever style all images share. Are any two as good as the same? That is asked only of images that
differ richly: of plain ones, two that were drawn independently may well be alike.
"""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from PIL import Image

from cuescope_sdk import BadDataError, Sample
from cuescope_sdk.data._media.files import kind_of
from cuescope_sdk.data._media.video import key_picture

# of the hash (Krawetz, "Kind of Like That", Hacker Factor blog, 2013), here with two bits a cell
SIDE = 8
MARGIN = 1  # grey levels: in plain areas, less than this is noise of the file format
RUN = 4  # samples in a row: those nearer than this are neighbours
# Shares of the median distance. Nine in ten photos that are saved anew or cropped by 4% are within
# COPY, and within NEAR those cropped by 10%, and frames of a calm video that are a second apart.
NEAR = 1 / 3
COPY = 1 / 6
RICH = 0.4  # median distance from which on two images are not within COPY by chance
SHUFFLES = 1999
LEVEL = 0.005

Codes = Int[np.ndarray, " sample"]
Near = Bool[np.ndarray, "sample sample"]
Distance = Float[np.ndarray, "sample sample"]


def draw_runs(count: int, most: int, rng: np.random.Generator) -> list[int]:
    """Indices of at most so many samples: all, or runs of neighbours drawn at random."""
    if count <= most:
        return list(range(count))
    runs = np.sort(rng.choice(count // RUN, most // RUN, replace=False))
    indices = RUN * runs[:, None] + np.arange(RUN)
    return list(indices.ravel().tolist())


def difference_hash(image: Image.Image) -> Bool[np.ndarray, " bit"]:
    """Where the shrunken image gets lighter, from left to right and from top to bottom."""
    small = image.convert("L").resize((SIDE + 1, SIDE + 1), Image.Resampling.LANCZOS)
    level = np.asarray(small, np.int16)
    corner = level[:-1, :-1] + MARGIN
    is_lighter = np.stack([level[:-1, 1:] > corner, level[1:, :-1] > corner])
    return is_lighter.ravel()


def distances(hashes: Sequence[Bool[np.ndarray, " bit"]]) -> Distance:
    """The share of bits in which any two of them differ."""
    ones = np.array(hashes, np.float32)
    only_first = ones @ (1 - ones).T
    return np.asarray((only_first + only_first.T) / ones.shape[1])


def typical(distance: Distance) -> float:
    """The median distance between two samples."""
    return float(np.median(distance[np.triu_indices(len(distance), 1)]))


def alike_pairs(
    distance: Distance,
    index: Codes,
    stratum: Codes,
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """The pairs of samples that look nearly alike, the nearest first.

    `index` is the place of each in the data set; `stratum` what that may be sorted by, its label.
    """
    median = typical(distance)
    pairs = near_neighbours(distance <= NEAR * median, index, stratum, rng)
    if median >= RICH:
        pairs |= np.triu(distance <= COPY * median, 1)
    rows = np.argwhere(pairs)
    order = np.argsort(distance[pairs], kind="stable")
    return [(int(first), int(second)) for first, second in rows[order]]


def near_neighbours(
    near: Near,
    index: Codes,
    stratum: Codes,
    rng: np.random.Generator,
) -> Near:
    """The neighbours that are near; none where these are as many in other orders of each stratum.

    Samples that were drawn independently may come in any order.
    """
    # here, since scipy takes a second
    from cuescope_sdk.statistics._resampling import (
        monte_carlo_p_value,
        stratified_orders,
    )

    apart = index[None] - index[:, None]
    neighbours = (apart > 0) & (apart < RUN)
    first, second = np.nonzero(neighbours)
    orders = stratified_orders(stratum, SHUFFLES, rng)
    observed = near[first, second].sum()
    shuffled = near[orders[:, first], orders[:, second]].sum(axis=1)
    reached = int((shuffled >= observed).sum())
    p_value = monte_carlo_p_value(reached, SHUFFLES)
    return np.asarray(neighbours & near & (p_value <= LEVEL))


class AlikeSamples(NamedTuple):
    """How many samples were compared, pairs that look alike, and the median distance of two."""

    compared: int
    pairs: list[tuple[int, int]] = []
    median: float = 0.0


def alike_samples(
    samples: Sequence[Sample],
    places: Sequence[int],
    labels: Sequence[str],
    rng: np.random.Generator,
) -> AlikeSamples:
    """The pairs that look nearly alike, the nearest first, of samples at such places in the data.

    Those without a picture are not compared, and a few alone are not either.
    """
    rows = []
    hashes = []
    for row, sample in enumerate(samples):
        bits = picture_hash(sample)
        if bits is not None:
            rows.append(row)
            hashes.append(bits)
    if len(rows) <= RUN:
        return AlikeSamples(0)
    _, stratum = np.unique([labels[row] for row in rows], return_inverse=True)
    distance = distances(hashes)
    pairs = alike_pairs(distance, np.array(places)[rows], stratum, rng)
    of_rows = [(rows[first], rows[second]) for first, second in pairs]
    return AlikeSamples(len(rows), of_rows, typical(distance))


def picture_hash(sample: Sample) -> np.ndarray | None:
    """The hash of a picture of it; None where there is none, or it cannot be read any more."""
    if not sample.frames:
        return None
    frame = sample.frames[len(sample.frames) // 2]
    if frame.source is not None:
        # decoders raise anything, and there is still the frame
        with suppress(Exception):
            picture = _quick_look(frame.source.path)
            return difference_hash(picture or frame.load())
    with suppress(BadDataError):  # the audit itself is done
        return difference_hash(frame.load())
    return None


def _quick_look(path: Path) -> Image.Image | None:
    """A large photo in small, or a key frame of a film: what a hash needs, and no more."""
    if kind_of(path) == "video":
        with path.open("rb") as file:
            return key_picture(file)
    with warnings.catch_warnings():
        # Pillow only warns of a bomb, up to twice its limit
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path) as image:
            if image.format != "JPEG":
                return None
            # JPEG alone can be decoded small, and much quicker
            image.draft("L", (SIDE * SIDE, SIDE * SIDE))
            return image.convert("L")
