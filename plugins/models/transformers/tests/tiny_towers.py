"""A tiny net of each contrastive family that was added by its shape, as its files lie on a disk.

Sizes are small; classes, image processors and the way texts are filled up are the families' own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SIDE = 32
FRAMES = 4
CONTEXT = 16
SIZE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
VISION = {**SIZE, "image_size": SIDE, "patch_size": 8}
MARKS = ("<pad>", "<s>", "</s>", "<unk>")
WORDS = ("a", "photo", "of", "bird", "boat", "cow", "top", "middle", "bottom", ".")
TEXT = {
    **SIZE,
    "vocab_size": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "max_position_embeddings": CONTEXT,
}
SQUARE = {"height": SIDE, "width": SIDE}
Parts = tuple[Any, Any]


def tokenizer() -> Any:
    """Whole words between an opening and a closing token."""
    vocabulary = {word: number for number, word in enumerate((*MARKS, *WORDS))}
    rules = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    rules.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        padding_side="right",
        model_input_names=["input_ids", "attention_mask"],
    )


def _cropped() -> Any:
    return transformers.CLIPImageProcessor(
        size={"shortest_edge": SIDE}, crop_size=SQUARE
    )


def _metaclip2() -> Parts:
    config = transformers.MetaClip2Config(
        text_config=TEXT, vision_config=VISION, projection_dim=24
    )
    return config, _cropped()


def _altclip() -> Parts:
    # RoBERTa's places begin behind the one of padding
    text = {**TEXT, "max_position_embeddings": CONTEXT + 1, "project_dim": 24}
    config = transformers.AltCLIPConfig(
        text_config=text, vision_config=VISION, projection_dim=24
    )
    return config, _cropped()


def _chinese_clip() -> Parts:
    config = transformers.ChineseCLIPConfig(
        text_config=TEXT, vision_config=VISION, projection_dim=24
    )
    return config, transformers.ChineseCLIPImageProcessor(size=SQUARE, crop_size=SQUARE)


def _tipsv2() -> Parts:
    config = transformers.Tipsv2Config(text_config=TEXT, vision_config=VISION)
    return config, transformers.Tipsv2ImageProcessor(size=SQUARE)


def _align() -> Parts:
    vision = {
        "image_size": SIDE,
        "width_coefficient": 1.0,
        "depth_coefficient": 1.0,
        "hidden_dim": 32,
        "kernel_sizes": [3],
        "in_channels": [32],
        "out_channels": [32],
        "strides": [1],
        "num_block_repeats": [1],
        "expand_ratios": [1],
        "depthwise_padding": [],
    }
    config = transformers.AlignConfig(
        text_config=TEXT, vision_config=vision, projection_dim=32
    )
    return config, transformers.EfficientNetImageProcessor(size=SQUARE)


def _blip() -> Parts:
    text = {**TEXT, "encoder_hidden_size": 32, "sep_token_id": 2}
    config = transformers.BlipConfig(
        text_config=text, vision_config=VISION, image_text_hidden_size=24
    )
    return config, transformers.BlipImageProcessor(size=SQUARE)


def _videoprism() -> Parts:
    vision = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 2,
        "image_size": SIDE,
        "tubelet_size": [1, 8, 8],
        "num_frames": FRAMES,
        "num_spatial_layers": 2,
        "num_temporal_layers": 1,
        "num_auxiliary_layers": 1,
    }
    config = transformers.VideoPrismConfig(text_config=TEXT, vision_config=vision)
    looks = transformers.LlavaOnevisionVideoProcessor(size=SQUARE, do_normalize=False)
    return config, looks


FAMILIES: dict[str, Callable[[], Parts]] = {
    "metaclip_2": _metaclip2,
    "altclip": _altclip,
    "chinese_clip": _chinese_clip,
    "tipsv2": _tipsv2,
    "blip": _blip,
    "align": _align,
    "videoprism": _videoprism,
}


def network_class(kind: str) -> Any:
    """What the family's files are opened with."""
    if kind == "blip":
        return transformers.BlipForImageTextRetrieval
    return transformers.AutoModel


def write(kind: str, folder: Path) -> Path:
    """Configuration, seeded random weights, processor and tokenizer."""
    config, looks = FAMILIES[kind]()
    cls = network_class(kind)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        build = cls if kind == "blip" else cls.from_config
        network = build(config)
        with torch.no_grad():
            for name, weight in network.named_parameters():
                # wide enough for differences to show
                if weight.ndim > 1:
                    weight.normal_(std=0.2)
                elif "bias" in name:
                    weight.normal_(std=0.1)
    network.save_pretrained(folder)
    looks.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
