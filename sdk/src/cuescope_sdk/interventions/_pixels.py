"""Frames that are changed under a mask, and stay exactly as they are elsewhere."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cuescope.digest import digest
from cuescope.types import Sample, Trial
from cuescope_sdk.interventions._located import Place

Paint = Callable[
    [UInt8[np.ndarray, "row col 3"], Bool[np.ndarray, "row col"]], UInt8[np.ndarray, "row col 3"]
]


def change_frames(
    sample: Sample, place: Place, operation: str, paint: Callable[[int], Paint]
) -> Trial:
    """The sample with its frames painted under the place's masks, one each.

    `operation` names what is done, with all that decides it. `paint(frame)` gives a picklable
    function from pixels and mask to pixels, of which those under the mask are taken.
    """
    frames = list(sample.frames)
    for number, mask in enumerate(place.masks):
        if mask.any():
            name = f"{operation} {digest(np.packbits(mask).tobytes(), mask.shape)}"
            frames[number] = frames[number].derive(name, partial(_under, mask, paint(number)))
    suffix = f"{operation.partition(' ')[0]}-{digest(*(frame.key for frame in frames))[:10]}"
    return Trial(sample=sample.with_frames(tuple(frames), suffix))


def _under(mask: Bool[np.ndarray, "row col"], paint: Paint, image: Image.Image) -> Image.Image:
    pixels = np.asarray(image)
    return Image.fromarray(np.where(mask[..., None], paint(pixels, mask), pixels))
