"""What a preprocessing function does to an image, told from what it makes of a few."""

from collections.abc import Callable

import numpy as np
from PIL import Image
from torch import Tensor

from cuescope_sdk import UserError, digest

PROBES = (
    (37, 53),
    (64, 64),
    (90, 41),
)  # sizes that no resizing and cropping treats alike


def preprocess_digest(owner: str, preprocess: Callable[[Image.Image], Tensor]) -> str:
    """Digest of what a function makes of probe images.

    Raises UserError for one that gives another tensor the second time, as for training.
    """
    rng = np.random.default_rng(0)
    made = []
    for shape in PROBES:
        pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
        image = Image.fromarray(pixels)
        first = preprocess(image).numpy()
        if not np.array_equal(first, preprocess(image).numpy()):
            raise UserError(
                f"{owner}: the preprocessing draws at random",
                expected="the one for evaluation",
                remedy="create_model_and_transforms gives it last",
            )
        made.append(first)
    return digest(*made)


def normalisation(preprocess: Callable[[Image.Image], Tensor]) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (channel) that a function subtracts and divides by.

    Read off what it makes of a black and of a white image: 0 and 1 before it normalises.
    """

    def mean_of(colour: str) -> Tensor:
        channels = preprocess(Image.new("RGB", (64, 64), colour))
        return channels.float().mean(dim=(1, 2))

    black = mean_of("black")
    deviation = 1 / (mean_of("white") - black)
    return -black * deviation, deviation
