"""Vision towers of transformers: the pooled output, or the mean over tokens."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
import transformers
from PIL import Image

from cuescope_sdk import Context
from cuescope_sdk.models import UnopenableError
from cuescope_sdk.torch import Pretrained

OWNER = "vision-tower"


@dataclass(frozen=True)
class Tower:
    """A network with its preprocessing; its weights are opened when they are first needed."""

    files: Pretrained
    processor: Any
    fingerprint: str

    @classmethod
    def find(cls, model: str, revision: str | None, context: Context) -> Self:
        """Of a folder or hub id; raises UserError for a model that embeds no images."""
        files = Pretrained.find(OWNER, model, revision, context, _builder)
        # drawn at random where a checkpoint was trained without it, and not needed then
        takes = inspect.signature(files.network_class.__init__).parameters
        if "add_pooling_layer" in takes:
            files = replace(files, loading={"add_pooling_layer": False})
        processor = files.read("processor", transformers.AutoImageProcessor)
        return cls(files, processor, files.fingerprint(OWNER, 1, processor))

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of it."""
        return self.files.facts

    def open(self) -> None:
        """Open the weights."""
        _ = self.files.network

    @torch.inference_mode()
    def embed(self, images: Sequence[Image.Image]) -> np.ndarray:
        """Rows (image, dim)."""
        network = self.files.network
        inputs = self.processor(images=list(images), return_tensors="pt")
        pixels = inputs["pixel_values"].to(self.files.device, self.files.dtype)
        if hasattr(network, "get_image_features"):
            features = network.get_image_features(pixel_values=pixels)
            rows = getattr(features, "pooler_output", features)
        else:
            output = network(pixel_values=pixels)
            rows = _pool(output)
        array: np.ndarray = rows.flatten(1).float().cpu().numpy()
        return array


def _builder(config: Any, source: Any) -> Any:
    mapping = transformers.AutoModel._model_mapping
    if type(config) not in mapping:
        raise UnopenableError(
            f"{OWNER}: {source.title} embeds no images",
            expected="a vision tower of transformers, as DINOv2",
            got=f"model_type '{config.model_type}'",
        )
    return transformers.AutoModel


def _pool(output: Any) -> torch.Tensor:
    """What the network pools itself, else the mean over tokens or places."""
    pooled = getattr(output, "pooler_output", None)
    if pooled is not None:
        return torch.as_tensor(pooled)
    states: torch.Tensor = output.last_hidden_state
    # (image, token, dim), or (image, dim, row, col) of a convolutional network
    return states.mean(dim=1) if states.ndim == 3 else states.mean(dim=(2, 3))
