"""The authors' files: their names of tensors in ours, and every tensor in its place."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from cuescope_sdk.torch import Checkpoint

# How the authors call a part, and how transformers does. In this order from left to right, and
# in the other order back.
NAMES = [
    line.split()
    for line in """
    visual_encoder.blocks.           vision.encoder.layers.
    visual_encoder.patch_embed.proj. vision.embeddings.patch_embedding.
    visual_encoder.cls_token         vision.embeddings.class_embedding
    visual_encoder.pos_embed         vision.embeddings.position_embedding
    visual_encoder.gmhra             gmhra
    .attn.qkv.                       .self_attn.qkv.
    .attn.proj.                      .self_attn.projection.
    .norm1.                          .layer_norm1.
    .norm2.                          .layer_norm2.
    ln_vision.                       vision.post_layernorm.
    video_Qformer.bert.              video_qformer.
    Qformer.bert.                    qformer.
    qformer.embeddings.LayerNorm.    qformer.layernorm.
    .attention.self.                 .attention.attention.
    .crossattention.self.            .crossattention.attention.
    """.strip().splitlines()
]
# The text side of the Q-Formers, what BLIP-2 or pretraining had beside them, and sound.
_TEXT = r"(video_)?Qformer\.(cls\.|bert\.embeddings\.(word|position)_embeddings\.)"
_TEXT_LAYERS = r"(video_)?Qformer\.bert\.encoder\.layer\.\d+\.(intermediate|output)\."
UNUSED = re.compile(
    rf"({_TEXT}|{_TEXT_LAYERS}|(t5|opt)_|audio_|llama_model\.|.*position_ids$"
    r"|visual_encoder\.(norm|fc_norm|head|mask_token|rel_pos_bias))"
)


def read_files(owner: str, files: Mapping[str, Path], vision_layers: int) -> Checkpoint:
    """The tensors of vision, qformer and checkpoint together; later files replace earlier ones.

    Layers of the image encoder from `vision_layers` on are left out, as the authors leave out the
    last.
    """
    tensors: dict[str, Tensor] = {}
    file_of: dict[str, str] = {}
    # the authors' own file last: what they trained wins over what was frozen
    for kind in ("vision", "qformer", "checkpoint"):
        path = files[kind]
        # its names are the encoder's own, without the part's name before them
        prefix = "visual_encoder." if kind == "vision" else ""
        for name, tensor in Checkpoint.read(owner, path).tensors.items():
            name = f"{prefix}{name}"
            # left out by name: whatever else has no place here is refused
            if not UNUSED.match(name) and not _is_beyond(name, vision_layers):
                tensors[name] = tensor
                file_of[name] = path.name

    def describe(name: str) -> str:
        return f"{name} of {file_of[name]}" if name in file_of else name

    titles = [files[kind].name for kind in ("vision", "qformer", "checkpoint")]
    return Checkpoint(f"{owner}: {' with '.join(titles)}", tensors, describe)


def read_file(owner: str, path: Path, unused: str) -> Checkpoint:
    """The tensors of a file, without those whose names begin as `unused`, a regular expression."""
    file = Checkpoint.read(owner, path)
    tensors = {
        name: tensor
        for name, tensor in file.tensors.items()
        if not re.match(unused, name)
    }
    return replace(file, tensors=tensors)


def fill(network: nn.Module, file: Checkpoint) -> None:
    """Give a network of transformers' parts the tensors, strictly; raises UserError."""

    def describe(name: str) -> str:
        return file.describe(published_name(name))

    tensors = {our_name(name): tensor for name, tensor in file.tensors.items()}
    Checkpoint(file.title, _with_joint_bias(tensors), describe).load_into(network)


def _is_beyond(name: str, layers: int) -> bool:
    match = re.match(r"visual_encoder\.blocks\.(\d+)\.", name)
    return match is not None and int(match[1]) >= layers


def our_name(name: str) -> str:
    """The name of a tensor in our network."""
    for theirs, ours in NAMES:
        name = name.replace(theirs, ours)
    return name


def published_name(name: str) -> str:
    """And back."""
    for theirs, ours in reversed(NAMES):
        name = name.replace(ours, theirs)
    return name


def _with_joint_bias(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Queries and values have a bias, keys have none: transformers keeps the three in one."""
    joint = dict(tensors)
    for name, query in tensors.items():
        layer = name.removesuffix(".attn.q_bias")
        value_name = f"{layer}.attn.v_bias"
        # one without the other stays as it is, and is named as unknown
        if name.endswith(".attn.q_bias") and value_name in tensors:
            del joint[name]
            value = joint.pop(value_name)
            bias = torch.cat([query, torch.zeros_like(query), value])
            joint[f"{layer}.self_attn.qkv.bias"] = bias
    return joint
