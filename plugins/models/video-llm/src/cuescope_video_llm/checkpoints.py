"""The authors' files: their names of tensors in ours, and every tensor in its place."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from cuescope_sdk import UserError
from cuescope_sdk.torch import load_state_strictly, read_weights, unreadable_weights

Names = tuple[tuple[str, str], ...]
# How the authors call a part, and how transformers does. In this order from left to right, and
# in the other order back.
NAMES: Names = (
    ("visual_encoder.blocks.", "vision.encoder.layers."),
    ("visual_encoder.patch_embed.proj.", "vision.embeddings.patch_embedding."),
    ("visual_encoder.cls_token", "vision.embeddings.class_embedding"),
    ("visual_encoder.pos_embed", "vision.embeddings.position_embedding"),
    ("visual_encoder.gmhra", "gmhra"),
    (".attn.qkv.", ".self_attn.qkv."),
    (".attn.proj.", ".self_attn.projection."),
    (".norm1.", ".layer_norm1."),
    (".norm2.", ".layer_norm2."),
    ("ln_vision.", "vision.post_layernorm."),
    ("video_Qformer.bert.", "video_qformer."),
    ("Qformer.bert.", "qformer."),
    ("qformer.embeddings.LayerNorm.", "qformer.layernorm."),
    (".attention.self.", ".attention.attention."),
    (".crossattention.self.", ".crossattention.attention."),
)
# The text side of the Q-Formers, what BLIP-2 or pretraining had beside them, and sound.
_TEXT = r"(video_)?Qformer\.(cls\.|bert\.embeddings\.(word|position)_embeddings\.)"
_TEXT_LAYERS = r"(video_)?Qformer\.bert\.encoder\.layer\.\d+\.(intermediate|output)\."
UNUSED = re.compile(
    rf"({_TEXT}|{_TEXT_LAYERS}|(t5|opt)_|audio_|llama_model\.|.*position_ids$"
    r"|visual_encoder\.(norm|fc_norm|head|mask_token|rel_pos_bias))"
)


@dataclass(frozen=True)
class Tensors:
    """Tensors by the authors' names, and the file that each is from."""

    owner: str
    by_name: Mapping[str, Tensor]
    file_of: Mapping[str, str]

    def size(self, name: str, axis: int = 0) -> int:
        """The size of a tensor along an axis; raises UserError where it is not there."""
        tensor = self.by_name.get(name)
        if tensor is None or tensor.ndim <= axis:
            raise UserError(
                f"{self.owner}: {', '.join(dict.fromkeys(self.file_of.values()))} do not fit",
                expected=f"a tensor '{name}'",
                got="none of this name" if tensor is None else f"shape {tuple(tensor.shape)}",
            )
        return int(tensor.shape[axis])

    def layers(self, prefix: str) -> int:
        """How many layers are numbered after `prefix`."""
        pattern = re.compile(re.escape(prefix) + r"(\d+)\.")
        count = 0
        for name in self.by_name:
            if match := pattern.match(name):
                count = max(count, int(match[1]) + 1)
        return count

    def load_into(self, network: nn.Module, names: Names = NAMES) -> None:
        """Fill the network, strictly; raises UserError."""
        tensors = {our_name(name, names): tensor for name, tensor in self.by_name.items()}
        load_state_strictly(
            network,
            _with_joint_bias(tensors),
            f"{self.owner}: the checkpoints do not fit",
            describe=lambda name: self._describe(published_name(name, names)),
        )

    def _describe(self, name: str) -> str:
        return f"{name} of {self.file_of[name]}" if name in self.file_of else name


def read_files(owner: str, files: Mapping[str, Path], vision_layers: int) -> Tensors:
    """The tensors of vision, qformer and checkpoint together; later files replace earlier ones.

    Layers of the image encoder from `vision_layers` on are left out, as the authors leave out the
    last.
    """
    by_name: dict[str, Tensor] = {}
    file_of: dict[str, str] = {}
    for kind in ("vision", "qformer", "checkpoint"):
        path = files[kind]
        prefix = "visual_encoder." if kind == "vision" else ""
        for name, tensor in _state(owner, path).items():
            name = f"{prefix}{name.removeprefix('module.')}"
            if not UNUSED.match(name) and not _is_beyond(name, vision_layers):
                by_name[name] = tensor
                file_of[name] = path.name
    return Tensors(owner, by_name, file_of)


def read_file(owner: str, path: Path, unused: str) -> Tensors:
    """The tensors of a file, without those whose names begin as `unused`, a regular expression."""
    by_name = {}
    for name, tensor in _state(owner, path).items():
        name = name.removeprefix("module.")
        if not re.match(unused, name):
            by_name[name] = tensor
    return Tensors(owner, by_name, dict.fromkeys(by_name, path.name))


def _state(owner: str, path: Path) -> dict[str, Tensor]:
    content = read_weights(owner, path)
    if isinstance(content, dict):
        content = content.get("model", content)
    if not isinstance(content, dict):
        content = {}
    tensors = {str(name): value for name, value in content.items() if isinstance(value, Tensor)}
    if not tensors:
        raise unreadable_weights(owner, path, "no tensor with a name")
    return tensors


def _is_beyond(name: str, layers: int) -> bool:
    match = re.match(r"visual_encoder\.blocks\.(\d+)\.", name)
    return match is not None and int(match[1]) >= layers


def our_name(name: str, names: Names = NAMES) -> str:
    """The name of a tensor in our network."""
    for theirs, ours in names:
        name = name.replace(theirs, ours)
    return name


def published_name(name: str, names: Names = NAMES) -> str:
    """And back."""
    for theirs, ours in reversed(names):
        name = name.replace(ours, theirs)
    return name


def _with_joint_bias(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Queries and values have a bias, keys have none: transformers keeps the three in one."""
    joint = dict(tensors)
    for name, query in tensors.items():
        layer = name.removesuffix(".attn.q_bias")
        value_name = f"{layer}.attn.v_bias"
        if name.endswith(".attn.q_bias") and value_name in tensors:
            del joint[name]
            value = joint.pop(value_name)
            bias = torch.cat([query, torch.zeros_like(query), value])
            joint[f"{layer}.self_attn.qkv.bias"] = bias
    return joint
