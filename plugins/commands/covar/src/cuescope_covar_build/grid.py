"""A picture to look at first: some photos, each on one background in all its variants."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from jaxtyping import UInt8

from cuescope_covar_build.manifest import ORIGINAL, Row

GRID = "grid.png"
ROWS, CELL, HEAD = 6, 128, 22  # photos that are shown, pixels of a cell's side and of the head


def write_grid(folder: Path, rows: Sequence[Row]) -> Path | None:
    """`grid.png`: a row a photo, spread over all of them, on another background each time.

    None where nothing was kept to be shown.
    """
    shown = {(row.source_key, row.background, row.variant): row.image for row in rows if row.image}
    kept = Counter((row.source_key, row.background) for row in rows if row.image)
    photos = list(dict.fromkeys(row.source_key for row in rows))
    backgrounds = [b for b in dict.fromkeys(row.background for row in rows) if b != ORIGINAL]
    variants = list(dict.fromkeys(row.variant for row in rows))
    if not shown or not backgrounds:
        return None
    chosen = np.unique(np.linspace(0, len(photos) - 1, ROWS).round().astype(int))
    picture = np.full((HEAD + CELL * len(chosen), CELL * len(variants), 3), 255, np.uint8)
    for column, variant in enumerate(variants):
        place = (column * CELL + 4, HEAD - 7)
        cv2.putText(picture, variant, place, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1)
    for line, photo in enumerate(chosen):
        turn = line * len(backgrounds) // len(chosen)
        # a background of which the quality filter dropped something shows less
        background = max(
            backgrounds[turn:] + backgrounds[:turn], key=lambda name: kept[photos[photo], name]
        )
        for column, variant in enumerate(variants):
            at = ORIGINAL if variant == ORIGINAL else background
            if file := shown.get((photos[photo], at, variant)):
                top, left = HEAD + line * CELL, column * CELL
                picture[top : top + CELL, left : left + CELL] = _cell(folder / file)
    path = folder / GRID
    path.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    return path


def _cell(file: Path) -> UInt8[np.ndarray, "row col 3"]:
    image = cv2.imdecode(np.frombuffer(file.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise OSError(f"{file} is no image any more")
    return np.asarray(cv2.resize(image, (CELL, CELL), interpolation=cv2.INTER_AREA))
