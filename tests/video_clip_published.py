"""Tiny checkpoints of ViCLIP and VideoCLIP-XL with random weights, in their authors' layout."""

import torch
from torch import Tensor

FRAMES, SIDE, PATCH, WIDTH, TEXT_WIDTH, DIM, LAYERS = 4, 4, 8, 128, 64, 24, 2
WORDS, CONTEXT, LONG_CONTEXT = 49408, 12, 30
State = dict[str, Tensor]


def _draw(*shape: int, scale: float = 0.2) -> Tensor:
    return torch.randn(shape) * scale


def _norm(name: str, width: int) -> State:
    return {f"{name}.weight": 1 + _draw(width), f"{name}.bias": _draw(width)}


def _blocks(prefix: str, width: int) -> State:
    state: State = {}
    for layer in range(LAYERS):
        name = f"{prefix}transformer.resblocks.{layer}."
        state |= {
            f"{name}attn.in_proj_weight": _draw(3 * width, width),
            f"{name}attn.in_proj_bias": _draw(3 * width),
            f"{name}attn.out_proj.weight": _draw(width, width),
            f"{name}attn.out_proj.bias": _draw(width),
            f"{name}mlp.c_fc.weight": _draw(4 * width, width),
            f"{name}mlp.c_fc.bias": _draw(4 * width),
            f"{name}mlp.c_proj.weight": _draw(width, 4 * width, scale=0.05),
            f"{name}mlp.c_proj.bias": _draw(width),
            **_norm(f"{name}ln_1", width),
            **_norm(f"{name}ln_2", width),
        }
    return state


def _video(prefix: str) -> State:
    return {
        f"{prefix}conv1.weight": _draw(WIDTH, 3, 1, PATCH, PATCH, scale=0.1),
        f"{prefix}class_embedding": _draw(WIDTH),
        f"{prefix}positional_embedding": _draw(SIDE**2 + 1, WIDTH),
        f"{prefix}temporal_positional_embedding": _draw(1, FRAMES, WIDTH, scale=1.0),
        f"{prefix}proj": _draw(WIDTH, DIM),
        **_norm(f"{prefix}ln_pre", WIDTH),
        **_norm(f"{prefix}ln_post", WIDTH),
        **_blocks(prefix, WIDTH),
    }


def _text(prefix: str, context: int) -> State:
    return {
        f"{prefix}token_embedding.weight": _draw(WORDS, TEXT_WIDTH),
        f"{prefix}positional_embedding": _draw(context, TEXT_WIDTH),
        f"{prefix}text_projection": _draw(TEXT_WIDTH, DIM),
        **_norm(f"{prefix}ln_final", TEXT_WIDTH),
        **_blocks(prefix, TEXT_WIDTH),
    }


def viclip_state(seed: int = 0) -> State:
    """What the authors' `torch.load(FILE)["model"]` is."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        temperature = {"temp": torch.tensor(0.01)}
        return _video("vision_encoder.") | _text("text_encoder.", CONTEXT) | temperature


def videoclip_xl_state(seed: int = 0) -> State:
    """What the authors' `torch.load("VideoCLIP-XL.bin")` is: LongCLIP's text tower."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return {
            **_text("text_model.", LONG_CONTEXT),
            "text_model.positional_embedding_res": _draw(LONG_CONTEXT, TEXT_WIDTH),
            "text_model.logit_scale": torch.tensor(2.6),
            **_video("vision_model.vision_encoder."),
            "vision_model.temp": torch.tensor(0.01),
        }
