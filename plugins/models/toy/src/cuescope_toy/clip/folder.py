"""The model as open_clip saves one: its configuration, and the way from packed weights to a folder.

Packed weights are a state dict whose token embedding has the rows of the words in use alone, and
the ids of these words beside it: CLIP's whole vocabulary would be nine tenths of the file.
"""

import json
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from safetensors.torch import save
from torch import Tensor

from cuescope_toy.checkpoint import write_whole
from cuescope_toy.network import Weights

CONTEXT_LENGTH = 32
VOCABULARY_SIZE = 49_408  # of CLIP's tokenizer
VOCABULARY, EMBEDDING = "vocabulary", "token_embedding.weight"
WORD_SPREAD = 0.5  # standard deviation of a word's first embedding
PREPROCESS = {
    "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5), "size": (96, 96), "resize_mode": "squash",
}  # fmt: skip
TOWERS: dict[str, dict[str, Any]] = {
    "vit": {"patch_size": 8, "width": 96, "layers": 4, "head_width": 32,
            "pos_embed_type": "sin_cos_2d"},
    "resnet": {"width": 10, "layers": [1, 1, 1, 1], "head_width": 32},
}  # fmt: skip
SCALES = {"vit": 2.3, "resnet": 3.4}  # first logit_scale; 30 lets five things at once stand out


def model(tower: str) -> dict[str, Any]:
    """The configuration with an image tower of this kind, in open_clip's words."""
    return {
        "embed_dim": 64,
        "init_logit_scale": SCALES[tower],
        "init_logit_bias": -4.0,
        "vision_cfg": {"image_size": 96, **TOWERS[tower]},
        "text_cfg": {
            "context_length": CONTEXT_LENGTH,
            "vocab_size": VOCABULARY_SIZE,
            "width": 64,
            "heads": 2,
            "layers": 2,
        },
    }


def packed(weights: Weights, vocabulary: Int[Tensor, " word"]) -> Weights:
    """The weights of a network with this vocabulary, in half precision, with the ids."""
    halves = {name: tensor.detach().half().contiguous() for name, tensor in weights.items()}
    return {**halves, VOCABULARY: vocabulary.int()}


def unpacked(weights: Weights) -> Weights:
    """The state dict of the whole model; words that were never seen are as if newly drawn."""
    full = {name: tensor.float() for name, tensor in weights.items() if name != VOCABULARY}
    rows = full[EMBEDDING]
    unseen = torch.randn(VOCABULARY_SIZE, rows.shape[1], generator=torch.Generator().manual_seed(0))
    full[EMBEDDING] = WORD_SPREAD * unseen
    full[EMBEDDING][weights[VOCABULARY].long()] = rows
    return full


def unpack(weights: Weights, tower: str, folder: Path) -> Path:
    """Write the folder that open_clip loads; each file whole or not at all."""
    config = {"model_cfg": model(tower), "preprocess_cfg": PREPROCESS}
    write_whole(folder / "open_clip_config.json", json.dumps(config, indent=2).encode())
    write_whole(folder / "open_clip_model.safetensors", save(unpacked(weights)))
    return folder
