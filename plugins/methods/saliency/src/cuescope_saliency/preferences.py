"""What a map prefers whatever is there: some places of the picture, and flat or busy parts.

Backgrounds are flatter than objects and nearer to the borders. A map that leans to flat parts or
borders leans to the background, and has found no cue.
"""

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_saliency.trials import ExplainedImage, Images
from cuescope_sdk import Frame
from cuescope_sdk.maths import softmax

CELLS = 14  # a side: as the patches of a ViT-B/16
PLACES = 7  # a side: parts of the picture that have a preference of their own
WINDOWS = (7, 14, 28)  # a side: what flatness is measured in, coarse to fine
STEPS = 8  # levels of flatness
# Where objects always lie in one place, or are always busy, what the background gets cannot be told
# from what the place or the flatness gets: the larger penalty leaves it to these.
WEAK = 1e-4
RIDGE = 0.01
ROUNDS = 12
MOST_FITTED = 400  # images, or up to twice as many
PerCell = Float[np.ndarray, " cell"]
PerImage = Float[np.ndarray, " image"]


def preferred_leans(images: Images) -> dict[str, float]:
    """By sample, of the images with a mask: the lean that their maps have by preference alone."""
    masked = [image for image in images if image.usable_mask is not None]
    if not masked:
        return {}
    leans = _fit_preferred(masked).tolist()
    return {image.sample.key: lean for image, lean in zip(masked, leans, strict=True)}


def _fit_preferred(images: Images) -> PerImage:
    """The lean on the background that place and flatness give each map.

    A conditional logit (McFadden, 1974) of where the importance of all maps falls: by place, by
    flatness, and by whether a cell lies on the background. What place and flatness alone would give
    is the preference.
    """
    # spread over the images, which are sorted by key: the weights need no more of them
    fitted = images[:: max(1, len(images) // MOST_FITTED)]
    background = np.array([_background(image) for image in fitted])
    preferences = np.array([_preferences(image) for image in fitted])
    columns = np.concatenate([preferences, background[..., None]], axis=2)
    weights = _fit_logit(columns, np.array([_shares(image) for image in fitted]))
    leans = []
    for image in images:
        [preferred] = softmax((_preferences(image) @ weights[:-1])[None])
        # as for a map: importance on the background, less the background's share of the picture
        leans.append(preferred @ _background(image) - _background(image).mean())
    return np.array(leans)


def _fit_logit(
    columns: Float[np.ndarray, "image cell column"],
    shares: Float[np.ndarray, "image cell"],
) -> Float[np.ndarray, " column"]:
    """The weights of the columns, the background the last, by Newton's method."""
    images, _, count = columns.shape
    weights = np.zeros(count)
    ridge = np.full(count, WEAK)
    ridge[-1] = RIDGE
    for _ in range(ROUNDS):
        expected = softmax(columns @ weights)
        slope = np.einsum("icf,ic->f", columns, shares - expected) / images
        means = np.einsum("icf,ic->if", columns, expected)
        weighted = (columns * expected[..., None]).reshape(-1, count)
        curve = weighted.T @ columns.reshape(-1, count) - means.T @ means
        step = np.linalg.solve(curve / images + np.diag(ridge), slope - ridge * weights)
        # a map of few cells has weights without an end: small steps keep them finite
        weights += step.clip(-1, 1)
    return weights


def _background(image: ExplainedImage) -> PerCell:
    """The background's share of each cell."""
    return 1 - _shrink(image.usable_mask, CELLS).ravel()


def _shares(image: ExplainedImage) -> PerCell:
    """The cells' shares of the importance; even where a map is 0."""
    values = _shrink(image.importance, CELLS).ravel()
    total = values.sum()
    return values / total if total > 0 else np.full(values.size, 1 / values.size)


def _preferences(image: ExplainedImage) -> Float[np.ndarray, "cell column"]:
    """Of each cell, in which place it lies and how flat it is, as columns of 0 and 1."""
    rows, cols = np.mgrid[:CELLS, :CELLS].reshape(2, -1)
    from_border = np.minimum(np.minimum(rows, cols), CELLS - 1 - np.maximum(rows, cols))
    place = rows * PLACES // CELLS * PLACES + cols * PLACES // CELLS
    columns = [np.eye(PLACES**2)[place], np.eye(CELLS // 2)[from_border]]
    columns += [np.eye(CELLS)[rows], np.eye(CELLS)[cols]]
    for window in WINDOWS:
        spread = _shrink(_spread(image.canvas.frames[0], window), CELLS).ravel()
        # ranks: what is flat in one picture is busy in another
        rank = spread.argsort(kind="stable").argsort() * STEPS // spread.size
        columns.append(np.eye(STEPS)[rank])
    return np.concatenate(columns, axis=1)


def _spread(frame: Frame, windows: int) -> Float[np.ndarray, "row col"]:
    """The standard deviation of grey levels within windows, so many a side."""
    grey = np.asarray(frame.load().convert("L"), dtype=np.float32)
    mean = _shrink(grey, windows)
    return np.asarray(np.sqrt(np.maximum(_shrink(grey**2, windows) - mean**2, 0)))


def _shrink(values: np.ndarray | None, side: int) -> Float[np.ndarray, "side side"]:
    """Means over a grid of so many cells a side."""
    picture = Image.fromarray(np.asarray(values, dtype=np.float32))
    small = picture.resize((side, side), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64)
