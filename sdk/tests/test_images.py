"""Contact sheets: each picture whole, in its place."""

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk.images import contact_sheet, thumbnail

RED, BLUE = (255, 0, 0), (0, 0, 255)


def test_a_thumbnail_shows_the_whole_image_centred() -> None:
    small = np.asarray(thumbnail(Image.new("RGB", (80, 40), RED), 20))
    assert small.shape == (20, 20, 3)
    assert (small[5:15] == RED).all()
    assert (small[:4] == 255).all()
    assert (small[16:] == 255).all()


def test_pixel_art_stays_crisp_when_enlarged() -> None:
    board = np.zeros((2, 2, 3), dtype=np.uint8)
    board[0, 0] = RED
    large = np.asarray(thumbnail(Image.fromarray(board), 10))
    assert (large[:5, :5] == RED).all()
    assert not large[5:, 5:].any()


def test_a_sheet_goes_row_by_row() -> None:
    images = [Image.new("RGB", (9, 9), color) for color in (RED, BLUE, RED)]
    sheet = np.asarray(contact_sheet(images, columns=2, size=8, gap=1))
    assert sheet.shape == (17, 17, 3)
    assert (sheet[:8, :8] == RED).all()
    assert (sheet[:8, 9:] == BLUE).all()
    assert (sheet[9:, :8] == RED).all()
    assert (sheet[9:, 9:] == 255).all()


def test_nothing_to_show_is_refused() -> None:
    with pytest.raises(ValueError, match="0 images"):
        contact_sheet([], columns=2, size=8)
    with pytest.raises(ValueError, match="1 pixel"):
        thumbnail(Image.new("RGB", (2, 2)), 0)
