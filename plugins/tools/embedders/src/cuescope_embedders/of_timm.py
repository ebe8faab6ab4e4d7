"""Networks of timm, from a folder or hub id that `save_for_hf` wrote."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import timm
import timm.data
import torch
from PIL import Image

from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.torch import (
    Source,
    fault_of,
    files_digest,
    quiet,
    refuse_larger_networks,
    resolve_device,
    resolve_dtype,
    to_array,
)

OWNER = "timm"


@dataclass(frozen=True)
class TimmNetwork:
    """A network with its preprocessing; its weights are opened when they are first needed."""

    source: Source
    config: Mapping[str, Any]
    weights: Path
    context: Context
    device: torch.device
    dtype: torch.dtype

    @classmethod
    def find(cls, model: str, revision: str | None, context: Context) -> Self:
        """Of a name of timm, a folder or a hub id; raises UserError where there is none."""
        is_name = "/" not in model and not Path(model).expanduser().is_dir()
        # the models of timm lie under its own name on the hub
        repository = f"timm/{model}" if is_name else model
        source = Source.find(OWNER, repository, revision, context)
        [weights, *more] = source.weight_files()
        if more or weights.suffix != ".safetensors":
            raise UserError(
                f"{OWNER}: the weights of {source.title}",
                expected="one file, model.safetensors",
                got=weights.name,
                remedy="Save it with timm.models.save_for_hf(..., safe_serialization=True)",
            )
        try:
            config = json.loads((source.folder / "config.json").read_text("utf-8"))
            _ = config["architecture"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{OWNER}: config.json of {source.title}",
                expected="that of timm, with an architecture",
                remedy="A model of transformers is opened by vision-tower:MODEL",
            ) from error
        device = resolve_device(context.device)
        return cls(
            source, config, weights, context, device, resolve_dtype(context.dtype)
        )

    @property
    def title(self) -> str:
        """What errors call it."""
        return f"{OWNER}: {self.source.title}"

    @property
    def fingerprint(self) -> str:
        """Of the weights, the architecture and the preprocessing."""
        return digest(
            OWNER,
            1,
            files_digest([self.weights]),
            json.dumps(self.config, sort_keys=True),
            str(self.dtype),
        )

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of it."""
        return {
            "architecture": str(self.config["architecture"]),
            "weights": self.source.title,
        }

    def open(self) -> None:
        """Open the weights."""
        _ = self.network

    @cached_property
    def network(self) -> Any:
        """The network without its head, on its device; raises UserError where weights misfit."""
        self.context.stop_plan_before(f"the weights of {self.source.title}")
        _ = self._outline
        # it draws weights before they are loaded, from everybody's generator
        with torch.random.fork_rng(devices=[]):
            network = self._create(pretrained=True)
        return network.eval().requires_grad_(False).to(self.device, self.dtype)

    @cached_property
    def _outline(self) -> Any:
        """Without its numbers: of a stranger's configuration they may take all memory."""
        with torch.device("meta"), quiet():
            return self._create(pretrained=False).eval()

    def _create(self, *, pretrained: bool) -> Any:
        try:
            with refuse_larger_networks(OWNER, [self.weights]):
                return timm.create_model(
                    f"local-dir:{self.source.folder}",
                    pretrained=pretrained,
                    num_classes=0,
                )
        except UserError:
            raise
        except Exception as error:  # a stranger's figures fail in any way they like
            raise UserError(
                f"{OWNER}: {self.source.title} cannot be opened", got=fault_of(error)
            ) from error

    @cached_property
    def _data_config(self) -> dict[str, Any]:
        data: Any = timm.data  # of its names the library exports none
        config: dict[str, Any] = data.resolve_model_data_config(self._outline)
        return config

    @cached_property
    def _transform(self) -> Any:
        data: Any = timm.data
        return data.create_transform(**self._data_config, is_training=False)

    @cached_property
    def _transform_of_all(self) -> Any:
        """As the other, of the whole picture: squashed, and not cropped."""
        data: Any = timm.data
        whole = {**self._data_config, "crop_mode": "squash", "crop_pct": 1.0}
        return data.create_transform(**whole, is_training=False)

    def try_patches(self) -> None:
        """Raise whatever it raises where the network gives no patches; without weights."""
        with torch.device("meta"):
            pixels = torch.zeros(1, *self._data_config["input_size"])
            _map_of(self._outline, pixels, -1)

    @torch.inference_mode()
    def patches(self, images: Sequence[Image.Image], layer: int) -> np.ndarray:
        """Patches (image, row, col, dim) of whole pictures."""
        pixels = torch.stack([self._transform_of_all(image) for image in images])
        return to_array(
            _map_of(self.network, pixels.to(self.device, self.dtype), layer)
        )

    @torch.inference_mode()
    def embed(self, images: Sequence[Image.Image]) -> np.ndarray:
        """Rows (image, dim)."""
        network = self.network
        pixels = torch.stack([self._transform(image) for image in images])
        rows = network(pixels.to(self.device, self.dtype))
        array: np.ndarray = rows.float().cpu().numpy()
        return array


def _map_of(network: Any, pixels: torch.Tensor, layer: int) -> torch.Tensor:
    """(image, row, col, dim) after a layer, or a stage."""
    [states] = network.forward_intermediates(
        pixels,
        indices=[layer],
        norm=True,
        output_fmt="NCHW",
        intermediates_only=True,
    )
    channels_last: torch.Tensor = states.permute(0, 2, 3, 1)
    return channels_last
