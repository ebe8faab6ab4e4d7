"""A frame as a sum of cosines: how strong each frequency is, and frames in which that changes.

Of the cosine transform, as a Fourier transform takes the jump between opposite edges for detail.
"""

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_interventions.arrays import Pixels, as_bytes
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

Spectrum = Float[np.ndarray, "row col 3"]
PerFrequency = Float[np.ndarray, "row col"]


def spectrum_of(pixels: Pixels) -> Spectrum:
    """The cosines that each channel is a sum of."""
    from scipy.fft import dctn

    levels = pixels.astype(np.float64)
    return np.asarray(dctn(levels, axes=(0, 1), norm="ortho"))


def donor_spectrum(frame: Frame, pixels: Pixels) -> Spectrum:
    """Of a donor's frame, at the size of the sample's pixels."""
    rows, cols = pixels.shape[:2]
    # at the sample's size: a model sees all frames at one size
    image = open_frame(frame).resize((cols, rows), Image.Resampling.BILINEAR)
    return spectrum_of(np.asarray(image))


def amplify(spectrum: Spectrum, gain: PerFrequency) -> Pixels:
    """The picture whose frequencies are so many times as strong."""
    from scipy.fft import idctn

    amplified = spectrum * gain[..., None]
    levels = idctn(amplified, axes=(0, 1), norm="ortho")
    return as_bytes(levels)


def power_of(spectrum: Spectrum) -> PerFrequency:
    """Of each frequency, over the channels; the mean of the frame is none of them."""
    power = (spectrum**2).mean(axis=2)
    power[0, 0] = 0.0
    return np.asarray(power)
