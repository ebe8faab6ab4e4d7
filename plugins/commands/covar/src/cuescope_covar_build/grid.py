"""A picture to look at first: some photos, each on one background in all its variants."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from cuescope_covar_build.geometry import Pixels
from cuescope_sdk.data import CovarManifest, CovarRow

ORIGINAL = CovarManifest.ORIGINAL
GRID = "grid.png"
ROWS = 6  # photos that are shown
CELL = 128  # px, side of a cell
HEAD = 22  # px, height of the line of titles


def write_grid(folder: Path, rows: Sequence[CovarRow]) -> None:
    """`grid.png`: a row a photo, spread over all of them, on another background each time.

    Nothing where nothing was kept to be shown.
    """
    files: dict[tuple[str, str, str], str] = {}
    for row in rows:
        if row.image:
            files[row.source_key, row.background, row.variant] = row.image
    photos = list(dict.fromkeys(row.source_key for row in rows))
    variants = list(dict.fromkeys(row.variant for row in rows))
    backgrounds = list(dict.fromkeys(row.background for row in rows))
    if ORIGINAL in backgrounds:
        backgrounds.remove(ORIGINAL)
    if not files or not backgrounds:
        return
    spread = np.linspace(0, len(photos) - 1, ROWS).round()
    # fewer photos than rows would come several times
    chosen = np.unique(spread.astype(int))
    size = (HEAD + CELL * len(chosen), CELL * len(variants), 3)
    picture = np.full(size, 255, np.uint8)
    _write_titles(picture, variants)
    for line, number in enumerate(chosen):
        photo = photos[number]
        # another background first for each photo
        first = line * len(backgrounds) // len(chosen)
        in_turn = backgrounds[first:] + backgrounds[:first]
        # a background of which the quality filter dropped something shows less
        kept = Counter(name for key, name, _ in files if key == photo)
        background = max(in_turn, key=kept.__getitem__)
        top = HEAD + line * CELL
        for column, variant in enumerate(variants):
            behind = ORIGINAL if variant == ORIGINAL else background
            file = files.get((photo, behind, variant))
            # a dropped image leaves its cell white
            if file is not None:
                left = column * CELL
                picture[top : top + CELL, left : left + CELL] = _cell(folder / file)
    _, content = cv2.imencode(".png", picture)
    (folder / GRID).write_bytes(content.tobytes())


def _write_titles(picture: Pixels, titles: Sequence[str]) -> None:
    black = (0, 0, 0)
    for column, title in enumerate(titles):
        corner = (column * CELL + 4, HEAD - 7)
        cv2.putText(
            picture, title, corner, cv2.FONT_HERSHEY_SIMPLEX, 0.45, black, thickness=1
        )


def _cell(file: Path) -> Pixels:
    content = np.frombuffer(file.read_bytes(), np.uint8)
    image = cv2.imdecode(content, cv2.IMREAD_COLOR)
    if image is None:
        raise OSError(f"{file} is no image any more")
    return cv2.resize(image, (CELL, CELL), interpolation=cv2.INTER_AREA)
