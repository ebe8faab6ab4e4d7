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
from safetensors.torch import load_file

from cuescope_sdk import Context, UserError, digest, nearest
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
# of a stranger's configuration no more is taken: how pictures are cut and scaled
LOOKS = ("input_size", "mean", "std", "interpolation", "crop_pct", "crop_mode")
# what a classifier has and an eye has not
HEADS = ("head.", "fc.", "classifier.", "head_dist.", "last_linear.")


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
            name = str(config["architecture"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{OWNER}: config.json of {source.title}",
                expected="that of timm, with an architecture",
                remedy="A model of transformers is opened by vision-tower:MODEL",
            ) from error
        known = timm.list_models()
        if name not in known:
            raise UserError(
                f"{OWNER}: no architecture '{name[:80]}' in timm {timm.__version__}",
                remedy=nearest(name, known),
            )
        device = resolve_device(context.device)
        return cls(
            source, config, weights, context, device, resolve_dtype(context.dtype)
        )

    @property
    def title(self) -> str:
        """What errors call it."""
        return f"{OWNER}: {self.source.title}"

    @property
    def looks(self) -> dict[str, Any]:
        """How pictures are cut and scaled."""
        said = self.config.get("pretrained_cfg") or {}
        return {key: said[key] for key in LOOKS if key in said}

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
        title = self.source.title
        self.context.stop_plan_before(f"the weights of {title}")
        # it draws weights before they are loaded, from everybody's generator
        with torch.random.fork_rng(devices=[]):
            network = self._build()
        tensors = load_file(self.weights)
        try:
            told = network.load_state_dict(tensors, strict=False)
        except RuntimeError as error:  # of another shape
            raise self._misfit(str(error).strip().splitlines()[-1]) from error
        strange = [key for key in told.unexpected_keys if not key.startswith(HEADS)]
        if told.missing_keys or strange:
            raise self._misfit(", ".join([*told.missing_keys, *strange][:3]))
        return network.eval().requires_grad_(False).to(self.device, self.dtype)

    def _build(self) -> Any:
        arguments = self.config.get("model_args") or {}
        plain: dict[str, Any] = {
            key: value
            for key, value in arguments.items()
            if isinstance(value, int | float | bool | list)
        }
        arguments = {**plain, "num_classes": 0}
        name = self.config["architecture"]
        try:
            # without its numbers: of a stranger's configuration they may take all memory
            with torch.device("meta"), refuse_larger_networks(OWNER, [self.weights]):
                timm.create_model(name, pretrained=False, **arguments)
            return timm.create_model(name, pretrained=False, **arguments)
        except UserError:
            raise
        except Exception as error:  # a stranger's figures fail in any way they like
            raise self._misfit(fault_of(error)) from error

    def _misfit(self, got: str) -> UserError:
        return UserError(
            f"{OWNER}: the weights of {self.source.title} do not fit its architecture",
            expected=f"those of {self.config['architecture']}",
            got=got,
        )

    @cached_property
    def _data_config(self) -> dict[str, Any]:
        data: Any = timm.data  # of its names the library exports none
        config: dict[str, Any] = data.resolve_data_config({}, pretrained_cfg=self.looks)
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
        with torch.device("meta"), quiet():
            network = self._build().eval()
            _map_of(network, torch.zeros(1, *self._data_config["input_size"]), -1)

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
