"""What a family allows, read off its modules before any weight is: a plan refuses what a run would.

The modules are built without memory from the configuration. Nothing here goes by a family's name:
a family of the usual shape (an encoder, placeholders in the prompt, a language model that is handed
embeddings) needs no code.
"""

import inspect
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from cuescope_sdk import UserError
from cuescope_sdk.torch import quiet, refuse_larger_networks
from cuescope_transformers.generative.modules import (
    arguments,
    fusion_shape,
    language_side,
)
from cuescope_transformers.generative.stock_attention import crosses, why_closed

NO_PLACEHOLDER = "no placeholder in its prompt stands for a visual token"
# where a test found that answers behind a prefix are those of the whole prompt: nothing in the
# modules tells which families count positions anew (HunYuan-VL, HyperCLOVA X)
PREFIXED = frozenset(
    (
        "aria",
        "cohere_compass",
        "cosmos3_edge",
        "cosmos3_omni",
        "deepseek_vl",
        "deepseek_vl_hybrid",
        "ernie4_5_vl_moe",
        "glm46v",
        "glm4v",
        "glm4v_moe",
        "glm_ocr",
        "glmga",
        "got_ocr2",
        "granite4_vision",
        "granite_docling",
        "idefics3",
        "internvl",
        "janus",
        "kimi_k25",
        "lighton_ocr",
        "llava",
        "llava_next",
        "llava_next_video",
        "llava_onevision",
        "mistral3",
        "paddleocr_vl",
        "qwen2_5_omni_thinker",
        "qwen2_5_vl",
        "qwen2_vl",
        "qwen3_omni_moe_thinker",
        "qwen3_vl",
        "qwen3_vl_moe",
        "smolvlm",
        "video_llama_3",
        "video_llava",
        "vipllava",
    )
)
MIXED = "convolutions of its encoder mix the pixels of neighbouring tokens"
MEASURED = (
    "what its processor makes of a pixel depends on the rest of the picture, so that a mask would "
    "change what is seen beside it"
)
BOTH_WAYS = ("or_mask_function", "block_sequence_ids", "token_type_ids=token_type_ids")

HIDES = (
    "before the encoder: no layer of the encoder or of the language model reads them"
)


@dataclass(frozen=True)
class Family:
    """Why tokens are not hidden, and attention not edited; None where they are.

    `keeps_prefixes` says that tokens see those before them alone, and frames nowhere else.
    """

    why_not_hidden: str | None
    why_not_averaged: str | None
    keeps_prefixes: bool = False

    @property
    def hides(self) -> bool:
        return self.why_not_hidden is None

    @property
    def notes(self) -> dict[str, str]:
        """By kind of edit: how it is done, or why it is not."""
        notes = {"hide-tokens": self.why_not_hidden or HIDES}
        if self.why_not_averaged is not None:
            names = ("average-attention", "average-tokens", "fusion")
            notes |= dict.fromkeys(names, self.why_not_averaged)
        return notes


def family_of(files: Any, visual: frozenset[int]) -> Family:
    """Of the files of a model whose placeholders are `visual`."""
    try:
        network = skeleton(files)
    # code of a model's own may do anything while it is built
    except Exception as error:
        reason = f"its modules cannot be looked at without weights ({error})"
        return Family(reason, reason)
    why_not_averaged = why_closed(network) or _why_unsized(network)
    if why_not_averaged is None and not visual:
        why_not_averaged = NO_PLACEHOLDER
    # layers that are no attention have states of their own, which padding would change
    attends = why_not_averaged is None and files.config.model_type in PREFIXED
    prefixes = attends and sees_backwards(network)
    why_not_hidden = why_without_door(network, visual)
    if why_not_hidden is None and overlapping(network):
        why_not_hidden = MIXED
    return Family(why_not_hidden, why_not_averaged, prefixes)


def _why_unsized(network: Any) -> str | None:
    try:
        fusion_shape(network, layers=0)
    except UserError as reason:
        return str(reason)
    return None


def skeleton(files: Any) -> Any:
    """The network of some files without its weights."""
    held = getattr(files, "held", None)
    if held is not None:
        return held
    # building writes into the configuration
    config = deepcopy(files.config)
    cls = files.network_class
    source = files.source
    with (
        quiet(),
        torch.device("meta"),
        refuse_larger_networks(source.owner, source.weight_files()),
    ):
        if issubclass(cls, PreTrainedModel):
            return cls._from_config(config)
        return cls.from_config(config, trust_remote_code=files.trust_remote_code)


def sees_backwards(network: Any) -> bool:
    """Whether every layer of a decoder sees words and frames alike, and those before it alone."""
    config = network.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ("full_attention",))
    # a window would count the padding between what was read before and the words
    slides = getattr(config, "sliding_window", None) and "layer_types" not in vars(
        config
    )
    if network.config.is_encoder_decoder or slides or kinds != {"full_attention"}:
        return False
    # images that are seen both ways get a mask of their own, which the family's code makes
    source = inspect.getsource(inspect.getmodule(type(network)) or type(network))
    both_ways = any(word in source for word in BOTH_WAYS)
    return not (both_ways or crosses(network))


def why_without_door(network: Any, visual: frozenset[int]) -> str | None:
    """Why a language model cannot be handed fewer visual tokens; None where it can."""
    if not visual:
        return NO_PLACEHOLDER
    given = inspect.signature(network.generate).parameters.get("pixel_values")
    if given is not None and given.default is inspect.Parameter.empty:
        return "it embeds the pixels anew wherever it goes on with a prompt"
    side = language_side(network)
    taken = arguments(side.forward)
    # Mllama's words cross over to what its encoder gives
    if "cross_attention_states" in taken:
        return None
    pixels = sorted(name for name in taken if "pixel_values" in name)
    if pixels or "inputs_embeds" not in taken:
        return f"its {type(side).__name__} is not handed embeddings of words and frames"
    return None


def overlapping(network: Any) -> bool:
    """Whether a convolution before the language side mixes neighbouring patches."""
    encoder = network.get_encoder(modality="image")
    apart = set(language_side(network).modules())
    # what hears, or draws images, is a model of its own beside the one that looks, if that is named
    if encoder not in (None, network, network.base_model):
        for model in network.base_model.modules():
            beside = model not in (network, network.base_model, encoder)
            if beside and isinstance(model, PreTrainedModel):
                apart |= set(model.modules())
        apart -= set(encoder.modules())
    convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    return any(
        isinstance(module, convolutions) and module.kernel_size != module.stride
        for module in network.modules()
        if module not in apart
    )
