"""Vision towers of transformers: the pooled output, or the mean over tokens."""

import inspect
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
import transformers
from PIL import Image

from cuescope_sdk import Context
from cuescope_sdk.models import UnopenableError
from cuescope_sdk.torch import Pretrained, quiet, refuse_larger_networks, to_array

OWNER = "vision-tower"
FIRST = 16  # tokens that are no patch, at most


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

    @property
    def title(self) -> str:
        """What errors call it."""
        return self.files.title

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

    def try_patches(self) -> None:
        """Raise whatever it raises where the network gives no patches; without weights."""
        config = deepcopy(self.files.config)  # building writes into it
        weights = self.files.source.weight_files()
        with (
            torch.device("meta"),
            quiet(),
            refuse_larger_networks(self.files.source.owner, weights),
        ):
            network = self.files.network_class._from_config(config).eval()
        height, width = self._size(Image.new("RGB", (64, 64)))
        _map_of(network, torch.zeros(1, 3, height, width, device="meta"), -1)

    def _size(self, image: Image.Image) -> tuple[int, int]:
        """Rows and columns of pixels that the network is shown."""
        [pixels] = self.processor(images=[image], return_tensors="pt")["pixel_values"]
        _, height, width = pixels.shape
        return height, width

    @torch.inference_mode()
    def patches(self, images: Sequence[Image.Image], layer: int) -> np.ndarray:
        """Patches (image, row, col, dim) of whole pictures: squashed, and not cropped."""
        network = self.files.network
        height, width = self._size(Image.new("RGB", (64, 64)))
        inputs = self.processor(
            images=[image.resize((width, height)) for image in images],
            do_resize=False,
            do_center_crop=False,
            return_tensors="pt",
        )
        pixels = inputs["pixel_values"].to(self.files.device, self.files.dtype)
        return to_array(_map_of(network, pixels, layer))


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


def _map_of(network: Any, pixels: torch.Tensor, layer: int) -> torch.Tensor:
    """(image, row, col, dim) after a layer, or a stage; -1 is what the network ends with.

    Raises ValueError where its tokens lie on no grid.
    """
    # a CLIP has two towers
    tower = getattr(network, "vision_model", network)
    output = tower(pixel_values=pixels, output_hidden_states=True)
    # embeddings come before the layers
    states: torch.Tensor = output.hidden_states[layer + 1 if layer >= 0 else layer]
    if layer == -1:
        states = output.last_hidden_state
    if states.ndim == 4:
        return states.permute(0, 2, 3, 1)
    rows, cols = (side // tower.config.patch_size for side in pixels.shape[-2:])
    count = states.shape[1]
    # class tokens and registers stand first
    if rows * cols <= count <= rows * cols + FIRST:
        return states[:, count - rows * cols :].reshape(len(states), rows, cols, -1)
    merged = round((rows * cols / count) ** 0.5)
    if (rows // merged) * (cols // merged) != count:
        raise ValueError(f"{count} tokens on {rows} x {cols} patches")
    return states.reshape(len(states), rows // merged, cols // merged, -1)
