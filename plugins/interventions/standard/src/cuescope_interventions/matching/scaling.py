"""How much nearer one frame is seen than another, by the pitch of what fills both.

A magnified picture has the same spectrum, moved along the logarithm of frequency (Reddy and
Chatterji, 1996). Nothing in it has to be found.
"""

from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from jaxtyping import Float, Int

from cuescope_interventions.arrays import cells_of
from cuescope_interventions.matching.framing import MOST
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

SIDE = 64  # pixels, at which frames are looked at
PITCHES = 40  # bands of equal ratio, from two waves a frame to one in two pixels
SMOOTH = 2.0  # bands
COARSE = SIDE / 5  # pixels: light that changes more slowly has no pitch
BAND = np.log(SIDE / 4) / PITCHES  # width of a band, in the log of frequency
Power = Float[np.ndarray, " pitch"]


def scale_between(own: Sequence[Frame], others: Sequence[Frame]) -> float:
    """The log of how much frames are to be magnified to be as near as others, at most `MOST`.

    The move along pitches after which both spectra are alike, but for strength and slope: these are
    of contrast and sharpness. Bands weigh as many frequencies as they hold.
    """
    first = _spectrum(own)
    second = _spectrum(others)
    steps = int(np.log(MOST) / BAND)
    moves = range(-steps, steps + 1)
    unlike = [_unlike(first, second, step) for step in moves]
    best = int(np.argmin(unlike))
    between = 0.0
    if 0 < best < 2 * steps:
        between = _lowest_point(*unlike[best - 1 : best + 2])
    return float((best + between - steps) * BAND)


def _lowest_point(before: float, least: float, after: float) -> float:
    """Of a parabola through three values: how far from the middle one, in steps."""
    bend = before - 2 * least + after
    if not bend:
        return 0.0
    return (before - after) / (2 * bend)


def _spectrum(frames: Sequence[Frame]) -> Power:
    """The log of the power of each band, over all frames."""
    powers = [_power_of(frame) for frame in frames]
    total = np.sum(powers, axis=0)
    return np.asarray(np.log(total + 1))


def _unlike(own: Power, other: Power, step: int) -> float:
    """What is left between two spectra, of which one is moved by some bands."""
    count = PITCHES - abs(step)
    start = max(step, 0)
    other_start = max(-step, 0)
    first = slice(start, start + count)
    second = slice(other_start, other_start + count)
    sizes = _sizes()
    weights = np.sqrt(sizes[first] * sizes[second])
    apart = own[first] - other[second]
    bands = np.arange(count)
    line = np.polyfit(bands, apart, 1, w=np.sqrt(weights))
    left = apart - np.polyval(line, bands)
    return float(np.average(left**2, weights=weights))


# a frame is the donor of many
@lru_cache(maxsize=2048)
def _power_of(frame: Frame) -> Power:
    """The mean power of each band, in grey levels squared."""
    from scipy.ndimage import gaussian_filter

    light = cells_of(open_frame(frame), SIDE).mean(axis=2)
    light -= gaussian_filter(light, COARSE)
    # fading out: opposite edges would be an edge of their own
    fading = np.hanning(SIDE)
    light *= np.outer(fading, fading)
    amplitude = np.abs(np.fft.fft2(light))
    power = amplitude.ravel() ** 2
    inside, bands = _bands()
    sums = np.bincount(bands, power[inside], minlength=PITCHES)
    sizes = np.maximum(_sizes(), 1e-9)
    return np.asarray(_smooth(sums) / sizes)


@cache
def _sizes() -> Power:
    """How many frequencies each band holds."""
    _, bands = _bands()
    counts = np.bincount(bands, minlength=PITCHES)
    return _smooth(counts)


@cache
def _bands() -> tuple[Int[np.ndarray, " frequency"], Int[np.ndarray, " frequency"]]:
    """The frequencies that have a pitch, by number, and the band of each."""
    waves = np.fft.fftfreq(SIDE)
    pitches = np.hypot(waves[:, None], waves)
    pitch = pitches.ravel()
    lowest = 2 / SIDE  # waves a pixel
    highest = 0.5
    inside = np.flatnonzero((pitch >= lowest) & (pitch < highest))
    above_lowest = np.log(pitch[inside] * SIDE / 2)
    band = (above_lowest / BAND).astype(int)
    return inside, band.clip(0, PITCHES - 1)


def _smooth(values: Float[np.ndarray, " pitch"] | Int[np.ndarray, " pitch"]) -> Power:
    from scipy.ndimage import gaussian_filter1d

    return np.asarray(gaussian_filter1d(values.astype(float), SMOOTH))
