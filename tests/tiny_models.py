"""Tiny stock models of transformers with random weights, saved as a user would find them."""

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from cuescope_sdk.torch import quiet

MARKS = ("<unk>", "<pad>", "<s>", "</s>", "<image>", "<video>", "<start>", "<end>")
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
TEXT = {
    **SMALL,
    "num_key_value_heads": 2,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "pad_token_id": 1,
    "vocab_size": 64,
}
CHAT = (
    "{% for message in messages %}{% for part in message['content'] %}{{ part['text'] if "
    "part['type'] == 'text' else '<image>' }} {% endfor %}{% endfor %}"
)
Parts = tuple[Any, Any]


def save(parts: Parts, builder: Any, folder: Path) -> Path:
    """Configuration and processor made into a folder, weights drawn wide enough to tell inputs."""
    config, processor = parts
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(11)
        network = builder(config)
        for weight in network.parameters():
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.25)
        network.save_pretrained(folder)
        processor.save_pretrained(folder)
    return folder


def save_vlm(parts: Parts, folder: Path) -> Path:
    """An image-text-to-text model."""
    return save(parts, transformers.AutoModelForImageTextToText.from_config, folder)


def save_owl(folder: Path) -> Path:
    """An OWLv2 of 32 x 32 pixels that reads letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [
        *letters,
        *(f"{letter}</w>" for letter in letters),
        "<|startoftext|>",
        "<|endoftext|>",
    ]
    reads = transformers.CLIPTokenizer(
        vocab={word: place for place, word in enumerate(words)},
        merges=[],
        model_max_length=16,
    )
    size = {**SMALL, "num_attention_heads": 2}
    ends = {"bos_token_id": reads.bos_token_id, "eos_token_id": reads.eos_token_id}
    config = transformers.Owlv2Config(
        text_config={**size, **ends, "vocab_size": 64, "max_position_embeddings": 16},
        vision_config={**size, "image_size": 32, "patch_size": 8},
        projection_dim=32,
    )
    sees = transformers.Owlv2ImageProcessor(size={"height": 32, "width": 32})
    processor = transformers.Owlv2Processor(sees, reads)
    return save((config, processor), transformers.Owlv2ForObjectDetection, folder)


def tokenizer() -> Any:
    """Whole words; what an image token is called differs from family to family."""
    words = (
        *MARKS,
        *"abcdefgh",
        "yes",
        "no",
        "there",
        "is",
        "image",
        "cup",
        "bird",
        "car",
    )
    rules = Tokenizer(
        models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<unk>")
    )
    rules.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="left",
        extra_special_tokens={
            "image_token": "<image>",
            "video_token": "<video>",
            "vision_bos_token": "<start>",
            "vision_eos_token": "<end>",
        },
    )


def qwen2_vl() -> Parts:
    """Up to 64 x 64 pixels, in merged tokens of 8 x 8."""
    config = transformers.Qwen2VLConfig(
        text_config={
            **TEXT,
            "rope_parameters": {
                "rope_type": "default",
                "type": "mrope",
                "mrope_section": [1, 1, 2],
                "rope_theta": 1e4,
            },
        },
        vision_config={
            "depth": 2,
            "num_heads": 2,
            "patch_size": 4,
            "hidden_size": 32,
            "embed_dim": 32,
        },
        image_token_id=4,
        video_token_id=5,
        vision_start_token_id=6,
        vision_end_token_id=7,
    )
    sizes = {"patch_size": 4, "size": {"shortest_edge": 64, "longest_edge": 4096}}
    return config, transformers.Qwen2VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(**sizes),
        tokenizer=tokenizer(),
        video_processor=transformers.Qwen2VLVideoProcessor(**sizes),
        chat_template=CHAT.replace("'<image>'", "'<start> <image> <end>'"),
    )


def llava_next() -> Parts:
    """The whole image in 32 x 32 pixels, and tiles."""
    square = {"height": 32, "width": 32}
    grid = [[32, 64], [64, 32]]
    config = transformers.LlavaNextConfig(
        text_config={**TEXT, "model_type": "llama"},
        vision_config={
            **SMALL,
            "model_type": "clip_vision_model",
            "projection_dim": 16,
            "image_size": 32,
            "patch_size": 4,
        },
        image_grid_pinpoints=grid,
        image_token_index=4,
    )
    return config, transformers.LlavaNextProcessor(
        image_processor=transformers.LlavaNextImageProcessor(
            image_grid_pinpoints=grid, size={"shortest_edge": 32}, crop_size=square
        ),
        tokenizer=tokenizer(),
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT,
    )
