"""Build a stock open_clip model and fill it, strictly, from a weights file."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from cuescope_open_clip.sources import Source, find_source
from cuescope_sdk import UserError, digest
from cuescope_sdk.torch import resolve_dtype, tensor_bytes

VISUAL = "visual."
SCALARS = ("logit_scale", "logit_bias")
PRECISIONS = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}


@dataclass(frozen=True)
class Loaded:
    """A model ready to encode; `dim` is the size of its shared embedding space.

    `has_text_tower` tells whether weights came for it.
    """

    model: Any
    source: Source
    preprocess: Callable[[Image.Image], Tensor]
    device: torch.device
    input_dtype: torch.dtype
    dim: int
    has_text_tower: bool

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        return {"architecture": self.source.architecture, "weights": self.source.title}

    def tokenizer(self) -> Callable[[list[str]], Tensor]:
        """open_clip's tokenizer for this model."""
        tokenize: Callable[[list[str]], Tensor] = open_clip.get_tokenizer(self.source.name)
        return tokenize

    def fingerprint(self, head: str, uses_text_tower: bool) -> str:
        """Digest of the weights in use, the preprocessing, the dtype and the head."""
        used = {
            name: tensor_bytes(tensor)
            for name, tensor in self.model.state_dict().items()
            if uses_text_tower or name.startswith(VISUAL)
        }
        preprocess = repr(sorted(self.model.visual.preprocess_cfg.items()))
        architecture = open_clip.get_model_config(self.source.name)
        return digest(
            used, preprocess, architecture, self.source.quick_gelu, str(self.input_dtype), head
        )


def load(model: str, checkpoint: Path | None, device: torch.device, dtype: str) -> Loaded:
    """Build and fill the model; raises UserError for whatever a person can mend."""
    input_dtype = resolve_dtype(dtype)
    source = find_source(model, checkpoint)
    network = _build(source, PRECISIONS[input_dtype])
    has_text_tower = fill(network, source.weights, source.architecture)
    network.eval().requires_grad_(False).to(device)
    preprocess = image_transform_v2(PreprocessCfg(**network.visual.preprocess_cfg), is_train=False)
    dim = int(open_clip.get_model_config(source.name)["embed_dim"])
    return Loaded(network, source, preprocess, device, input_dtype, dim, has_text_tower)


def _build(source: Source, precision: str) -> Any:
    # open_clip draws initial weights that are overwritten: the caller's generator must not move.
    with torch.random.fork_rng(devices=[]), quiet_root_logger():
        try:
            return open_clip.create_model(
                source.name,
                precision=precision,
                load_weights=False,
                pretrained_text=False,
                force_quick_gelu=source.quick_gelu,
                force_preprocess_cfg=dict(source.preprocess),
            )
        except (RuntimeError, ValueError, OSError, ImportError, TypeError) as error:
            raise UserError(
                f"open-clip: {source.title} cannot be built",
                got=f"{type(error).__name__} ({shorten(str(error), 160)})",
            ) from error


def fill(network: nn.Module, weights: Path, architecture: str) -> bool:
    """Load `weights` strictly; True where they hold the text tower too.

    A file of `visual.*` alone (perhaps with the logit scale) fills the image tower, every tensor
    of it; any other must fill the whole model. Raises UserError for a file that does not fit.
    """
    try:
        names = tensor_names(weights)
        if not all(name.startswith(VISUAL) or name in SCALARS for name in names):
            with quiet_root_logger():
                open_clip.load_checkpoint(network, str(weights), strict=True, weights_only=True)
            return True
        _fill_image_tower(network, weights)
    except (RuntimeError, KeyError) as error:
        raise UserError(
            f"open-clip: {weights.name} does not fit {architecture}",
            expected="every tensor of the model, or of its image tower (visual.*), and no other",
            got=_first_fault(error),
            remedy="Name the architecture that the weights were made with.",
        ) from error
    return False


def _first_fault(error: Exception) -> str:
    """The first of the faults that torch lists, on one line."""
    listed = f"{error}".split("\n\t")
    return shorten(listed[1] if len(listed) > 1 else listed[0], 200).rstrip(".")


def _fill_image_tower(network: Any, weights: Path) -> None:
    tensors = read_tensors(weights)
    tower = {
        name.removeprefix(VISUAL): tensor for name, tensor in tensors.items() if name not in SCALARS
    }
    network.visual.load_state_dict(tower, strict=True)
    with torch.no_grad():
        for name in SCALARS:
            if name in tensors and getattr(network, name, None) is not None:
                getattr(network, name).copy_(tensors[name].reshape(getattr(network, name).shape))


def tensor_names(path: Path) -> list[str]:
    """Names of the tensors in a weights file, without a data-parallel prefix."""
    if path.suffix == ".safetensors":
        try:
            with safe_open(str(path), framework="pt") as file:
                names = list(file.keys())
        except (SafetensorError, OSError) as error:
            raise _unreadable(path, error) from error
    else:
        names = list(read_tensors(path))
    return [name.removeprefix("module.") for name in names]


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a weights file; nothing in it is executed. Raises UserError."""
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            content: Any = load_file(path)
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the reader of a stranger's bytes fails in any way it likes
        raise _unreadable(path, error) from error
    tensors = content.get("state_dict", content) if isinstance(content, dict) else {}
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise _unreadable(path, ValueError("no mapping of names to tensors"))
    return {name.removeprefix("module."): tensor for name, tensor in tensors.items()}


def _unreadable(path: Path, error: Exception) -> UserError:
    return UserError(
        f"open-clip: {path.name} cannot be read as weights",
        expected="safetensors, or a state dict saved by torch.save",
        got=f"{type(error).__name__} ({shorten(str(error), 120)})",
        remedy="Save model.state_dict() with safetensors.torch.save_file.",
    )


@contextmanager
def quiet_root_logger() -> Iterator[None]:
    """open_clip speaks through the root logger, and says "initialized randomly" before `fill`."""

    def silence(record: logging.LogRecord) -> bool:
        return False

    root, handler = logging.getLogger(), logging.NullHandler()
    root.addFilter(silence)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeFilter(silence)
        root.removeHandler(handler)
