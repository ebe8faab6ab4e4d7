"""A tiny net and its processor of every family that transformers builds from its own classes.

The default configuration of a family is made small by the names of its fields, whatever the family
is; the processor is the family's own, with a tokenizer of some words and the marks that its source
names. `TOUCHES` are what a family needs beside that. A new family of the usual shape needs none.
"""

import inspect
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import CONFIG_MAPPING, PretrainedConfig
from transformers.image_utils import SizeDict
from transformers.models.auto import (
    feature_extraction_auto,
    image_processing_auto,
    modeling_auto,
    processing_auto,
    video_processing_auto,
)

VOCABULARY = 160
SIDE = 32
PATCH = 8
# these hear, and see nothing; Evolla reads proteins, and no Auto class builds it
WITHOUT_PICTURES = frozenset(
    (
        "evolla",
        "fun_asr_nano",
        "glmasr",
        "granite_speech",
        "granite_speech_plus",
        "kyutai_speech_to_text",
        "moss_transcribe_diarize",
        "nemo_speechlm",
        "qwen2_audio",
        "qwen3_asr",
        "vibevoice_asr",
        "voxtral",
        "voxtral_realtime",
    )
)
FAMILIES = tuple(
    name
    for name in modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES
    if name not in WITHOUT_PICTURES
)
WORDS = (
    *"ABCDEFGHabcdefgh0123456789():?.,-/",
    *[
        "yes",
        "no",
        "what",
        "is",
        "it",
        "moving",
        "east",
        "west",
        "the",
        "dog",
        "red",
        "ball",
        "of",
        "user",
        "assistant",
        "seconds",
        "frame",
    ],
)
MARKS = ("<unk>", "<pad>", "<s>", "</s>")
OPENINGS = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 1}
CHAT = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ ' ' + part['text'] }}"
    "{% elif part['type'] == 'image' %}IMAGE{% else %}VIDEO{% endif %}{% endfor %}{% endfor %}"
    " assistant:"
)
# families whose processor writes its own marks, or that were made before there were chats
WITHOUT_CHAT = frozenset(
    (
        "blip",
        "blip-2",
        "florence2",
        "fuyu",
        "git",
        "instructblip",
        "instructblipvideo",
        "paligemma",
        "pix2struct",
    )
)

SIZES: dict[str, int] = {
    **dict.fromkeys(
        (
            "hidden_size",
            "d_model",
            "n_embd",
            "dim",
            "embed_dim",
            "width",
            "projection_dim",
        ),
        32,
    ),
    **dict.fromkeys(
        (
            "num_hidden_layers",
            "num_layers",
            "depth",
            "n_layers",
            "layers",
            "encoder_layers",
            "decoder_layers",
            "num_decoder_layers",
        ),
        2,
    ),
    **dict.fromkeys(("resampler_depth", "perceiver_depth", "first_k_dense_replace"), 1),
    **dict.fromkeys(
        (
            "num_attention_heads",
            "num_heads",
            "attention_heads",
            "encoder_attention_heads",
            "decoder_attention_heads",
            "linear_num_value_heads",
            "linear_num_heads",
            "mamba_num_heads",
        ),
        4,
    ),
    **dict.fromkeys(
        ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4
    ),
    **dict.fromkeys(("num_experts_per_tok", "moe_k", "moe_topk", "top_k_experts"), 2),
    **dict.fromkeys(
        ("n_group", "topk_group", "n_shared_experts", "cross_layer_interval"), 1
    ),
    **dict.fromkeys(
        ("num_key_value_heads", "linear_num_key_heads", "index_n_heads", "n_groups"), 2
    ),
    **dict.fromkeys(
        (
            "head_dim",
            "global_head_dim",
            "kv_lora_rank",
            "q_lora_rank",
            "qk_rope_head_dim",
            "qk_nope_head_dim",
            "v_head_dim",
            "linear_key_head_dim",
            "linear_value_head_dim",
            "linear_head_dim",
            "mamba_head_dim",
            "ssm_state_size",
        ),
        8,
    ),
    "qk_head_dim": 16,
    "index_head_dim": 16,
    "index_topk": 64,
    "chunk_size": 16,
    "num_image_tokens": 16,
    "num_position_embeddings": 256,
    "vocab_size": VOCABULARY,
    "vocab_size_per_layer_input": VOCABULARY,
    "max_position_embeddings": 4096,
    "image_size": SIDE,
    "crop_size": SIDE,
    "patch_size": PATCH,
}
WIDE = re.compile(r"intermediate|ffn|mlp_dim|d_ff$|dense_hidden|mlp_hidden")
HIDDEN = re.compile(r"hidden_size$|hidden_dim$|_dim$|embed_size$|embedding_size$")
NOT_HIDDEN = re.compile(
    r"head|rank|lora|rotary|rope|patch|rel|max_|image_token_embed|video"
)
FIXED = ("hidden_size_per_layer_input",)
PER_LAYER = ("mlp_layer_types", "indexer_types", "no_rope_layers")
PLACEHOLDERS = {
    "image": re.compile(
        r"image_token_(id|index)|img_token_id|image_patch_id|media_placeholder_token_id"
    ),
    "video": re.compile(r"video_token_(id|index)"),
}

Parts = tuple[PretrainedConfig, Any]
Touch = Callable[[Any, Any], None]


class NotBuiltError(Exception):
    """Why a family cannot be built here."""


def tiny_family(kind: str) -> tuple[Any, Any]:
    """The network, seeded and random, and its processor."""
    config, processor = tiny_parts(kind)
    return random_network(config), processor


def random_network(config: Any) -> Any:
    """Of a configuration; the same weights each time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = transformers.AutoModelForMultimodalLM.from_config(config).eval()
        with torch.no_grad():
            # wide enough for differences to show
            for name, weight in network.named_parameters():
                # whole convolutional encoders of timm cannot be made small, and would saturate
                if weight.ndim > 1 and "timm_model" in name:
                    weight.normal_(std=max(1, weight[0].numel()) ** -0.5)
                elif weight.ndim > 1:
                    weight.normal_(std=0.2)
                elif "gate" in name and weight.numel() == 1:
                    weight.fill_(0.8)
    return network


def tiny_parts(kind: str) -> Parts:
    """The small configuration of a family, and its processor."""
    config = CONFIG_MAPPING[kind](**ARGUMENTS.get(kind, {}))
    shrink(config)
    processor = build_processor(kind)
    name_tokens(config, processor)
    section_rope(config)
    if kind in TOUCHES:
        TOUCHES[kind](config, processor)
    return config, processor


# ------------------------------------------------------------------------------ configurations


def shrink(config: Any) -> None:
    """Make a configuration and those in it small, each kind of layer once."""
    fields = dict(vars(config))
    for name, value in fields.items():
        size = small_size(name, value)
        if size is not None:
            setattr(config, name, size)
        elif name in OPENINGS:
            setattr(config, name, OPENINGS[name])
        elif isinstance(value, PretrainedConfig):
            shrink(value)
    # latent attention has a key for each head; some have other heads in each layer
    heads = vars(config).get("num_attention_heads")
    if "kv_lora_rank" in fields and "num_key_value_heads" in fields and heads:
        config.num_key_value_heads = heads
    listed = next(
        (name for name in ("layer_types", "layers_block_type") if fields.get(name)),
        None,
    )
    count = 2
    if listed is not None:
        kinds = list(dict.fromkeys(fields[listed]))
        kinds = kinds * 2 if len(kinds) == 1 else kinds
        count = len(kinds)
        setattr(config, listed, kinds)
        for name in ("num_hidden_layers", "depth"):
            if name in fields:
                setattr(config, name, count)
    for name in PER_LAYER:
        if isinstance(fields.get(name), list):
            kinds = list(dict.fromkeys(fields[name]))
            setattr(config, name, (kinds + [kinds[-1]] * count)[:count])


def small_size(name: str, value: Any) -> Any:
    """What a field becomes; None where it stays."""
    if (
        name.startswith("_")
        or name in FIXED
        or name in OPENINGS
        or isinstance(value, bool)
    ):
        return None
    if isinstance(value, list | tuple):
        if name == "image_grid_pinpoints":
            return [[SIDE, SIDE], [SIDE, 2 * SIDE]]
        if name in ("image_size", "patch_size"):
            return type(value)([SIZES[name]] * len(value))
        if "deepstack" in name and value and isinstance(value[0], int):
            return [0]
        return [1] if re.search("fullatt|attn_indexes", name) else None
    if not isinstance(value, int):
        return None
    if name in SIZES:
        return SIZES[name]
    if value >= 16 and WIDE.search(name):
        return 48
    if value >= 16 and HIDDEN.search(name) and not NOT_HIDDEN.search(name):
        return 32
    return None


def section_rope(config: Any) -> None:
    """Rotary positions in three sections, where the family's code has them."""
    rope = getattr(config, "rope_parameters", None)
    source = inspect.getfile(type(config)).replace("configuration", "modeling")
    # some families are built of the modules of another
    sections = Path(source).is_file() and "mrope_section" in Path(source).read_text()
    if isinstance(rope, dict) and sections:
        first, *_ = getattr(config, "per_layer_config", None) or [config]
        heads = getattr(first, "num_attention_heads", None) or first.num_heads
        width = getattr(first, "head_dim", None) or first.hidden_size // heads
        rope = deepcopy(rope)
        parts = [rope] if "rope_type" in rope else list(rope.values())
        for part in parts:
            if isinstance(part, dict):
                share = part.get("partial_rotary_factor") or 1
                half = int(width * share) // 2
                third = half // 3
                first = half - 2 * third if third else half - half // 2
                part["mrope_section"] = [first, third or half // 2, third]
        config.rope_parameters = rope
    for value in vars(config).values():
        if isinstance(value, PretrainedConfig):
            section_rope(value)


def name_tokens(config: Any, processor: Any) -> None:
    """The ids of marks in a configuration are those of the processor's."""
    tokenizer = processor.tokenizer
    ids = {}
    for medium in PLACEHOLDERS:
        token = getattr(processor, f"{medium}_token_id", None)
        text = getattr(processor, f"{medium}_token", None)
        if not isinstance(token, int):
            token = (
                tokenizer.convert_tokens_to_ids(str(text)) if text else VOCABULARY - 1
            )
        ids[medium] = token
    for name, value in list(vars(config).items()):
        medium = next(
            (key for key, form in PLACEHOLDERS.items() if form.fullmatch(name)), None
        )
        if isinstance(value, PretrainedConfig):
            name_tokens(value, processor)
        elif medium is not None:
            setattr(config, name, ids[medium])
        elif isinstance(value, int) and re.search(r"token_(id|index)$|_id$", name):
            mark = getattr(tokenizer, re.sub("_(id|index)$", "", name), None)
            if isinstance(mark, str):
                setattr(config, name, tokenizer.convert_tokens_to_ids(mark))
            elif value >= VOCABULARY:
                setattr(config, name, VOCABULARY - 3)


# ---------------------------------------------------------------------------------- processors


def build_processor(kind: str) -> Any:
    """The family's own, its sizes small."""
    parts = PARTS.get(kind, {})
    names = {
        "processor": processing_auto.PROCESSOR_MAPPING_NAMES.get(kind),
        "image": image_processing_auto.IMAGE_PROCESSOR_MAPPING_NAMES.get(kind),
        "video": video_processing_auto.VIDEO_PROCESSOR_MAPPING_NAMES.get(kind),
        "audio": feature_extraction_auto.FEATURE_EXTRACTOR_MAPPING_NAMES.get(kind),
    } | parts
    classes = {part: class_of(name) for part, name in names.items()}
    cls = classes.pop("processor")
    if cls is None:
        raise NotBuiltError("transformers has no processor for it")
    tokenizer = tokenizer_for(kind, cls)
    made = {part: build() for part, build in classes.items() if build is not None}
    for part in ("image", "video"):
        if part in made:
            shrink_images(made[part])
    given = {
        "image_processor": made.get("image"),
        "video_processor": made.get("video"),
        "feature_extractor": made.get("audio"),
        "audio_processor": made.get("audio"),
        "tokenizer": tokenizer,
        "qformer_tokenizer": tokenizer,
        "patch_size": PATCH,
        "vision_feature_select_strategy": "default",
        "num_additional_image_tokens": 1,
        **dict.fromkeys(("num_image_tokens", "image_seq_length", "image_seq_len"), 16),
        "num_query_tokens": 4,
    }
    taken = inspect.signature(cls.__init__).parameters
    processor = cls(
        **{
            name: value
            for name, value in given.items()
            if name in taken and value is not None
        }
    )
    if kind not in WITHOUT_CHAT:
        image = IMAGE_MARKS.get(kind) or str(
            getattr(processor, "image_token", "") or "<image>"
        )
        video = str(getattr(processor, "video_token", "") or "")
        # types of tokens are told by what stands around a video
        if hasattr(processor, "video_start_id"):
            video = f"<|begin_of_video|>{video}<|end_of_video|>"
        processor.chat_template = CHAT.replace("IMAGE", image).replace("VIDEO", video)
    return processor


def class_of(name: Any) -> Any:
    if isinstance(name, dict):
        name = name.get("torchvision") or name.get("pil")
    if isinstance(name, list | tuple):
        name = next((part for part in name if part), None)
    return None if name is None else getattr(transformers, name)


def tokenizer_for(kind: str, cls: type) -> Any:
    """Whole words, and the marks that the processor's source names."""
    modules = [
        base.__module__
        for base in cls.__mro__
        if "transformers.models" in base.__module__
    ]
    source = "\n".join(
        inspect.getsource(sys.modules[name]) for name in dict.fromkeys(modules)
    )
    asked = re.findall(r'tokenizer(?:\.|, ")((?!add_)\w+_token)\b', source)
    ordinary = {
        f"{name}_token" for name in ("bos", "eos", "pad", "unk", "sep", "cls", "mask")
    }
    blip = "blip" in kind  # writes its own image token, which must not be there before
    named = {name: f"<|{name}|>" for name in sorted({*asked} - ordinary) if not blip}
    literal = re.findall(r'["\']([<\[|][^<>\s"\'{}()\\]{1,40}[>\]|])["\']', source)
    fields = {
        name: value for name, value in vars(cls).items() if name.endswith("_TOKEN")
    }
    literal += [value for value in fields.values() if isinstance(value, str)]
    words = {word: index for index, word in enumerate((*MARKS, *WORDS))}
    rules = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="left",
        extra_special_tokens=named,
    )
    marks = sorted(
        {*literal, "<image>", "<video>", "<loc0000>"} - set(named.values()) - set(MARKS)
    )
    tokenizer.add_tokens(
        [transformers.AddedToken(mark, special=True) for mark in marks],
        special_tokens=True,
    )
    for name in set(re.findall(r"tokenizer\.(\w+_token_id)\b", source)):
        mark = named.get(name.removesuffix("_id"))
        if mark is not None and getattr(tokenizer, name, None) is None:
            setattr(tokenizer, name, tokenizer.convert_tokens_to_ids(mark))
    return tokenizer


def shrink_images(processor: Any) -> None:
    """Sides of 32 pixels and patches of 8."""
    for name in ("size", "crop_size", "max_image_size"):
        size = getattr(processor, name, None)
        if size is not None and not isinstance(size, int):
            setattr(processor, name, small_sides(size))
        elif isinstance(size, int):
            setattr(processor, name, SIDE)
    if hasattr(processor, "min_image_size"):
        processor.min_image_size = 16
    patch = getattr(processor, "patch_size", None)
    if patch is not None:
        processor.patch_size = (
            PATCH
            if isinstance(patch, int)
            else SizeDict(**dict.fromkeys(sides_of(patch), PATCH))
        )
    if hasattr(processor, "downsampler_stride"):
        processor.vision_patch_size = PATCH
        processor.size = {"height": 4 * SIDE, "width": 4 * SIDE}
        processor.patch_size = 4 * SIDE
    if hasattr(processor, "encoder_patch_size"):
        processor.encoder_patch_size = PATCH
    if getattr(processor, "image_grid_pinpoints", None):
        processor.image_grid_pinpoints = [[SIDE, SIDE], [SIDE, 2 * SIDE]]


def sides_of(size: Any) -> dict[str, int]:
    """Those that are given."""
    return {name: value for name, value in dict(size).items() if value is not None}


def small_sides(size: Any) -> dict[str, int]:
    """Sides in pixels, or counts of pixels where the numbers are such."""
    small = {}
    for name, value in sides_of(size).items():
        fewest = "shortest" in name or "min" in name
        count = 256 if fewest else 8192
        small[name] = count if value > 2048 else SIDE
    return small


# ------------------------------------------------------------------- what single families need

# Emu3 writes the tokens of an image as words
EMU3_WORDS = {f"<|visual token {number:06d}|>": 20 + number for number in range(8)}
EMU3_WORDS |= {"<|extra_200|>": 28, "<image>": 29}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "cohere_compass": {
        "text_config": {
            "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 1e4}
            }
        }
    },
    "diffusion_gemma": {
        "text_config": {
            "num_experts": 4,
            "top_k_experts": 2,
            "moe_intermediate_size": 48,
        }
    },
    "emu3": {"vocabulary_map": EMU3_WORDS},
    "nemotron_h_omni": {
        "vision_config": {
            "model_type": "radio",
            "patch_size": PATCH,
            "video_temporal_patch_size": 2,
        }
    },
    "perception_lm": {
        "vision_config": {
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_lang_large_patch14_448",
            "model_args": {
                "embed_dim": 32,
                "img_size": [SIDE, SIDE],
                "patch_size": PATCH,
                "depth": 2,
                "num_heads": 4,
                "global_pool": "",
                "ref_feat_shape": [SIDE // PATCH, SIDE // PATCH],
            },
        },
        "projector_pooling_ratio": 2,
    },
    "gemma3n": {"text_config": {"num_kv_shared_layers": 0}},
    "gemma4": {"vision_config": {}},
    "gemma4_unified": {"vision_config": {}},
    "granite4_vision": {
        "deepstack_layer_map": [[-2, 0]],
        "use_spatial_sampling": False,
        "downsample_rate": "2/4",
    },
    "qwen4_exp": {
        "text_config": {
            "indexer_n_heads": 2,
            "indexer_kv_heads": 1,
            "indexer_head_dim": 256,
            "indexer_budget": 64,
            "indexer_compress_ratio": 4,
        }
    },
    "hunyuan_vl": {"text_config": {"head_dim": 16}},
    "step3p7": {"text_config": {"sliding_window": 512}},
    "lfm2_vl": {
        "text_config": {
            "layer_types": ["conv", "full_attention"],
            "num_hidden_layers": 2,
        }
    },
}
THINKER = {
    "processor": "Qwen2_5OmniProcessor",
    "image": "Qwen2VLImageProcessor",
    "video": "Qwen2VLVideoProcessor",
    "audio": "WhisperFeatureExtractor",
}
PARTS: dict[str, dict[str, Any]] = {
    "diffusion_gemma": {
        "processor": "Gemma4Processor",
        "image": "Gemma4ImageProcessor",
        "video": "Gemma4VideoProcessor",
        "audio": "Gemma4AudioFeatureExtractor",
    },
    "cosmos3_omni": {"processor": "Qwen3VLProcessor"},
    "fast_vlm": {"processor": "LlavaProcessor", "image": "CLIPImageProcessor"},
    "glm4v_moe": {"image": "Glm4vImageProcessor", "video": "Glm4vVideoProcessor"},
    "glm_ocr": {
        "processor": "Glm46VProcessor",
        "image": "Glm46VImageProcessor",
        "video": "Glm46VVideoProcessor",
    },
    "glmga": {"processor": "Glm46VProcessor"},
    "kosmos-2": {"processor": "Kosmos2Processor"},
    "kosmos-2.5": {"processor": "Kosmos2_5Processor"},
    "mistral4": {"processor": "PixtralProcessor", "image": "PixtralImageProcessor"},
    "nemotron_h_omni": {"audio": "ParakeetFeatureExtractor"},
    "phi4_multimodal": {"audio": "Phi4MultimodalFeatureExtractor"},
    "qwen2_5_omni_thinker": THINKER,
    "qwen3_omni_moe_thinker": THINKER,
    "qwen3_vl_moe": {"image": "Qwen2VLImageProcessor"},
}
IMAGE_MARKS = {
    "aya_vision": "<image>",
    "hunyuan_vl": "<|image_start_token|><|image_token|><|image_end_token|>",
    "ovis2": "<image>",
    "pp_chart2table": "<image>",
    "qianfan_ocr": "<image>",
}


def _touch(**fields: Any) -> Touch:
    """Set fields of the configuration (`vision_config__patch_size`) or of the `processor__`."""

    def touch(config: Any, processor: Any) -> None:
        for path, value in fields.items():
            *owners, name = path.split("__")
            part = config
            for owner in owners:
                part = processor if owner == "processor" else getattr(part, owner)
            setattr(part, name, value)

    return touch


def _mark(token: str, medium: str = "image") -> Touch:
    """The configuration's visual token, where the processor's own stands for a whole image."""

    def touch(config: Any, processor: Any) -> None:
        token_id = processor.tokenizer.convert_tokens_to_ids(token)
        for name in vars(config):
            if PLACEHOLDERS[medium].fullmatch(name):
                setattr(config, name, token_id)

    return touch


def _both(*touches: Touch) -> Touch:
    def touch(config: Any, processor: Any) -> None:
        for part in touches:
            part(config, processor)

    return touch


def _mistral4(config: Any, processor: Any) -> None:
    part = getattr(config, "text_config", config)
    part.rope_parameters = {**part.rope_parameters, "partial_rotary_factor": 1.0}


def _chameleon(config: Any, processor: Any) -> None:
    config.vocabulary_map = {
        f"IMGIMG{letter}Z": 10 + n for n, letter in enumerate("ABCDEFGH")
    }
    config.vocabulary_map["<image>"] = processor.image_token_id
    vq = {
        "base_channels": 32,
        "resolution": SIDE,
        "num_embeddings": 8,
        "latent_channels": 32,
    }
    for name, value in {**vq, "channel_multiplier": (1, 1)}.items():
        setattr(config.vq_config, name, value)
    processor.image_seq_length = 256


def _emu3(config: Any, processor: Any) -> None:
    config.vocabulary_map = {**EMU3_WORDS, "<image>": processor.image_token_id}


def _gemma3(config: Any, processor: Any) -> None:
    mark = processor.tokenizer.image_token
    for part in (config, getattr(config, "encoder", None)):
        if part is not None:
            part.mm_tokens_per_image = 4
            # the processor's own stands for a whole image
            _mark(mark)(part, processor)
    head, *_, tail = processor.full_image_sequence.split(mark)
    count = 256 if config.model_type == "gemma3n" else 4
    processor.image_seq_length = count
    processor.full_image_sequence = head + mark * count + tail
    if config.model_type == "gemma3n":
        config.vision_config.hidden_size = 2048


def _glm5(config: Any, processor: Any) -> None:
    """Tokens of a video are those of images, between two marks."""
    ids = processor.tokenizer.convert_tokens_to_ids
    config.video_start_token_id = ids("<|begin_of_video|>")
    config.video_end_token_id = ids("<|end_of_video|>")


def _minicpm(config: Any, processor: Any) -> None:
    # of the two layers that are left
    config.insert_layer_id = config.vision_config.insert_layer_id = 0
    for part in (processor.image_processor, processor.video_processor):
        part.scale_resolution = SIDE
        part.max_slice_nums = 1


TOUCHES: dict[str, Touch] = {
    "aria": _touch(
        vision_config__image_size=980,
        vision_config__patch_size=70,
        projector_patch_to_query_dict={196: 4},
        max_value_projector_patch_to_query_dict=4,
        processor__size_conversion={980: 4},
        processor__image_processor__max_image_size=980,
    ),
    "aya_vision": _touch(processor__patch_size=16, processor__img_size=SIDE),
    "chameleon": _chameleon,
    "cohere2_vision": _touch(processor__patch_size=2),
    "deepseek_ocr2": _touch(
        text_config__mlp_layer_types=["dense", "sparse"],
        text_config__num_experts_per_tok=2,
        vision_config__sam_config__downsample_channels=[32, 32],
        vision_config__sam_config__image_size=768,
        vision_config__sam_config__patch_size=64,
        processor__image_processor__tile_size=768,
        processor__patch_size=16,
        processor__image_processor__size={"height": 768, "width": 768},
    ),
    "ernie4_5_vl_moe": _touch(
        text_config__moe_intermediate_size=[32, 16],
        text_config__rope_parameters={
            "rope_type": "default",
            "rope_theta": 1e4,
            "mrope_section": [1, 1, 2],
        },
        processor__video_processor__draw_on_frames=False,
    ),
    "fast_vlm": _touch(
        vision_config__hidden_size=3072,
        processor__patch_size=64,
        processor__image_processor__size={"height": 128, "width": 128},
        processor__image_processor__crop_size={"height": 128, "width": 128},
    ),
    **dict.fromkeys(("gemma3", "gemma3n", "shieldgemma2", "t5gemma2"), _gemma3),
    "gemma4": _touch(
        vision_config__position_embedding_size=4096,
        processor__image_processor__max_soft_tokens=70,
    ),
    "glm5_next": _glm5,
    "nemotron_h_omni": _touch(
        processor__video_processor__norm_mean=[0.5] * 3,
        processor__video_processor__norm_std=[0.5] * 3,
        processor__video_processor__patch_size=PATCH,
        processor__video_processor__video_target_num_patches=16,
    ),
    "lfm2_vl": _touch(
        processor__image_processor__min_image_tokens=4,
        processor__image_processor__max_image_tokens=16,
    ),
    "gemma4_unified": _touch(
        vision_config__output_proj_dims=32, vision_config__mm_embed_dim=32
    ),
    "deepseek_vl_hybrid": _touch(
        processor__image_processor__high_res_size={"height": SIDE, "width": SIDE}
    ),
    "inkling2": _touch(
        vision_config__head_dim=8,
        processor__image_processor__size={"height": 2 * PATCH, "width": 2 * PATCH},
    ),
    "inkling_mm_model": _touch(
        processor__image_processor__size={"height": PATCH, "width": PATCH}
    ),
    "kosmos-2.5": _touch(
        vision_config__patch_embed_hidden_size=3 * PATCH**2, latent_query_num=16
    ),
    "dots3_note": _touch(
        processor__image_processor__temporal_patch_size=1,
        processor__video_processor__temporal_patch_size=1,
    ),
    "perception_lm": _touch(
        processor__patch_size=PATCH,
        processor__pooling_ratio=2,
        processor__image_processor__tile_size=SIDE,
    ),
    "emu3": _both(
        _emu3,
        _touch(
            vq_config__base_channels=32,
            vq_config__channel_multiplier=[1, 1, 1, 1],
            vq_config__codebook_size=8,
            vq_config__latent_channels=32,
            processor__image_processor__min_pixels=SIDE**2,
            processor__image_processor__max_pixels=4 * SIDE**2,
        ),
    ),
    "phi4_multimodal": _touch(
        vision_config__image_size=32 * PATCH,
        vision_config__crop_size=32 * PATCH,
        processor__image_processor__size={"height": 32 * PATCH, "width": 32 * PATCH},
    ),
    "got_ocr2": _touch(processor__num_image_tokens=1),
    "minimax_m3_vl": _touch(merged_hidden_size=128),
    "granite4_vision": _touch(processor__downsample_rate="2/4"),
    "granite_docling": _touch(processor__image_seq_len=1),
    "qianfan_ocr": _touch(processor__image_seq_length=4),
    "llama4": _both(
        _mark("<|patch|>"),
        _touch(
            vision_config__intermediate_size=128,
            vision_config__projector_input_dim=32,
            vision_config__vision_output_dim=32,
        ),
    ),
    "mistral4": _mistral4,
    "ovis2": _mark("<IMG_ATOM>"),
    "step3p7": _both(_mark("<im_patch>"), _touch(vision_config__image_size=4 * SIDE)),
    "molmo2": _both(
        _mark("<im_patch>"),
        _touch(
            vision_config__num_position_embeddings=(SIDE // PATCH) ** 2,
            adapter_config__vision_feature_layer=[-1],
            processor__image_processor__overlap_margins=[0, 0],
        ),
    ),
    "pp_chart2table": _mark("<image>"),
    "idefics": _touch(vision_config__image_size=224, vision_config__patch_size=56),
    "idefics2": _touch(
        processor__image_seq_len=64, perceiver_config__resampler_n_latents=64
    ),
    "internvl": _touch(processor__image_seq_length=4),
    **dict.fromkeys(("minicpm_ocr", "minicpmv4_6", "minicpmv4_7"), _minicpm),
    **dict.fromkeys(
        ("mistral3", "mistral_large4"), _touch(processor__spatial_merge_size=2)
    ),
    **dict.fromkeys(("muse_glimmer", "muse_spark"), _touch(out_hidden_size=128)),
    **dict.fromkeys(
        ("qwen2_5_omni_thinker", "qwen3_omni_moe_thinker"),
        _touch(
            vision_start_token_id=VOCABULARY - 3, audio_start_token_id=VOCABULARY - 4
        ),
    ),
    "instructblipvideo": _mark("<video>", "video"),
    "unlimited_ocr": _touch(
        text_config__num_experts_per_tok=2,
        vision_config__sam_config__downsample_channels=(32, 32),
        vision_config__sam_config__image_size=768,
        vision_config__sam_config__patch_size=64,
        processor__image_processor__tile_size=768,
        processor__image_processor__size={"height": 768, "width": 768},
        processor__patch_size=64,
    ),
    # else what is said depends on whether Tesseract is installed
    "udop": _touch(processor__image_processor__apply_ocr=False),
    "vipllava": _touch(vision_feature_layers=[-2, -1]),
}
