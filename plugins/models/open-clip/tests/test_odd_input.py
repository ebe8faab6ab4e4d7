"""Odd images are seen as a person sees them, and a text that is too long is cut."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from media_files import OddImage

from cuescope_open_clip import OpenCLIP
from cuescope_sdk import Frame

Build = Callable[..., OpenCLIP]


@pytest.fixture(scope="module")
def model(build: Build) -> OpenCLIP:
    return build()


@pytest.mark.parametrize("odd", OddImage.every(), ids=lambda odd: odd.name)
def test_odd_images_are_answered(
    model: OpenCLIP, odd: OddImage, tmp_path: Path
) -> None:
    odd.check_answer(model, Frame.from_file(odd.write(tmp_path)))


def test_a_text_beyond_the_context_is_cut_at_its_end(model: OpenCLIP) -> None:
    words = [" ".join(["dog"] * count) for count in (29, 30, 31, 500)]
    rows = model.embed_texts([*words, f"{words[1]} and a cat"])
    assert not np.allclose(rows[0], rows[1], atol=1e-4)
    for longer in rows[2:]:  # start and end take two of the 32 places
        np.testing.assert_allclose(longer, rows[1], atol=1e-6)
