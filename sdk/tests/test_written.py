"""What is written at the place of a cue: by Tesseract where it is installed, and by a fake."""

from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

from cuescope_sdk import Frame
from cuescope_sdk.locating import _written
from cuescope_sdk.locating._written import Written, installed_reader, text_at

SIDE = 224
PLACE = np.zeros((32, 32), bool)
PLACE[27:31, 14:31] = True
Picture = tuple[Frame, np.ndarray]


def pictures(words: Sequence[str]) -> list[Picture]:
    """Blurred noise with a word at the place, or with none."""
    rng = np.random.default_rng(0)
    made = []
    for word in words:
        noise = ndimage.gaussian_filter(rng.uniform(0, 255, (SIDE, SIDE, 3)), (6, 6, 0))
        spread = (noise - noise.mean()) / noise.std()
        image = Image.fromarray(np.uint8((120 + 40 * spread).clip(0, 255)))
        font = ImageFont.load_default(20)
        ImageDraw.Draw(image).text(
            (104, 192), word, (255, 240, 40), font, stroke_width=1
        )
        made.append((Frame.from_array(np.asarray(image)), PLACE))
    return made


@pytest.mark.skipif(installed_reader() is None, reason="Tesseract is not installed")
def test_tesseract_reads_what_all_pictures_share() -> None:
    found = text_at(pictures(["REUTERS"] * 8), pictures([""] * 8))
    assert found is not None
    assert found.word == "REUTERS"
    assert str(found).startswith("text 'REUTERS' in ")


@pytest.mark.skipif(installed_reader() is None, reason="Tesseract is not installed")
def test_tesseract_reads_no_texture() -> None:
    assert text_at(pictures([""] * 8), pictures([""] * 8)) is None


@pytest.mark.parametrize(
    ("inside", "outside", "found"),
    [
        (["LIVE"] * 6 + [""] * 2, [""] * 8, Written(6, 8, "LIVE")),
        ([f"12.0{day}" for day in range(8)], [""] * 8, Written(8, 8)),
        # it is on the others too: this sets nothing apart
        (["LIVE"] * 8, ["LIVE"] * 8, None),
        ([f"12.0{day}" for day in range(8)], ["LIVE"] * 4 + [""] * 4, None),
        (["LIVE"] * 3 + [""] * 5, [""] * 8, None),
    ],
)
def test_a_word_belongs_to_a_cue_that_most_have_and_few_others(
    inside: list[str],
    outside: list[str],
    found: Written | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = iter([*inside, *outside])

    def reader(piece: Image.Image) -> list[str]:
        return next(read).split()

    monkeypatch.setattr(_written, "installed_reader", lambda: reader)
    assert text_at(pictures(inside), pictures(outside)) == found


def test_without_a_reader_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_written, "installed_reader", lambda: None)
    assert text_at(pictures(["LIVE"]), pictures([""])) is None
