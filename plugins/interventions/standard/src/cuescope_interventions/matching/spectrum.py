"""The amplitude of each frequency of a whole frame becomes that of another one."""

import numpy as np
from jaxtyping import Float

from cuescope_interventions.arrays import Mask, Pixels
from cuescope_interventions.matching.cosines import (
    Spectrum,
    amplify,
    donor_spectrum,
    power_of,
    spectrum_of,
)
from cuescope_sdk import Frame

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
    Fourier domain adaptation), so things stay where they are. Mean colours stay as well.
    """
    own = spectrum_of(pixels)
    wanted = donor_spectrum(frame, pixels)
    gain = _amplitude(wanted) / _amplitude(own)
    gain[0, 0] = 1.0
    return amplify(own, gain)


def _amplitude(spectrum: Spectrum) -> Float[np.ndarray, "row col"]:
    """Of each frequency with its neighbours."""
    from scipy.ndimage import uniform_filter

    # running sums: where a strong frequency leaves the window, the rest may be a little below 0
    power = uniform_filter(power_of(spectrum), NEIGHBOURS).clip(min=0)
    return np.asarray(np.sqrt(power) + LEAST)
