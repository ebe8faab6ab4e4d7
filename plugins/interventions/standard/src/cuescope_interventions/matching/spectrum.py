"""The amplitude of each frequency of a whole frame becomes that of another one."""

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_interventions.arrays import Mask, Pixels, as_bytes
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

# bins along a side: the phase of a wave moves its amplitude between neighbours
NEIGHBOURS = 3
LEAST = 0.1  # grey levels: of less amplitude nothing can be made


def match_spectrum(
    frame: Frame,
    inside: Mask | None,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """Detail that fills the frame is as strong as the donor's: blur, grain, waves, weaves, grids.

    Each frequency gets the donor's amplitude and keeps its phase (after Yang and Soatto, 2020,
    Fourier domain adaptation), so things stay where they are. Mean colours stay as well. Of the
    cosine transform, as a Fourier transform takes the jump between opposite edges for detail.
    """
    from scipy.fft import dctn, idctn

    rows, cols = pixels.shape[:2]
    # at the sample's size: a model sees all frames at one size
    donor = open_frame(frame).resize((cols, rows), Image.Resampling.BILINEAR)
    own, wanted = (
        dctn(np.asarray(levels, np.float64), axes=(0, 1), norm="ortho")
        for levels in (pixels, donor)
    )
    gain = _amplitude(wanted) / _amplitude(own)
    gain[0, 0] = 1.0
    return as_bytes(idctn(own * gain[..., None], axes=(0, 1), norm="ortho"))


def _amplitude(
    spectrum: Float[np.ndarray, "row col 3"],
) -> Float[np.ndarray, "row col"]:
    """Amplitude of each frequency with its neighbours, over the channels."""
    from scipy.ndimage import uniform_filter

    power = (spectrum**2).mean(axis=2)
    # the mean of the frame is no frequency
    power[0, 0] = 0.0
    # running sums: where a strong frequency leaves the window, the rest may be a little below 0
    near = uniform_filter(power, NEIGHBOURS).clip(min=0)
    return np.asarray(np.sqrt(near) + LEAST)
