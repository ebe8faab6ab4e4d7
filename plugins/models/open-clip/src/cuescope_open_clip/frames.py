"""Frames to unit embeddings, each frame encoded once."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from cuescope_sdk import Frame

if TYPE_CHECKING:
    from cuescope_open_clip.loading import Loaded

REMEMBERED_FRAMES = 65_536
LARGEST_CHUNK = 64
MAX_LOADERS = 8


def unit_mean(rows: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " dim"]:
    """Mean of unit rows, made unit: a sequence from its frames, a class from its prompts.

    TRoVe (section 5.1) says of frames only "the mean of its constituent image-level embeddings".
    Rows come normalised, so that none outweighs the others by its norm, which in CLIP follows
    the content; the mean is normalised again because logits are cosines. For prompts it is the
    ensemble of Radford et al. (2021).
    """
    mean = rows.mean(axis=0, dtype=np.float64)
    unit: np.ndarray = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
    return unit


class FrameEncoder:
    """Image tower with its preprocessing and a memory of the frames seen last.

    A forward pass always has the same shape: one frame on a CPU, where the tokens of one image
    fill the cores already, and a full chunk (its last one padded) on an accelerator. So the
    embedding of a frame does not depend on the frames beside it, and remembering it is exact.
    """

    def __init__(self, loaded: "Loaded", batch_size: int) -> None:
        self._loaded = loaded
        on_cpu = loaded.device.type == "cpu"
        self._chunk = 1 if on_cpu else min(batch_size, LARGEST_CHUNK)
        self._memory: OrderedDict[str, np.ndarray] = OrderedDict()

    def embed(self, frames: Mapping[str, Frame]) -> dict[str, np.ndarray]:
        """Unit float32 embeddings (dim) of `frames`, both by frame key."""
        known = {key: self._memory[key] for key in frames if key in self._memory}
        fresh = [frame for key, frame in frames.items() if key not in known]
        for frame, row in zip(fresh, self._encode(fresh), strict=True):
            known[frame.key] = row
        self._remember(known)
        return known

    def _remember(self, embeddings: Mapping[str, np.ndarray]) -> None:
        for key, row in embeddings.items():
            self._memory[key] = row
            self._memory.move_to_end(key)
        while len(self._memory) > REMEMBERED_FRAMES:
            self._memory.popitem(last=False)

    def _encode(self, frames: Sequence[Frame]) -> Iterator[np.ndarray]:
        if not frames:
            return
        with ThreadPoolExecutor(min(MAX_LOADERS, cpu_count() or 1)) as pool:
            for start in range(0, len(frames), self._chunk):
                chunk = frames[start : start + self._chunk]
                images = torch.stack(list(pool.map(self._prepare, chunk)))
                yield from self._forward(images)[: len(chunk)]

    def _prepare(self, frame: Frame) -> Tensor:
        return self._loaded.preprocess(frame.load())

    @torch.inference_mode()
    def _forward(self, images: Float[Tensor, "frame channel row col"]) -> np.ndarray:
        missing = self._chunk - len(images)
        padded = torch.cat([images, images[-1:].expand(missing, -1, -1, -1)])
        loaded = self._loaded
        features = loaded.model.encode_image(padded.to(loaded.device, loaded.input_dtype))
        rows: np.ndarray = normalize(features.float(), dim=-1).cpu().numpy()
        return rows
