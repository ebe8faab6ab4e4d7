"""The model in open_clip's words, and the prompts of its training. Nothing here imports torch."""

from typing import Any

CONTEXT_LENGTH = 32
VOCABULARY_SIZE = 49_408  # of CLIP's tokenizer
PREPROCESS: dict[str, Any] = {
    "mean": (0.5, 0.5, 0.5),
    "std": (0.5, 0.5, 0.5),
    "size": (96, 96),
    "resize_mode": "squash",
}
TOWERS: dict[str, dict[str, Any]] = {
    "vit": {
        "patch_size": 8,
        "width": 96,
        "layers": 4,
        "head_width": 32,
        "pos_embed_type": "sin_cos_2d",
    },
    "resnet": {"width": 10, "layers": [1, 1, 1, 1], "head_width": 32},
}
TITLES = {
    "vit": "ViT, 4 layers of width 96, patches of 8 px",
    "resnet": "ResNet of CLIP's kind, 4 blocks, width 10",
}
# First logit scales: with exp(3.4), about 30, five true captions of a picture can stand out.
LOGIT_SCALES = {"vit": 2.3, "resnet": 3.4}
PROMPTS = (
    "a photo of a {label}.",
    "a photo of the {label}.",
    "a picture of a {label}.",
    "an image of a {label}.",
    "a {label}",
)


def model_config(tower: str) -> dict[str, Any]:
    """The configuration with an image tower of this kind."""
    return {
        "embed_dim": 64,
        "init_logit_scale": LOGIT_SCALES[tower],
        "init_logit_bias": -4.0,  # most pairs are no match: SigLIP starts there, too
        "vision_cfg": {"image_size": 96, **TOWERS[tower]},
        "text_cfg": {
            "context_length": CONTEXT_LENGTH,
            "vocab_size": VOCABULARY_SIZE,
            "width": 64,
            "heads": 2,
            "layers": 2,
        },
    }
