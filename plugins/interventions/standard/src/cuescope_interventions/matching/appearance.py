"""Tones and light of a whole frame become those of another one."""

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_interventions.arrays import Levels, Mask, Pixels, as_bytes, cells_of
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

Colours = Float[np.ndarray, "pixel 3"]
Slopes = Float[np.ndarray, " slope"]
Light = Float[np.ndarray, " term"]  # how much of each of `_surfaces`
# few: a curve through all 256 levels would carry over how large the donor's things are
SHARES = np.linspace(0, 1, 11)
LEAST_VARIANCE = 4.0  # squared grey levels, as of rounding and noise
CELLS = 32  # along a side, by which light is measured: it changes slowly
ROUNDS = 10
SMALL = 0.01  # of log luminance from cell to cell: noise


def match_tones(
    frame: Frame,
    inside: Mask | None,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """The colours are distributed as the donor's: contrast, brightness, casts, gamma, saturation.

    First their means and covariances, by the linear map that moves them least (Pitie and Kokaram,
    2007): so a picture without colour gets some, or loses it. Then each channel, by eleven
    quantiles (Pitie et al., 2007, section 2).
    """
    donor = np.asarray(open_frame(frame), np.float64).reshape(-1, 3)
    moved = _move_colours(pixels.reshape(-1, 3), donor)
    result = np.empty(moved.shape)
    for channel in range(3):
        result[:, channel] = _match_quantiles(moved[:, channel], donor[:, channel])
    return as_bytes(result.reshape(pixels.shape))


def _match_quantiles(values: Levels, others: Levels) -> Levels:
    """By a curve, straight between quantiles, that makes them those of the others."""
    own = np.quantile(values, SHARES)
    wanted = np.quantile(others, SHARES)
    # a level that holds several quantiles goes to the middle of what they become
    levels, level = np.unique(own, return_inverse=True)
    become = np.bincount(level, wanted) / np.bincount(level)
    return np.asarray(np.interp(values, levels, become))


def _move_colours(own: Colours, wanted: Colours) -> Colours:
    """By the linear map between normal distributions that costs least (Olkin and Pukelsheim, 1982).

    Of a direction in which there is next to no colour, none is made.
    """
    noise = LEAST_VARIANCE * np.eye(3)
    covariance = np.cov(own.T) + noise
    target = np.cov(wanted.T) + noise
    root = _raise_to(covariance, 0.5)
    inverse = _raise_to(covariance, -0.5)
    middle = _raise_to(root @ target @ root, 0.5)
    transport = inverse @ middle @ inverse
    centred = own - own.mean(axis=0)
    moved = centred @ transport.T
    return np.asarray(moved + wanted.mean(axis=0))


def _raise_to(matrix: Float[np.ndarray, "3 3"], exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    powers = values.clip(0) ** exponent
    return np.asarray((vectors * powers) @ vectors.T)


def match_light(
    frame: Frame,
    inside: Mask | None,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """The slow change of light over the frame is the donor's; mean brightness and colours stay.

    Light is a surface of the second degree in log luminance, which holds gradients and vignettes.
    """
    own = _light(Image.fromarray(pixels))
    wanted = _light(open_frame(frame))
    rows, cols = pixels.shape[:2]
    log_gain = np.tensordot(wanted - own, _surfaces(rows, cols), 1)
    gain = np.exp(log_gain)
    luminance = pixels.mean(axis=2)
    lit = luminance * gain
    # brightness as a whole is a matter of tones
    gain *= luminance.mean() / max(lit.mean(), 1e-6)
    return as_bytes(pixels * gain[..., None])


def _light(image: Image.Image) -> Light:
    """The surface whose slopes are those of most of the frame.

    Where things end, luminance steps; light does not (Horn, 1974). So slopes are fitted by least
    absolute deviations, to which few large steps are outliers.
    """
    luminance = cells_of(image, CELLS).mean(axis=2)
    # 1: the log of black is none
    log = np.log(luminance + 1)
    slopes = [_slopes(surface) for surface in _surfaces(CELLS, CELLS)]
    terms = np.stack(slopes, axis=1)
    return _least_absolute(terms, _slopes(log))


def _surfaces(rows: int, cols: int) -> Float[np.ndarray, "term row col"]:
    """The surfaces up to the second degree of which light is a sum."""
    y = np.linspace(-1, 1, rows)[:, None]
    x = np.linspace(-1, 1, cols)[None, :]
    surfaces = np.broadcast_arrays(x, y, x**2, x * y, y**2)
    return np.stack(surfaces)


def _slopes(surface: Float[np.ndarray, "row col"]) -> Slopes:
    """From each cell to the next, down the frame and then across it."""
    down = np.diff(surface, axis=0)
    across = np.diff(surface, axis=1)
    return np.concatenate([down.ravel(), across.ravel()])


def _least_absolute(
    terms: Float[np.ndarray, "slope term"],
    slopes: Slopes,
) -> Light:
    """Least absolute deviations, by reweighted least squares."""
    weights = np.ones(len(slopes))
    for _ in range(ROUNDS):
        weighted_terms = terms * weights[:, None]
        weighted_slopes = slopes * weights
        fitted, *_ = np.linalg.lstsq(weighted_terms, weighted_slopes, rcond=None)
        deviations = np.abs(slopes - terms @ fitted)
        # square roots: the weights stand on both sides
        weights = 1 / np.sqrt(np.maximum(deviations, SMALL))
    return np.asarray(fitted)
