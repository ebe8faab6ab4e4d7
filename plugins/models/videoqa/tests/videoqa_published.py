"""Small random checkpoints under the names that the authors' training scripts save."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

Shapes = dict[str, tuple[int, ...]]
WIDE, SMALL, HEAD = 32, 16, 8  # language model, fusion, attention head
VOCABULARY = 40
PLACES = 24
QUESTION, FEATURES = 12, 5  # places of JustAsk
S3D, CLIP = 6, 10
PATCH, SIDE, FRAMES = 8, 24, 3


def drawn(shapes: Shapes, seed: int = 0) -> dict[str, Tensor]:
    """Weights wide enough for differences to show; norms around one."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {
        name: torch.randn(shape, generator=generator) for name, shape in shapes.items()
    }
    for name, tensor in tensors.items():
        if "norm" in name.lower() and name.endswith("weight"):
            tensor.mul_(0.1).add_(1.0)
        elif "lambda" in name:
            tensor.mul_(0.3)
        else:
            tensor.mul_(0.3 if tensor.ndim > 1 else 0.1)
    return tensors


def linear(
    name: str, inputs: int, outputs: int
) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", (outputs, inputs)
    yield f"{name}.bias", (outputs,)


def norm(name: str, dim: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", (dim,)
    yield f"{name}.bias", (dim,)


def distil_layers(prefix: str, dim: int, hidden: int, layers: int) -> Shapes:
    shapes: Shapes = {}
    for layer in (f"{prefix}.{number}" for number in range(layers)):
        for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
            shapes.update(linear(f"{layer}.attention.{name}", dim, dim))
        shapes.update(norm(f"{layer}.sa_layer_norm", dim))
        shapes.update(linear(f"{layer}.ffn.lin1", dim, hidden))
        shapes.update(linear(f"{layer}.ffn.lin2", hidden, dim))
        shapes.update(norm(f"{layer}.output_layer_norm", dim))
    return shapes


def just_ask() -> Shapes:
    """MMT_VideoQA, as nn.DataParallel saves it."""
    shapes: Shapes = {}
    for encoder in ("bert.bert", "amodel.bert.bert"):
        shapes[f"{encoder}.embeddings.word_embeddings.weight"] = (VOCABULARY, WIDE)
        shapes[f"{encoder}.embeddings.position_embeddings.weight"] = (PLACES, WIDE)
        shapes.update(norm(f"{encoder}.embeddings.LayerNorm", WIDE))
        shapes.update(distil_layers(f"{encoder}.transformer.layer", WIDE, 48, 2))
    shapes.update(linear("linear_video", S3D, SMALL))
    shapes.update(norm("norm_video", SMALL))
    shapes.update(linear("linear_question", WIDE, SMALL))
    shapes.update(norm("norm_question", SMALL))
    shapes["position.position_embeddings.weight"] = (QUESTION + FEATURES, SMALL)
    shapes["position.modality_embedding.weight"] = (2, SMALL)
    shapes.update(norm("position.LayerNorm", SMALL))
    shapes.update(distil_layers("mmt.layer", SMALL, 24, 2))
    shapes.update(linear("vqproj.1", SMALL, SMALL))
    shapes.update(linear("amodel.linear_text", WIDE, SMALL))
    shapes.update(linear("vocab_transform", SMALL, SMALL))
    shapes.update(norm("vocab_norm", SMALL))
    shapes.update(linear("vocab_projector", SMALL, VOCABULARY))
    shapes.update(linear("crossmodal_matching", SMALL, 1))
    return {f"module.{name}": shape for name, shape in shapes.items()}


def deberta_config(biased: bool) -> dict[str, Any]:
    """config.json of the language model, as microsoft/deberta-v2-xlarge has it but small."""
    return {
        "model_type": "deberta-v2",
        "attention_probs_dropout_prob": 0.1,
        "conv_act": "gelu",
        "conv_kernel_size": 3,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": WIDE,
        "intermediate_size": 48,
        "layer_norm_eps": 1e-7,
        "max_position_embeddings": 64,
        "max_relative_positions": -1,
        "norm_rel_ebd": "layer_norm",
        "num_attention_heads": 4,
        "num_hidden_layers": 3,
        "pad_token_id": 0,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": biased,
        "position_buckets": 8,
        "relative_attention": True,
        "share_att_key": True,
        "type_vocab_size": 0,
        "vocab_size": VOCABULARY,
    }


def frozen_bilm() -> Shapes:
    """DebertaV2ForMaskedLM of FrozenBiLM: all parameters, those of the language model included."""
    shapes: Shapes = {
        "deberta.embeddings.word_embeddings.weight": (VOCABULARY, WIDE),
        "deberta.embeddings.position_embeddings.weight": (64, WIDE),
        "deberta.encoder.rel_embeddings.weight": (16, WIDE),
        "deberta.encoder.conv.conv.weight": (WIDE, WIDE, 3),
        "deberta.encoder.conv.conv.bias": (WIDE,),
        "lm_predictions.lm_head.bias": (VOCABULARY,),
        "lm_predictions.lm_head.decoder.weight": (VOCABULARY, WIDE),
        "lm_predictions.lm_head.decoder.bias": (VOCABULARY,),
        "answer_embeddings.weight": (6, WIDE),
        "answer_bias": (6,),
    }
    shapes.update(linear("deberta.embeddings.linear_video", CLIP, WIDE))
    for name in ("embeddings.LayerNorm", "encoder.LayerNorm", "encoder.conv.LayerNorm"):
        shapes.update(norm(f"deberta.{name}", WIDE))
    shapes.update(linear("lm_predictions.lm_head.dense", WIDE, WIDE))
    shapes.update(norm("lm_predictions.lm_head.LayerNorm", WIDE))
    for layer in (f"deberta.encoder.layer.{number}" for number in range(3)):
        for name in ("query_proj", "key_proj", "value_proj"):
            shapes.update(linear(f"{layer}.attention.self.{name}", WIDE, WIDE))
        shapes.update(linear(f"{layer}.attention.output.dense", WIDE, WIDE))
        shapes.update(linear(f"{layer}.intermediate.dense", WIDE, 48))
        shapes.update(linear(f"{layer}.output.dense", 48, WIDE))
        for output in (f"{layer}.attention.output", f"{layer}.output"):
            shapes.update(norm(f"{output}.LayerNorm", WIDE))
            shapes.update(linear(f"{output}.adapter.down", WIDE, 4))
            shapes.update(linear(f"{output}.adapter.up", 4, WIDE))
    return shapes


def bert_embeddings(name: str) -> Shapes:
    shapes: Shapes = {
        f"{name}.word_embeddings.weight": (VOCABULARY, WIDE),
        f"{name}.position_embeddings.weight": (PLACES, WIDE),
        f"{name}.token_type_embeddings.weight": (2, WIDE),
    }
    shapes.update(norm(f"{name}.LayerNorm", WIDE))
    return shapes


def bert_layer(name: str, crosses: bool) -> Shapes:
    shapes: Shapes = {}
    for attention in ("attention", "crossattention") if crosses else ("attention",):
        for part in ("query", "key", "value"):
            shapes.update(linear(f"{name}.{attention}.self.{part}", WIDE, WIDE))
        shapes.update(linear(f"{name}.{attention}.output.dense", WIDE, WIDE))
        shapes.update(norm(f"{name}.{attention}.output.LayerNorm", WIDE))
    shapes.update(linear(f"{name}.intermediate.dense", WIDE, 48))
    shapes.update(linear(f"{name}.output.dense", 48, WIDE))
    shapes.update(norm(f"{name}.output.LayerNorm", WIDE))
    return shapes


def beit() -> Shapes:
    """BeitModel of transformers 4, as it was when the checkpoints were made."""
    shapes: Shapes = {
        "embeddings.cls_token": (1, 1, WIDE),
        "embeddings.patch_embeddings.projection.weight": (WIDE, 3, PATCH, PATCH),
        "embeddings.patch_embeddings.projection.bias": (WIDE,),
    }
    grid = SIDE // PATCH
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        shapes[f"{layer}.lambda_1"] = shapes[f"{layer}.lambda_2"] = (WIDE,)
        own = f"{layer}.attention.attention"
        for part in ("query", "key", "value"):
            shapes[f"{own}.{part}.weight"] = (WIDE, WIDE)
        shapes[f"{own}.query.bias"] = shapes[f"{own}.value.bias"] = (WIDE,)
        table = "relative_position_bias.relative_position_bias_table"
        shapes[f"{own}.{table}"] = ((2 * grid - 1) ** 2 + 3, WIDE // HEAD)
        shapes[f"{own}.relative_position_bias.relative_position_index"] = (
            grid**2 + 1,
        ) * 2
        shapes.update(linear(f"{layer}.attention.output.dense", WIDE, WIDE))
        shapes.update(linear(f"{layer}.intermediate.dense", WIDE, 48))
        shapes.update(linear(f"{layer}.output.dense", 48, WIDE))
        shapes.update(norm(f"{layer}.layernorm_before", WIDE))
        shapes.update(norm(f"{layer}.layernorm_after", WIDE))
    return shapes


def singularity() -> Shapes:
    """Singularity for question answering, with the temporal encoder; fusion from layer 1."""
    shapes = {f"vision_encoder.{name}": shape for name, shape in beit().items()}
    shapes.update(norm("vision_layernorm", WIDE))
    shapes["temporal_embeddings"] = (1, 2, 1, WIDE)
    for number in range(2):
        shapes.update(bert_layer(f"temporal_vision_encoder.layer.{number}", False))
    shapes.update(bert_embeddings("text_encoder.embeddings"))
    shapes["text_encoder.embeddings.position_ids"] = (1, PLACES)
    for number in range(3):
        shapes.update(bert_layer(f"text_encoder.encoder.layer.{number}", number >= 1))
    shapes.update(bert_embeddings("text_decoder.bert.embeddings"))
    for number in range(2):
        shapes.update(bert_layer(f"text_decoder.bert.encoder.layer.{number}", True))
    head = "text_decoder.cls.predictions"
    shapes.update(linear(f"{head}.transform.dense", WIDE, WIDE))
    shapes.update(norm(f"{head}.transform.LayerNorm", WIDE))
    shapes.update(linear(f"{head}.decoder", WIDE, VOCABULARY))
    shapes[f"{head}.bias"] = (VOCABULARY,)
    return shapes


def all_in_one(
    head: str = "vqa_classifier", inner: int = SMALL, outputs: int = 10
) -> Shapes:
    """AllinoneTransformerSS with a head for questions; dropout is number 0 of it."""
    shapes = bert_embeddings("text_embeddings")
    shapes["text_embeddings.position_ids"] = (1, PLACES)
    shapes["token_type_embeddings.weight"] = (2, WIDE)
    shapes["transformer.cls_token"] = (1, 1, WIDE)
    shapes["transformer.pos_embed"] = (1, (SIDE // PATCH) ** 2 + 1, WIDE)
    shapes["transformer.temporal_embed"] = (1, FRAMES, WIDE)
    shapes["transformer.patch_embed.proj.weight"] = (WIDE, 3, PATCH, PATCH)
    shapes["transformer.patch_embed.proj.bias"] = (WIDE,)
    for block in (f"transformer.blocks.{number}" for number in range(3)):
        shapes.update(norm(f"{block}.norm1", WIDE))
        shapes.update(linear(f"{block}.attn.qkv", WIDE, 3 * WIDE))
        shapes.update(linear(f"{block}.attn.proj", WIDE, WIDE))
        shapes.update(norm(f"{block}.norm2", WIDE))
        shapes.update(linear(f"{block}.mlp.fc1", WIDE, 48))
        shapes.update(linear(f"{block}.mlp.fc2", 48, WIDE))
    shapes.update(norm("transformer.norm", WIDE))
    shapes.update(linear("pooler.dense", WIDE, WIDE))
    shapes.update(linear("itm_score.fc", WIDE, 2))
    shapes.update(linear(f"{head}.1", WIDE, inner))
    shapes.update(norm(f"{head}.2", inner))
    shapes.update(linear(f"{head}.4", inner, outputs))
    return shapes
