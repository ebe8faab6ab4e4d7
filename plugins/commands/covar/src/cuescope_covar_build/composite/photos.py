"""Photos of a folder as backgrounds, by the names of their files."""

import re
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from cuescope_covar_build.geometry import Pixels
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.data import MediaFolder, Probe, probe_all

PART = (0.7, 1.0)  # of the largest part of the photo that has the wanted shape
_NUMBER = re.compile(r"[\s_-]*\(?\d+\)?$")  # "beach-2", "beach (3)"
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # "GreenMeadow"
# pixels of a side that a photo keeps in memory; more would only be shrunk
LARGEST = 2048


class Photos:
    """Backgrounds by name: `beach.jpg`, `beach-2.jpg` and the files in `beach/` are all "beach".

    Raises UserError for a folder without photos, and for a photo that cannot be read.
    """

    def __init__(self, folder: Path, context: Context) -> None:
        if not folder.is_dir():
            raise UserError(
                "composite: no such folder",
                expected="a folder of photos",
                got=f"'{folder}'",
            )
        media = MediaFolder(folder)
        names = {file: background_name(file.stem) for file in media.images()}
        for inner in media.folders():
            files = MediaFolder(inner).images()
            names |= dict.fromkeys(files, background_name(inner.name))
        if not names:
            raise UserError(
                f"composite: no photo in '{folder}'",
                expected="image files named after their background, such as beach.jpg",
            )
        probes = probe_all(names, context)
        self._photos: dict[str, list[Probe]] = {}
        for file, name in names.items():
            probe = probes[file]
            # now, not in the middle of a build
            if probe.problem:
                raise UserError(
                    f"composite: {file} cannot be read",
                    got=probe.problem,
                    remedy="Mend or remove it",
                )
            self._photos.setdefault(name, []).append(probe)
        self.names = tuple(sorted(self._photos))
        # of contents too: a photo that was replaced makes other composites
        contents = {}
        for name in self.names:
            contents[name] = [photo.digest for photo in self._photos[name]]
        self.fingerprint = digest(list(contents.items()))

    def show(
        self,
        name: str,
        shape: tuple[int, int],
        rng: np.random.Generator,
    ) -> Pixels:
        """A part of one of the photos of this name, (row, col) as asked, either way round."""
        photos = self._photos[name]
        photo = _pixels(photos[rng.integers(len(photos))])
        rows, cols = shape
        height, width = photo.shape[:2]
        share = rng.uniform(*PART) * min(height / rows, width / cols)
        part_rows = max(1, round(rows * share))
        part_cols = max(1, round(cols * share))
        top = rng.integers(height - part_rows + 1)
        left = rng.integers(width - part_cols + 1)
        part = photo[top : top + part_rows, left : left + part_cols]
        if rng.random() < 0.5:
            part = part[:, ::-1]
        # INTER_AREA averages: a part that gets smaller shows no moiré
        how = cv2.INTER_AREA if part_rows > rows else cv2.INTER_CUBIC
        # a copy: OpenCV takes no view that runs backwards
        return cv2.resize(part.copy(), (cols, rows), interpolation=how)


def background_name(stem: str) -> str:
    """The words of a file's name, without a number at its end.

    >>> background_name("GreenMeadow-2"), background_name("rocky_shore")
    ('green meadow', 'rocky shore')
    """
    # a name that is a number alone stays as it is
    unnumbered = _NUMBER.sub("", stem) or stem
    spaced = _HUMP.sub(" ", unnumbered).strip()
    words = re.split(r"[\s_-]+", spaced)
    return " ".join(words).lower()


@lru_cache(maxsize=32)
def _pixels(photo: Probe) -> Pixels:
    image = photo.image().load()
    if max(image.size) > LARGEST:
        image.thumbnail((LARGEST, LARGEST), Image.Resampling.LANCZOS)
    return np.asarray(image)
