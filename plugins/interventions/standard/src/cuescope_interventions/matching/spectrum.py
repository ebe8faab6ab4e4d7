"""The amplitude of each frequency of a whole frame becomes that of another one."""

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image

from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]
# bins along a side: the phase of a wave moves its amplitude between neighbours
NEIGHBOURS = 3
LEAST = 0.1  # grey levels: of less amplitude nothing can be made


def match_spectrum(
    frame: Frame,
    inside: Mask | None,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """Patterns that fill the frame are the donor's: waves, weaves, grids, grain.

    Each frequency gets the donor's amplitude and keeps its phase (after Yang and Soatto, 2020,
    Fourier domain adaptation), so things stay where they are. Mean colours stay as well. Of the
    cosine transform, as a Fourier transform takes the jump between opposite edges for detail.
    """
    from scipy.fft import dctn, idctn

    own = dctn(pixels.astype(np.float64), axes=(0, 1), norm="ortho")
    rows, cols = pixels.shape[:2]
    # at the sample's size: a model sees all frames at one size
    image = open_frame(frame).resize((cols, rows), Image.Resampling.BILINEAR)
    wanted = dctn(np.asarray(image, np.float64), axes=(0, 1), norm="ortho")
    gain = _amplitude(wanted) / _amplitude(own)
    gain[0, 0] = 1.0
    changed = idctn(own * gain[..., None], axes=(0, 1), norm="ortho")
    return np.asarray(np.rint(changed.clip(0, 255)).astype(np.uint8))


def _amplitude(
    spectrum: Float[np.ndarray, "row col 3"],
) -> Float[np.ndarray, "row col"]:
    """Of each frequency with its neighbours; the mean of the frame is none of them."""
    from scipy.ndimage import uniform_filter

    power = (spectrum**2).mean(axis=2)
    power[0, 0] = 0.0
    return np.asarray(np.sqrt(uniform_filter(power, NEIGHBOURS)) + LEAST)
