"""Photos of a folder as backgrounds, by the names of their files."""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.data import Probe, folders_in, image_frame, images_in, probe_all

PART = (0.7, 1.0)  # of the largest part of the photo that has the wanted shape
_NUMBER = re.compile(r"[\s_-]*\(?\d+\)?$")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
LARGEST = 2048  # pixels of a side that a photo keeps in memory; more would only be shrunk


class Photos:
    """Backgrounds by name: `beach.jpg`, `beach-2.jpg` and the files in `beach/` are all "beach".

    Raises UserError for a folder without photos, and for a photo that cannot be read.
    """

    def __init__(self, folder: Path, context: Context) -> None:
        if not folder.is_dir():
            raise UserError(
                "composite: no such folder", expected="a folder of photos", got=f"'{folder}'"
            )
        files = [(background_name(file.stem), file) for file in images_in(folder)]
        for inner in folders_in(folder):
            files += [(background_name(inner.name), file) for file in images_in(inner)]
        if not files:
            raise UserError(
                f"composite: no photo in '{folder}'",
                expected="image files named after their background, such as beach.jpg",
            )
        self._probes = probe_all([file for _, file in files], context)
        for _, file in files:
            if problem := self._probes[file].problem:
                raise UserError(
                    f"composite: {file} cannot be read", got=problem, remedy="Mend or remove it"
                )
        self._files: dict[str, list[Path]] = {}
        for name, file in files:
            self._files.setdefault(name, []).append(file)
        self.names = tuple(sorted(self._files))
        self.fingerprint = digest(
            [(name, [self._probes[f].digest for f in self._files[name]]) for name in self.names]
        )

    def show(
        self, name: str, shape: tuple[int, int], rng: np.random.Generator
    ) -> UInt8[np.ndarray, "row col 3"]:
        """A part of one of the photos of this name, (row, col) as asked, either way round."""
        import cv2

        files = self._files[name]
        file = files[int(rng.integers(len(files)))]
        photo = _photo(file, self._probes[file])
        rows, cols = shape
        height, width = photo.shape[:2]
        share = float(rng.uniform(*PART)) * min(height / rows, width / cols)
        part = max(1, round(rows * share)), max(1, round(cols * share))
        top, left = (
            int(rng.integers(n - m + 1)) for n, m in zip((height, width), part, strict=True)
        )
        cut = photo[top : top + part[0], left : left + part[1]]
        if rng.random() < 0.5:
            cut = cut[:, ::-1]
        shrinks = part[0] > rows
        how = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(np.ascontiguousarray(cut), (cols, rows), interpolation=how))


def background_name(stem: str) -> str:
    """The words of a file's name, without a number at its end.

    >>> background_name("GreenMeadow-2"), background_name("rocky_shore")
    ('green meadow', 'rocky shore')
    """
    spaced = _HUMP.sub(" ", _NUMBER.sub("", stem) or stem)
    return " ".join(re.split(r"[\s_-]+", spaced.strip())).lower()


@lru_cache(maxsize=32)
def _photo(file: Path, probe: Probe) -> UInt8[np.ndarray, "row col 3"]:
    image = image_frame(file, probe).load()
    if max(image.size) > LARGEST:
        image.thumbnail((LARGEST, LARGEST), Image.Resampling.LANCZOS)
    return np.asarray(image)
