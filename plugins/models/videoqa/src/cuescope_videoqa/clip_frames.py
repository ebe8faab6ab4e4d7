"""Frames through a stock CLIP: the features that FrozenBiLM is fed with, computed on the spot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_sdk import Frame, UserError, digest
from cuescope_sdk.torch import quiet, tensor_bytes
from cuescope_videoqa.folders import told_as_user_error
from cuescope_videoqa.frame_rows import FrameRows

REMEMBERED = 65_536


class ClipFrames:
    """The projected, not normalised image embeddings of CLIP."""

    def __init__(self, owner: str, folder: Path, dim: int) -> None:
        import transformers

        library: Any = transformers
        with told_as_user_error(owner, f"CLIP in {folder.name}"), quiet():
            model = library.CLIPVisionModelWithProjection.from_pretrained(folder)
            self._processor: Any = library.AutoImageProcessor.from_pretrained(folder)
        if model.config.projection_dim != dim:
            raise UserError(
                f"{owner}: features of {folder.name}",
                expected=f"{dim} numbers, as the checkpoint was trained with",
                got=f"{model.config.projection_dim}",
                remedy="Name the CLIP of its training with -M vision=FOLDER.",
            )
        self._model: Any = model.eval().requires_grad_(False)
        self._rows = FrameRows(self._encode, REMEMBERED)

    def of(self, frames: Sequence[Frame], device: torch.device) -> Float[Tensor, "frame dim"]:
        """A row a frame, float32, on the CPU."""
        self._model.to(device)
        return self._rows.of(frames)

    def _encode(self, frames: Sequence[Frame]) -> Float[Tensor, "frame dim"]:
        images = [frame.load() for frame in frames]
        pixels = self._processor(images, return_tensors="pt")["pixel_values"]
        found = self._model(pixel_values=pixels.to(self._model.device))
        return found.image_embeds.float().cpu()  # type: ignore[no-any-return]

    def content(self) -> str:
        """Digest of weights and preprocessing."""
        weights = {name: tensor_bytes(one) for name, one in self._model.state_dict().items()}
        return digest(weights, self._processor.to_json_string())
