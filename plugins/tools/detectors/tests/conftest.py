"""Tiny stock models of transformers with seeded random weights, saved as a user would find them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from cuescope_detectors import GroundingDino, Owl
from cuescope_sdk import Context, Frame, Plugin

LETTERS = "abcdefghijklmnopqrstuvwxyz."
SIZE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
PIECES = ("cat", "##erpillar", "red", "bed", "dog", "st", "bernard", "tree", "branch")
SPECIAL = {
    "[PAD]": 0,
    "[UNK]": 100,
    "[CLS]": 101,
    "[SEP]": 102,
    "[MASK]": 103,
    ".": 1012,
    "?": 1029,
}
SIZES = ((48, 32), (32, 48), (48, 32), (40, 40))


def _owl(kind: str) -> tuple[Any, Any]:
    tokens = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    tokenizer = transformers.CLIPTokenizer(
        vocab={token: index for index, token in enumerate(tokens)},
        merges=[],
        model_max_length=16,
    )
    ends = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    config = {
        "text_config": {
            **SIZE,
            **ends,
            "vocab_size": 64,
            "max_position_embeddings": 16,
        },
        "vision_config": {**SIZE, "image_size": 32, "patch_size": 8},
        "projection_dim": 32,
    }
    size = {"height": 32, "width": 32}
    if kind == "owlv2":
        model = transformers.Owlv2ForObjectDetection(transformers.Owlv2Config(**config))
        images = transformers.Owlv2ImageProcessor(size=size)
        return model, transformers.Owlv2Processor(images, tokenizer)
    model = transformers.OwlViTForObjectDetection(transformers.OwlViTConfig(**config))
    images = transformers.OwlViTImageProcessor(size=size)
    return model, transformers.OwlViTProcessor(images, tokenizer)


def _bert() -> Any:
    """BERT's own tokenizer, with the special tokens where the model looks for them."""
    vocabulary = {f"[unused{index}]": index for index in range(1040)}
    vocabulary = {
        token: index
        for token, index in vocabulary.items()
        if index not in SPECIAL.values()
    }
    vocabulary |= SPECIAL
    for index, piece in enumerate(
        (*PIECES, *LETTERS[:-1], *(f"##{x}" for x in LETTERS[:-1]))
    ):
        vocabulary[piece] = 1040 + index
    return transformers.BertTokenizer(vocab=vocabulary)


def _dino(kind: str) -> tuple[Any, Any]:
    config = {
        "backbone_config": transformers.SwinConfig(
            image_size=32,
            patch_size=4,
            embed_dim=8,
            depths=[1, 1, 1],
            num_heads=[1, 2, 2],
            window_size=2,
            out_features=["stage2", "stage3"],
        ),
        "text_config": transformers.BertConfig(**SIZE, vocab_size=1110),
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
        "num_queries": 12,
        "num_feature_levels": 2,
        "max_text_len": 16,
    }
    if kind == "grounding-dino":
        model = transformers.GroundingDinoForObjectDetection(
            transformers.GroundingDinoConfig(**config)
        )
    else:
        model = transformers.MMGroundingDinoForObjectDetection(
            transformers.MMGroundingDinoConfig(**config)
        )
    images = transformers.GroundingDinoImageProcessor(
        size={"shortest_edge": 32, "longest_edge": 64}
    )
    return model, transformers.GroundingDinoProcessor(images, _bert())


def _sam(kind: str) -> tuple[Any, Any]:
    config = transformers.SamConfig(
        vision_config={
            "hidden_size": 32,
            "output_channels": 16,
            "num_hidden_layers": 1,
            "image_size": 64,
            "num_attention_heads": 2,
            "patch_size": 8,
            "window_size": 2,
            "mlp_dim": 32,
            "global_attn_indexes": [0],
            "num_pos_feats": 8,
        },
        prompt_encoder_config={
            "hidden_size": 16,
            "image_size": 64,
            "patch_size": 8,
            "mask_input_channels": 4,
        },
        mask_decoder_config={
            "hidden_size": 16,
            "mlp_dim": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 16,
        },
    )
    images = transformers.SamImageProcessor(
        size={"longest_edge": 64},
        pad_size={"height": 64, "width": 64},
        mask_size={"longest_edge": 32},
        mask_pad_size={"height": 32, "width": 32},
    )
    return transformers.SamModel(config), transformers.SamProcessor(images)


MAKERS: dict[str, Callable[[str], tuple[Any, Any]]] = {
    "owlv2": _owl,
    "owlvit": _owl,
    "grounding-dino": _dino,
    "mm-grounding-dino": _dino,
    "sam": _sam,
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder a kind of model, with its processor."""
    made = {}
    for kind, maker in MAKERS.items():
        made[kind] = tmp_path_factory.mktemp("models") / kind
        with torch.random.fork_rng():
            torch.manual_seed(len(made))
            model, processor = maker(kind)
            for name, weight in model.named_parameters():
                if "norm" not in name and weight.ndim > 1:
                    weight.data.normal_(std=0.3)
        model.save_pretrained(made[kind])
        processor.save_pretrained(made[kind])
    return made


@pytest.fixture
def build(folders: dict[str, Path], tmp_path: Path) -> Callable[..., Any]:
    """`build(kind or folder, dtype=, **options)`: a detector as the command line builds it."""

    def made(model: str, *, dtype: str = "float32", **options: Any) -> Plugin:
        cls = Owl if model.startswith("owl") else GroundingDino
        context = Context(cache=tmp_path / "cache", device="cpu", dtype=dtype)
        return cls(cls.Options(model=str(folders[model]), **options), context)

    return made


@pytest.fixture
def frames() -> list[Frame]:
    """Coloured noise of several sizes."""
    rng = np.random.default_rng(7)
    return [
        Frame.from_array(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        for width, height in SIZES
    ]
