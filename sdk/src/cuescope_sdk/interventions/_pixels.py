"""Frames that are changed under a mask, and stay exactly as they are elsewhere."""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from threading import Lock

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cuescope_core.digest import digest
from cuescope_core.types import Frame, Sample, Trial
from cuescope_sdk.interventions._place import Place

Paint = Callable[
    [UInt8[np.ndarray, "row col 3"], Bool[np.ndarray, "row col"]],
    UInt8[np.ndarray, "row col 3"],
]

# pixels of opened frames, in each process that opens them: 192 MB
REMEMBERED = 64_000_000


class _Opened:
    """The images of the last frames that were opened, by their keys."""

    def __init__(self) -> None:
        self._images: OrderedDict[str, Image.Image] = OrderedDict()
        self._pixels = 0
        self._lock = Lock()

    def get(self, frame: Frame) -> Image.Image:
        """The image of a frame, opened where it is not remembered."""
        with self._lock:
            if (known := self._images.get(frame.key)) is not None:
                self._images.move_to_end(frame.key)
                return known
        # outside of the lock: decoding takes long, and other threads go on meanwhile
        image = frame.load()
        with self._lock:
            # two threads may have opened it at once; its pixels count once
            if frame.key not in self._images:
                self._images[frame.key] = image
                self._pixels += image.width * image.height
            while self._pixels > REMEMBERED:
                _, oldest = self._images.popitem(last=False)
                self._pixels -= oldest.width * oldest.height
        return image


_OPENED = _Opened()


def open_frame(frame: Frame) -> Image.Image:
    """The image of a frame, not to be changed.

    The last ones are remembered: a sample, what is done to it and its placebos are asked about
    side by side, and each opens the same frames.
    """
    return _OPENED.get(frame)


def change_frames(
    sample: Sample,
    place: Place,
    operation: str,
    paint: Callable[[int], Paint],
) -> Trial:
    """The sample with its frames painted under the place's masks, one each.

    `operation` names what is done, with all that decides it. `paint(frame)` gives a picklable
    function from pixels and mask to pixels, of which those under the mask are taken.
    """
    frames = list(sample.frames)
    for number, mask in enumerate(place.masks):
        if mask.any():
            # the mask decides the pixels, so it is part of the key
            name = f"{operation} {digest(np.packbits(mask).tobytes(), mask.shape)}"
            opened = Frame(frames[number].key, partial(open_frame, frames[number]))
            frames[number] = opened.derive(name, partial(_under, mask, paint(number)))
    # of all frames' keys: changes at two places must not share the key of a sample
    suffix = (
        f"{operation.partition(' ')[0]}-{digest(*(frame.key for frame in frames))[:10]}"
    )
    return Trial(sample=sample.with_frames(tuple(frames), suffix))


def _under(
    mask: Bool[np.ndarray, "row col"],
    paint: Paint,
    image: Image.Image,
) -> Image.Image:
    pixels = np.asarray(image)
    # whatever `paint` does elsewhere, other pixels stay as they are to the bit
    return Image.fromarray(np.where(mask[..., None], paint(pixels, mask), pixels))
