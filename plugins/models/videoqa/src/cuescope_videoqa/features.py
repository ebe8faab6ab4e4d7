"""What the networks are shown of a video: features from a file, or of frames, each once.

Features are computed before by the authors' scripts, one row a second or so of a video: a file
that maps video ids to tensors (.pth, .safetensors), or a folder of ID.npy. Which video a sample
shows is known by its frames alone: they carry the file that they are read from, and the seconds of
it where these are not all. The features of a segment are those rows that fall into it.
"""

import math
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
from cuescope_sdk.models import FrameMemory, require_small_archive
from cuescope_sdk.torch import Source, fault_of, require_plain_config
from cuescope_videoqa.checkpoints import read_checkpoint
from cuescope_videoqa.loading import feature_files, weights_file
from cuescope_videoqa.network import ENCODER_BATCH, Prompt

Segment = tuple[float, ...]  # start, end and length of the file, seconds
Features = Float[Tensor, "feature dim"]
YOUTUBE_ID = 11  # characters
ROUNDING = 1e-6  # of a feature: a second that falls on a border is of one side
REMEMBERED_BYTES = 2**28  # of frames: some 65,000 of them


class VideoFeatures:
    """The features in a file or folder, by video."""

    def __init__(self, owner: str, path: Path, dim: int) -> None:
        self._owner = owner
        self._path = path.expanduser()
        self._dim = dim
        files = feature_files(owner, path)
        # Arrays are opened one by one as they are asked for; a file is one mapping.
        self._rows: dict[Any, Any]
        if self._path.is_dir():
            self._rows = {file.name.split(".")[0]: file for file in files}
        else:
            self._rows = dict(read_checkpoint(owner, files[0]).tensors)

    def of(self, prompt: Prompt, most: int) -> Features:
        """At most so many features of the video; raises UserError where it has none."""
        shown = shown_video(prompt.frames)
        if shown is None:
            raise UserError(
                f"{self._owner}: sample '{prompt.sample}' does not show one video file as it is, "
                "nor known seconds of it",
                expected="frames of one file in their order, which the features are of",
                remedy="Compute features of changed videos, and show those.",
            )
        stem, segment = shown
        for name in possible_ids(stem):
            if name in self._rows:
                return self._rows_of(self._rows[name], stem, segment, most)
        raise UserError(
            f"{self._owner}: no features of video '{stem}'",
            expected=f"one of the {len(self._rows):,} in {self._path.name}",
        )

    def _rows_of(
        self,
        content: Any,
        stem: str,
        segment: Segment | None,
        most: int,
    ) -> Features:
        rows = content
        if isinstance(content, Path):
            try:
                # mapped: of what the file claims to hold, only the rows below are read
                rows = np.load(content, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, SyntaxError) as error:
                raise UserError(
                    f"{self._owner}: {content.name} of the features cannot be read",
                    got=fault_of(error),
                ) from error
        shape = tuple(getattr(rows, "shape", ()))
        if len(shape) != 2 or shape[1] != self._dim or 0 in shape:
            raise UserError(
                f"{self._owner}: features of video '{stem}'",
                expected=f"a tensor (feature, {self._dim})",
                got=f"shape {shape}",
            )
        count = len(rows)
        within = range(count) if segment is None else rows_within(count, segment)
        chosen = [within[index] for index in evenly_spaced(len(within), most)]
        rows = rows[chosen]
        if isinstance(rows, np.ndarray):
            rows = torch.from_numpy(rows.astype(np.float32))
        return torch.as_tensor(rows).float()


def shown_video(frames: Sequence[Frame]) -> tuple[str, Segment | None] | None:
    """The name, without ending, of the file that the frames show in order, and its seconds.

    No segment: the whole file. None where they show anything else, such as frames of a part that
    is not known.
    """
    if not frames:
        return None
    indices = []
    first = frames[0].source
    for position, frame in enumerate(frames):
        source = frame.source
        if first is None or source is None:
            return None
        # Any frame left out, repeated or moved makes another video.
        if source.position != position or source.count != len(frames):
            return None
        if (source.path, source.segment) != (first.path, first.segment):
            return None
        indices.append(source.index)
    # (): a part that is not known
    if first is None or indices != sorted(indices) or first.segment == ():
        return None
    return first.path.stem, first.segment


def rows_within(count: int, segment: Segment) -> range:
    """Which of `count` features, spread evenly over the video, fall into a segment; one at least.

    A feature that the segment only touches is of it, as in the authors' data of moments.
    """
    start, end, length = segment
    per_second = count / length
    # a segment may begin where the features end
    first = min(int(start * per_second + ROUNDING), count - 1)
    after = min(math.ceil(end * per_second - ROUNDING), count)
    return range(first, max(after, first + 1))


def possible_ids(stem: str) -> Iterator[str]:
    """How the authors' files may name a video: as it is, by its YouTube id, by its number."""
    yield stem
    bare = stem.removeprefix("v_")
    yield bare
    # Clips of a YouTube video begin with its id, which may hold underscores: cut by length.
    yield bare[:YOUTUBE_ID]
    # MSRVTT's files count videos: 'video7010' is 7010
    numbered = re.fullmatch(r"[a-z]*(\d+)", stem)
    if numbered:
        yield str(int(numbered.group(1)))


def pad_features(
    videos: Sequence[Float[Tensor, "_ dim"]],
    length: int,
    dim: int,
) -> tuple[Float[Tensor, "video feature dim"], Bool[Tensor, "video feature"]]:
    """Features padded to `length`, and which of them are no padding."""
    counts = torch.tensor([len(rows) for rows in videos])
    mask = torch.arange(length) < counts[:, None]
    # One more video of full length, so that all are padded to it; then it is dropped.
    longest = torch.zeros(length, dim)
    padded = pad_sequence([*videos, longest], batch_first=True)
    return padded[:-1], mask


def evenly_spaced(count: int, most: int) -> list[int]:
    """At most `most` indices of `count`, evenly from the first (as the authors' loaders do)."""
    number = min(count, most)
    return [index * count // number for index in range(number)]


class CLIPFeatures:
    """The projected, not normalised image embeddings of CLIP."""

    def __init__(self, owner: str, folder: Path, dim: int) -> None:
        import transformers

        library: Any = transformers
        require_plain_config(owner, folder / "config.json")
        weights = weights_file(folder)
        if weights:
            require_small_archive(owner, weights)
        source = Source(owner, folder, folder.name)
        model = source.read("CLIP", library.CLIPVisionModelWithProjection)
        self._processor: Any = source.read(
            "image processor", library.AutoImageProcessor
        )
        if model.config.projection_dim != dim:
            raise UserError(
                f"{owner}: features of {folder.name}",
                expected=f"{dim} numbers, as the checkpoint was trained with",
                got=f"{model.config.projection_dim}",
                remedy="Name the CLIP of its training with -O model.vision=FOLDER.",
            )
        self._model: Any = model.eval().requires_grad_(False)
        self._rows = FrameMemory(self._encode, ENCODER_BATCH, REMEMBERED_BYTES)

    def of(
        self,
        frames: Sequence[Frame],
        device: torch.device,
    ) -> Float[Tensor, "frame dim"]:
        """A row a frame, float32, on the CPU."""
        self._model.to(device)
        return torch.stack(self._rows.rows(frames))

    def _encode(self, frames: Sequence[Frame]) -> Float[Tensor, "frame dim"]:
        images = [frame.load() for frame in frames]
        pixels = self._processor(images, return_tensors="pt")["pixel_values"]
        output = self._model(pixel_values=pixels.to(self._model.device))
        return output.image_embeds.float().cpu()  # type: ignore[no-any-return]
