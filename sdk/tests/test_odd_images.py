"""Odd files are seen as a person sees them, and the list of them is what it says."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from media_files import OddImage
from PIL import Image

from cuescope_sdk import Frame

MODES = {
    "grey.png": "L",
    "grey-alpha.png": "LA",
    "transparent.png": "RGBA",
    "palette.png": "P",
    "deep.png": "I;16",
    "deep.tif": "I;16",
    "deep.pgm": "I",
    "four-inks.jpg": "CMYK",
}


@pytest.mark.parametrize("odd", OddImage.every(), ids=lambda odd: odd.name)
def test_a_frame_from_a_file_is_what_is_seen_in_it(
    odd: OddImage, tmp_path: Path
) -> None:
    image = Frame.from_file(odd.write(tmp_path)).load()
    assert image.mode == "RGB"
    assert odd.is_seen_in(np.asarray(image))


@pytest.mark.parametrize("odd", OddImage.every(), ids=lambda odd: odd.name)
def test_each_is_odd_in_its_way(odd: OddImage) -> None:
    image = Image.open(BytesIO(odd.content))
    assert image.mode == MODES.get(odd.name, image.mode)
    assert image.size == odd.pixels.shape[1::-1]
    assert getattr(image, "n_frames", 1) == (2 if odd.name == "animated.gif" else 1)
    assert not odd.is_seen_in(255 - odd.pixels)
    if odd.name.startswith(("deep", "palette", "transparent", "grey-alpha")):
        # what Pillow alone makes of it
        assert not odd.is_seen_in(np.asarray(image.convert("RGB")))
