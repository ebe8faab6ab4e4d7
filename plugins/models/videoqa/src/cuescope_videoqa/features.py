"""Features of videos, computed before by the authors' scripts: one row a second or so of a video.

A file that maps video ids to tensors (.pth, .safetensors), or a folder of ID.npy. Which video a
sample shows is told by its frames alone: they carry the file that they are read from.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cuescope_sdk import Frame, UserError
from cuescope_videoqa.checkpoints import read_tensors
from cuescope_videoqa.running import Asked

YOUTUBE_ID = 11  # characters


class VideoFeatures:
    """The features in a file or folder, by video."""

    def __init__(self, owner: str, path: Path, dim: int) -> None:
        self._owner, self._path, self._dim = owner, path.expanduser(), dim
        self._rows: dict[Any, Any] = {}
        if self._path.is_dir():
            self._rows = {file.name.split(".")[0]: file for file in self._path.glob("*.npy")}
        elif self._path.exists():
            self._rows = read_tensors(owner, self._path)
        if not self._rows:
            raise UserError(
                f"{owner}: no features in {path}",
                expected="a .pth file of {video id: tensor}, or a folder of ID.npy",
                remedy="The README says where the authors publish them.",
            )

    def of(self, asked: Asked) -> Float[Tensor, "feature dim"]:
        """Features of the video that is shown; raises UserError where it has none."""
        stem = whole_video(asked.frames)
        if stem is None:
            raise UserError(
                f"{self._owner}: sample '{asked.sample}' does not show one video file as it is",
                expected="frames of one file in their order, which the features are of",
                remedy="Compute features of changed videos, and show those.",
            )
        for name in possible_ids(stem):
            if name in self._rows:
                return self._checked(self._rows[name], stem)
        raise UserError(
            f"{self._owner}: no features of video '{stem}'",
            expected=f"one of the {len(self._rows):,} in {self._path.name}",
        )

    def _checked(self, found: Any, stem: str) -> Float[Tensor, "feature dim"]:
        rows = torch.from_numpy(np.load(found)) if isinstance(found, Path) else found
        if (
            not isinstance(rows, Tensor)
            or rows.ndim != 2
            or rows.shape[1] != self._dim
            or not len(rows)
        ):
            raise UserError(
                f"{self._owner}: features of video '{stem}'",
                expected=f"a tensor (feature, {self._dim})",
                got=f"shape {tuple(getattr(rows, 'shape', ()))}",
            )
        return rows.float()

    def content(self) -> str:
        """Digest of the files."""
        digest = hashlib.blake2b(digest_size=16)
        files = sorted(self._path.glob("*.npy")) if self._path.is_dir() else [self._path]
        for file in files:
            digest.update(file.name.encode())
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "blake2b").digest())
        return digest.hexdigest()


def whole_video(frames: Sequence[Frame]) -> str | None:
    """The name, without ending, of the file that the frames show in order; None otherwise."""
    sources = [frame.source for frame in frames if frame.source is not None]
    whole = len(sources) == len(frames) > 0
    in_order = all(
        source.position == position and source.count == len(frames)
        for position, source in enumerate(sources)
    )
    indices = [source.index for source in sources]
    if not (whole and in_order and indices == sorted(indices)):
        return None
    return sources[0].path.stem if len({source.path for source in sources}) == 1 else None


def possible_ids(stem: str) -> Iterator[str | int]:
    """How the authors' files may name a video: as it is, by its YouTube id, by its number."""
    yield stem
    bare = stem.removeprefix("v_")
    yield bare
    yield bare[:YOUTUBE_ID]
    if numbered := re.fullmatch(r"[a-z]*(\d+)", stem):
        yield int(numbered.group(1))


def in_places(
    videos: Sequence[Float[Tensor, "_ dim"]], places: int, dim: int
) -> tuple[Float[Tensor, "video place dim"], Bool[Tensor, "video place"]]:
    """Features padded to all places, and which of them are taken."""
    taken = torch.arange(places) < torch.tensor([len(rows) for rows in videos])[:, None]
    return pad_sequence([*videos, torch.zeros(places, dim)], batch_first=True)[:-1], taken


def spread(count: int, most: int) -> list[int]:
    """At most `most` places of `count`, evenly from the first (as the authors' loaders do)."""
    kept = min(count, most)
    return [place * count // kept for place in range(kept)]
