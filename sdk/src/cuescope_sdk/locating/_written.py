"""Text at the place of a cue, where Tesseract is installed to read it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from PIL import Image

from cuescope_core.types import Frame
from cuescope_sdk.locating._masks import Mask

READ = 8  # pictures of each side
OFTEN = 0.5  # of the pictures that show a cue: what is read there belongs to it
RARELY = 0.2  # of the others
LETTERS = 3  # fewer are read in any texture
SURE = 60  # of 100, as Tesseract says
MARGIN = 0.04  # of the frame, around a place: letters that touch an edge are not read
TALL = 160  # pixels: a lower crop is enlarged, for letters of ten pixels are not read
LARGEST = 8  # times
SPARSE = "--psm 11"  # words anywhere, in no order

Crop = Image.Image
Reader = Callable[[Crop], list[str]]


@dataclass(frozen=True)
class Written:
    """Of `pictures` with a cue, how many have something written there; a `word` that most share."""

    count: int
    pictures: int
    word: str | None = None

    @property
    def noun(self) -> str:
        """Noun for the text, in a name."""
        return "text" if self.word is None else f"text '{self.word}'"

    def __str__(self) -> str:
        return f"{self.noun} in {self.count} of {self.pictures} pictures that were read"


def text_at(
    shown: Sequence[tuple[Frame, Mask]],
    others: Sequence[tuple[Frame, Mask]],
) -> Written | None:
    """What is written at a place in frames with the cue, and not in others; the first few are read.

    None where nothing is, or nothing is installed that reads.
    """
    read = installed_reader()
    if read is None:
        return None
    inside = []
    empty = 0
    some = shown[:READ]
    for picture in some:
        inside.append(read(crop(*picture)))
        empty += not inside[-1]
        # too few can have something written by now: the others need not be read
        if len(some) - empty < OFTEN * len(some):
            return None
    outside = [read(crop(*picture)) for picture in others[:READ]]
    word = _common(inside, outside)
    if word is not None:
        return Written(sum(word in words for words in inside), len(inside), word)
    if sum(map(bool, outside)) > RARELY * len(outside):
        return None
    return Written(sum(map(bool, inside)), len(inside))


def _common(
    inside: Sequence[Sequence[str]], outside: Sequence[Sequence[str]]
) -> str | None:
    """The word that most of these have and few of those."""
    counts = Counter(chain.from_iterable(map(set, inside)))
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        elsewhere = sum(word in words for words in outside)
        if count >= OFTEN * len(inside) and elsewhere <= RARELY * len(outside):
            return word
    return None


def crop(frame: Frame, mask: Mask) -> Crop:
    """The smallest box around a place, with a margin; small ones are enlarged."""
    rows, cols = np.nonzero(mask)
    height, width = mask.shape
    picture = frame.load()
    across = MARGIN * picture.width
    down = MARGIN * picture.height
    box = (
        max(0, round(cols.min() / width * picture.width - across)),
        max(0, round(rows.min() / height * picture.height - down)),
        min(picture.width, round((cols.max() + 1) / width * picture.width + across)),
        min(picture.height, round((rows.max() + 1) / height * picture.height + down)),
    )
    piece = picture.crop(box)
    times = min(LARGEST, -(-TALL // piece.height))
    size = times * piece.width, times * piece.height
    return piece.resize(size, Image.Resampling.BICUBIC)


@cache
def installed_reader() -> Reader | None:
    """Tesseract by `pytesseract`, where both are installed."""
    try:
        import pytesseract

        pytesseract.get_tesseract_version()
    # without the program pytesseract raises an error of its own, a SystemExit among them
    except (ImportError, OSError, RuntimeError, SystemExit):
        return None

    def read(piece: Crop) -> list[str]:
        found = pytesseract.image_to_data(
            piece, config=SPARSE, output_type=pytesseract.Output.DICT
        )
        return [
            word
            for text, sure in zip(found["text"], found["conf"], strict=True)
            if float(sure) >= SURE and _is_word(word := text.strip(".,:;|'\"-_ "))
        ]

    return read


def _is_word(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= LETTERS
