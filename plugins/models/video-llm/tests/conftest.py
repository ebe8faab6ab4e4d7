"""Files in the authors' layout, small: names and shapes are written out, as their code has them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
import transformers
from torch import Tensor

from cuescope_sdk.torch import quiet

# the file has a layer more
VISION, HEADS, HIDDEN, LAYERS, PATCH, SIDE = (8, 2, 12, 3, 4, 2)
DIM, INNER, QUERIES, READERS, MORE = 8, 12, 3, 2, 2
WORDS, PLACES = 16, 4
Shapes = dict[str, tuple[int, ...]]


def layer_norm(name: str, dim: int) -> Shapes:
    return {f"{name}.weight": (dim,), f"{name}.bias": (dim,)}


def linear(name: str, inner: int, outer: int) -> Shapes:
    return {f"{name}.weight": (outer, inner), f"{name}.bias": (outer,)}


def eva_vit() -> Shapes:
    """`eva_vit_g.pth`: a bare state dict, with a layer and a head that nobody uses."""
    shapes: Shapes = {
        "cls_token": (1, 1, VISION),
        "pos_embed": (1, SIDE * SIDE + 1, VISION),
        "patch_embed.proj.weight": (VISION, 3, PATCH, PATCH),
        "patch_embed.proj.bias": (VISION,),
    }
    for n in range(LAYERS + 1):
        block = f"blocks.{n}"
        shapes |= layer_norm(f"{block}.norm1", VISION) | layer_norm(
            f"{block}.norm2", VISION
        )
        shapes |= {f"{block}.attn.q_bias": (VISION,), f"{block}.attn.v_bias": (VISION,)}
        shapes |= {f"{block}.attn.qkv.weight": (3 * VISION, VISION)}
        shapes |= linear(f"{block}.attn.proj", VISION, VISION)
        shapes |= linear(f"{block}.mlp.fc1", VISION, HIDDEN)
        shapes |= linear(f"{block}.mlp.fc2", HIDDEN, VISION)
    return shapes | layer_norm("norm", VISION) | linear("head", VISION, 5)


def bert(name: str, layers: int, read: int, every: int, text: bool) -> Shapes:
    """A Q-Former; with `text` as BLIP-2 keeps it, with the parts that read text."""
    shapes = layer_norm(f"{name}.bert.embeddings.LayerNorm", DIM)
    for n in range(layers):
        layer = f"{name}.bert.encoder.layer.{n}"
        attentions = [("attention", DIM)] + [("crossattention", read)] * (
            n % every == 0
        )
        for part, keys in attentions:
            shapes |= linear(f"{layer}.{part}.self.query", DIM, DIM)
            shapes |= linear(f"{layer}.{part}.self.key", keys, DIM)
            shapes |= linear(f"{layer}.{part}.self.value", keys, DIM)
            shapes |= linear(f"{layer}.{part}.output.dense", DIM, DIM)
            shapes |= layer_norm(f"{layer}.{part}.output.LayerNorm", DIM)
        for end in ("_query", "") if text else ("_query",):
            shapes |= linear(f"{layer}.intermediate{end}.dense", DIM, INNER)
            shapes |= linear(f"{layer}.output{end}.dense", INNER, DIM)
            shapes |= layer_norm(f"{layer}.output{end}.LayerNorm", DIM)
    if text:
        shapes |= {f"{name}.bert.embeddings.word_embeddings.weight": (7, DIM)}
        shapes |= linear(f"{name}.cls.predictions.transform.dense", DIM, DIM)
    return shapes


def blip2() -> Shapes:
    """`blip2_pretrained_flant5xxl.pth`, under "model"."""
    shapes: Shapes = {"query_tokens": (1, QUERIES, DIM)} | layer_norm(
        "ln_vision", VISION
    )
    return shapes | bert("Qformer", 4, VISION, 2, True) | linear("t5_proj", DIM, 6)


def video_llama() -> Shapes:
    """What Video-LLaMA trained, and the branch for sound beside it."""
    shapes: Shapes = {
        "video_query_tokens": (1, READERS, DIM),
        "video_frame_position_embedding.weight": (PLACES, DIM),
        "audio_query_tokens": (1, 2, DIM),
    }
    return (
        shapes
        | bert("video_Qformer", 2, DIM, 1, False)
        | linear("llama_proj", DIM, WORDS)
    )


def video_chat() -> Shapes:
    """What VideoChat trained: attention across frames in the last two layers."""
    shapes: Shapes = {
        "extra_query_tokens": (1, MORE, DIM),
        "visual_encoder.gmhra_cls_token": (1, 1, VISION),
    }
    for n in range(2):
        part = f"visual_encoder.gmhra.{n}"
        shapes |= {
            f"{part}.dpe.weight": (VISION, 1, 3, 3, 3),
            f"{part}.dpe.bias": (VISION,),
        }
        shapes |= {f"{part}.attn.in_proj_weight": (3 * VISION, VISION)}
        shapes |= {f"{part}.attn.in_proj_bias": (3 * VISION,)}
        shapes |= linear(f"{part}.attn.out_proj", VISION, VISION)
        shapes |= linear(f"{part}.mlp.c_fc", VISION, HIDDEN)
        shapes |= linear(f"{part}.mlp.c_proj", HIDDEN, VISION)
        for number in (1, 2, 3):
            shapes |= layer_norm(f"{part}.ln_{number}", VISION)
    return shapes | linear("llama_proj", DIM, WORDS)


TRAINED = {"video-llama": video_llama, "video-chat": video_chat}


def tensors(shapes: Shapes, seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(shape, generator=generator) * (0.5 if len(shape) > 1 else 0.1)
        + float(name.endswith(("norm1.weight", "norm2.weight", "Norm.weight")))
        for name, shape in shapes.items()
    }


def save_language_model(folder: Path) -> None:
    """LLaMA with two layers, and a tokenizer that reads letters."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2} | {
        x: i for i, x in enumerate(alphabet, 3)
    }
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    fast: Any = transformers.PreTrainedTokenizerFast
    fast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    config: Any = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=WORDS,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=1,
        eos_token_id=2,
    )
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(5)
        # Drawn wider than a fresh model is: so small, it would say the same whatever it sees.
        config.initializer_range = 0.6
        transformers.LlamaForCausalLM(config).save_pretrained(folder)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files, as somebody has them who downloaded them."""
    folder = tmp_path_factory.mktemp("video-llm")
    torch.save(tensors(eva_vit(), 1), folder / "eva_vit_g.pth")
    torch.save(
        {"model": tensors(blip2(), 2)}, folder / "blip2_pretrained_flant5xxl.pth"
    )
    for seed, (name, shapes) in enumerate(TRAINED.items(), 3):
        content = {
            "model": tensors(shapes(), seed),
            "epoch": 3,
            "config": {"run": {"lr": 1e-4}},
        }
        torch.save(content, folder / f"{name}.pth")
    save_language_model(folder / "llm")
    return folder


Options = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def options(place: Path) -> Options:
    """`options(name)`: what a user gives."""

    def of(name: str) -> dict[str, Any]:
        return {
            "checkpoint": str(place / f"{name}.pth"),
            "vision": str(place / "eva_vit_g.pth"),
            "qformer": str(place / "blip2_pretrained_flant5xxl.pth"),
            "llm": str(place / "llm"),
            "vision_layers": LAYERS,
            "vision_head_dim": VISION // HEADS,
            "head_dim": 4,
            "max_new_tokens": 12,
        }

    return of
