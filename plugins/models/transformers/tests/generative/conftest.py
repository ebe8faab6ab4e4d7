"""Tiny generative models of each family with seeded random weights, saved as a user finds them."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from cuescope_sdk import Context, Frame, Sample, Trial
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM, VLMOptions

WORDS = (
    *"ABCDEFGH",
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
    "top",
    "middle",
    "bottom",
    "user",
    "assistant",
    "frame",
    "question",
    "answer",
    *"0123456789",
    "(",
    ")",
    ":",
    "?",
    ".",
    ",",
    "-",
)
MARKS = ("<unk>", "<pad>", "<s>", "</s>", "<turn>")
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "pad_token_id": 1,
}
GEMMA = {
    **TEXT,
    "head_dim": 8,
    "sliding_window": 8,
    "layer_types": ["sliding_attention", "full_attention"],
}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 4,
}
SQUARE = {"height": 16, "width": 16}
CHAT = (
    "{% for message in messages %}<turn>{{ message['role'] }}:"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ ' ' + part['text'] }}"
    "{% else %}@{{ part['type'] }}@{% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant:{% endif %}"
)
Parts = tuple[Any, Any]


def _tokenizer(**named: str) -> Any:
    """Whole words and punctuation; `named` tokens are special."""
    words = {word: index for index, word in enumerate((*MARKS, *WORDS))}
    rules = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="left",
        extra_special_tokens={"turn_token": "<turn>", **named},
    )


def _chat(image: str, video: str = "") -> str:
    return CHAT.replace(
        "@{{ part['type'] }}@",
        f"{{{{ '{image}' if part['type'] == 'image' else '{video}' }}}}",
    )


def _qwen(kind: str) -> Parts:
    tokenizer = _tokenizer(
        image_token="<|image_pad|>",
        video_token="<|video_pad|>",
        vision_bos_token="<|vision_start|>",
        vision_eos_token="<|vision_end|>",
    )
    ids = {
        "image_token_id": tokenizer.image_token_id,
        "video_token_id": tokenizer.video_token_id,
        "vision_start_token_id": tokenizer.vision_bos_token_id,
        "vision_end_token_id": tokenizer.vision_eos_token_id,
    }
    vision = {"depth": 2, "num_heads": 2, "patch_size": 4, "hidden_size": 32}
    rope = {
        "rope_type": "default",
        "type": "mrope",
        "mrope_section": [1, 1, 2],
        "rope_theta": 1e4,
    }
    text = {**TEXT, "rope_parameters": rope}
    if kind == "qwen2-vl":
        vision |= {"embed_dim": 32}
        make, build = transformers.Qwen2VLConfig, transformers.Qwen2VLProcessor
    else:
        vision |= {
            "out_hidden_size": 32,
            "intermediate_size": 48,
            "fullatt_block_indexes": [1],
            "window_size": 16,
        }
        make, build = transformers.Qwen2_5_VLConfig, transformers.Qwen2_5_VLProcessor
    sizes = {"patch_size": 4, "size": {"shortest_edge": 64, "longest_edge": 4096}}
    processor = build(
        image_processor=transformers.Qwen2VLImageProcessor(**sizes),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(**sizes),
        chat_template=_chat(
            "<|vision_start|><|image_pad|><|vision_end|>",
            "<|vision_start|><|video_pad|><|vision_end|>",
        ),
    )
    return make(text_config=text, vision_config=vision, **ids), processor


def _llava(kind: str) -> Parts:
    tokenizer = _tokenizer(image_token="<image>", video_token="<video>")
    ids = {
        "image_token_index": tokenizer.image_token_id,
        "video_token_index": tokenizer.video_token_id,
    }
    grid = [[16, 16], [16, 32]]
    chat = _chat("<image>", "<video>")
    if kind == "llava-next":
        config = transformers.LlavaNextConfig(
            text_config={**TEXT, "model_type": "llama"},
            vision_config={
                **VISION,
                "model_type": "clip_vision_model",
                "projection_dim": 16,
            },
            image_grid_pinpoints=grid,
            image_token_index=tokenizer.image_token_id,
        )
        return config, transformers.LlavaNextProcessor(
            image_processor=transformers.LlavaNextImageProcessor(
                image_grid_pinpoints=grid, size={"shortest_edge": 16}, crop_size=SQUARE
            ),
            tokenizer=tokenizer,
            patch_size=4,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
            chat_template=chat,
        )
    if kind == "llava-next-video":
        config = transformers.LlavaNextVideoConfig(
            text_config={**TEXT, "model_type": "llama"},
            vision_config={
                **VISION,
                "model_type": "clip_vision_model",
                "projection_dim": 16,
            },
            image_grid_pinpoints=grid,
            **ids,
        )
        size = {"size": {"shortest_edge": 16}, "crop_size": SQUARE}
        return config, transformers.LlavaNextVideoProcessor(
            image_processor=transformers.LlavaNextImageProcessor(
                image_grid_pinpoints=grid, **size
            ),
            video_processor=transformers.LlavaNextVideoVideoProcessor(**size),
            tokenizer=tokenizer,
            patch_size=4,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
            chat_template=chat,
        )
    config = transformers.LlavaOnevisionConfig(
        text_config={**TEXT, "model_type": "qwen2"},
        vision_config={
            **VISION,
            "model_type": "siglip_vision_model",
            "vision_use_head": False,
        },
        image_grid_pinpoints=grid,
        **ids,
    )
    return config, transformers.LlavaOnevisionProcessor(
        image_processor=transformers.LlavaOnevisionImageProcessor(
            image_grid_pinpoints=grid, size=SQUARE
        ),
        video_processor=transformers.LlavaOnevisionVideoProcessor(size=SQUARE),
        tokenizer=tokenizer,
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=chat,
    )


def _llava15(kind: str) -> Parts:
    tokenizer = _tokenizer(image_token="<image>")
    config = transformers.LlavaConfig(
        text_config={**TEXT, "model_type": "llama"},
        vision_config={
            **VISION,
            "model_type": "clip_vision_model",
            "projection_dim": 16,
        },
        image_token_index=tokenizer.image_token_id,
    )
    return config, transformers.LlavaProcessor(
        # as LLaVA 1.5 has it: what is longer than high is cut off at its sides
        image_processor=transformers.CLIPImageProcessor(
            size={"shortest_edge": 16}, crop_size=SQUARE
        ),
        tokenizer=tokenizer,
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_chat("<image>"),
    )


def _internvl(kind: str) -> Parts:
    tokenizer = _tokenizer(
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = transformers.InternVLConfig(
        text_config={**TEXT, "model_type": "qwen2"},
        vision_config={**VISION, "image_size": [16, 16], "patch_size": [4, 4]},
        image_token_id=tokenizer.context_image_token_id,
        image_seq_length=4,
    )
    return config, transformers.InternVLProcessor(
        image_processor=transformers.GotOcr2ImageProcessor(
            size=SQUARE, crop_to_patches=False
        ),
        video_processor=transformers.InternVLVideoProcessor(size=SQUARE),
        tokenizer=tokenizer,
        image_seq_length=4,
        chat_template=_chat("<IMG_CONTEXT>", "<video>"),
    )


def _idefics3(kind: str) -> Parts:
    named = {
        "image_token": "<image>",
        "fake": "<fake_token_around_image>",
        "global": "<global-img>",
        "end": "<end_of_utterance>",
    }
    tokenizer = _tokenizer(**named)
    config = transformers.Idefics3Config(
        text_config={**TEXT, "model_type": "llama"},
        vision_config=VISION,
        scale_factor=2,
        image_token_id=tokenizer.image_token_id,
    )
    return config, transformers.Idefics3Processor(
        image_processor=transformers.Idefics3ImageProcessor(
            size={"longest_edge": 16},
            max_image_size={"longest_edge": 16},
            do_image_splitting=False,
        ),
        tokenizer=tokenizer,
        image_seq_len=4,
        chat_template=_chat("<image>"),
    )


def _smolvlm(kind: str) -> Parts:
    named = {
        "image_token": "<image>",
        "video_token": "<video>",
        "fake": "<fake_token_around_image>",
        "global": "<global-img>",
        "end": "<end_of_utterance>",
    }
    tokenizer = _tokenizer(**named)
    config = transformers.SmolVLMConfig(
        text_config={**TEXT, "model_type": "llama"},
        vision_config=VISION,
        scale_factor=2,
        image_token_id=tokenizer.image_token_id,
    )
    sizes = {"size": {"longest_edge": 16}, "max_image_size": {"longest_edge": 16}}
    return config, transformers.SmolVLMProcessor(
        image_processor=transformers.SmolVLMImageProcessor(
            **sizes, do_image_splitting=False
        ),
        video_processor=transformers.SmolVLMVideoProcessor(**sizes),
        tokenizer=tokenizer,
        image_seq_len=4,
        chat_template=_chat("<image>", "<video>"),
    )


def _paligemma(kind: str) -> Parts:
    tokenizer = _tokenizer(image_token="<image>")
    config = transformers.PaliGemmaConfig(
        text_config={**TEXT, "model_type": "gemma", "head_dim": 8, "vocab_size": 1280},
        vision_config={
            **VISION,
            "model_type": "siglip_vision_model",
            "vision_use_head": False,
            "projection_dim": 32,
        },
        projection_dim=32,
        image_token_index=tokenizer.image_token_id,
    )
    images = transformers.SiglipImageProcessor(size=SQUARE)
    images.image_seq_length = 16
    return config, transformers.PaliGemmaProcessor(
        image_processor=images, tokenizer=tokenizer
    )


def _gemma3(kind: str) -> Parts:
    tokenizer = _tokenizer(
        image_token="<image_soft_token>",
        boi_token="<start_of_image>",
        eoi_token="<end_of_image>",
    )
    config = transformers.Gemma3Config(
        text_config=GEMMA,
        vision_config={
            **VISION,
            "model_type": "siglip_vision_model",
            "vision_use_head": False,
        },
        mm_tokens_per_image=4,
        image_token_index=tokenizer.image_token_id,
        boi_token_index=tokenizer.boi_token_id,
        eoi_token_index=tokenizer.eoi_token_id,
    )
    return config, transformers.Gemma3Processor(
        image_processor=transformers.Gemma3ImageProcessor(size=SQUARE),
        tokenizer=tokenizer,
        image_seq_length=4,
        chat_template=_chat("<start_of_image>"),
    )


def _mllama(kind: str) -> Parts:
    tokenizer = _tokenizer(image_token="<|image|>", python_token="<|python_tag|>")
    config = transformers.MllamaConfig(
        text_config={
            **TEXT,
            "num_hidden_layers": 3,
            "cross_attention_layers": [1],
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 2,
            "image_size": 16,
            "patch_size": 4,
            "vision_output_dim": 64,
            "max_num_tiles": 2,
            "intermediate_layers_indices": [0],
            "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]],
        },
        image_token_index=tokenizer.image_token_id,
    )
    return config, transformers.MllamaProcessor(
        image_processor=transformers.MllamaImageProcessor(
            size=SQUARE, max_image_tiles=2
        ),
        tokenizer=tokenizer,
        chat_template=_chat("<|image|>"),
    )


def _florence2(kind: str) -> Parts:
    tokenizer = _tokenizer(image_token="<image>")
    sizes = {
        "embed_dim": [8, 8, 16, 16],
        "depths": [1] * 4,
        "num_heads": [2] * 4,
        "num_groups": [2] * 4,
        "window_size": 4,
        "projection_dim": 32,
        "drop_path_rate": 0.0,
    }
    text = {
        "model_type": "bart",
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "max_position_embeddings": 128,
        "dropout": 0.0,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 1,
        "decoder_start_token_id": 3,
    }
    config = transformers.Florence2Config(
        text_config=text, vision_config=sizes, image_token_id=tokenizer.image_token_id
    )
    images = transformers.CLIPImageProcessor(
        size={"height": 64, "width": 64}, do_center_crop=False
    )
    images.image_seq_length = 5
    return config, transformers.Florence2Processor(
        image_processor=images, tokenizer=tokenizer
    )


def _blip2(kind: str) -> Parts:
    processor = transformers.Blip2Processor(
        image_processor=transformers.BlipImageProcessor(size=SQUARE),
        tokenizer=_tokenizer(),
        num_query_tokens=4,
    )
    queries = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "encoder_hidden_size": 32,
        "vocab_size": 8,
    }
    text = {
        "model_type": "opt",
        "hidden_size": 32,
        "ffn_dim": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 128,
        "word_embed_proj_dim": 32,
        "dropout": 0.0,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 1,
    }
    config = transformers.Blip2Config(
        text_config=text,
        vision_config=VISION,
        qformer_config=queries,
        num_query_tokens=4,
        image_token_index=processor.tokenizer.convert_tokens_to_ids("<image>"),
    )
    return config, processor


def _git(kind: str) -> Parts:
    """Its attention does not go through the library's interface."""
    config = transformers.GitConfig(
        vision_config=VISION,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        bos_token_id=2,
        eos_token_id=3,
        pad_token_id=1,
    )
    images = transformers.CLIPImageProcessor(size=SQUARE, crop_size=SQUARE)
    return config, transformers.GitProcessor(
        image_processor=images, tokenizer=_tokenizer()
    )


def _blip(kind: str) -> Parts:
    """Nor does its; and its positions count padding."""
    text = {
        "hidden_size": 32,
        "encoder_hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 64,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "sep_token_id": 3,
        "pad_token_id": 1,
    }
    config = transformers.BlipConfig(text_config=text, vision_config=VISION)
    images = transformers.BlipImageProcessor(size=SQUARE)
    return config, transformers.BlipProcessor(
        image_processor=images, tokenizer=_tokenizer()
    )


def _t5gemma2(kind: str) -> Parts:
    """Its decoder attends to itself and to the encoder at once."""
    single, processor = _gemma3(kind)
    ids = {
        "image_token_index": single.image_token_id,
        "eoi_token_index": single.eoi_token_index,
    }
    text = {**GEMMA, "vocab_size": len(processor.tokenizer)}
    encoder = {
        "text_config": text,
        "vision_config": {**VISION, "vision_use_head": False},
        "mm_tokens_per_image": 4,
        "boi_token_index": single.boi_token_index,
        **ids,
    }
    return transformers.T5Gemma2Config(encoder=encoder, decoder=text, **ids), processor


BUILDERS: dict[str, Callable[[str], Parts]] = {
    "qwen2-vl": _qwen,
    "qwen2.5-vl": _qwen,
    "llava": _llava15,
    "llava-next": _llava,
    "llava-next-video": _llava,
    "llava-onevision": _llava,
    "internvl": _internvl,
    "idefics3": _idefics3,
    "smolvlm": _smolvlm,
    "mllama": _mllama,
    "paligemma": _paligemma,
    "gemma3": _gemma3,
    "florence2": _florence2,
    "blip-2": _blip2,
    "git": _git,
    "blip": _blip,
    "t5gemma2": _t5gemma2,
}


def write_family(kind: str, folder: Path) -> Path:
    """A model folder: configuration, weights and processor."""
    config, processor = BUILDERS[kind](kind)
    text = config.get_text_config()
    text.vocab_size = max(
        len(processor.tokenizer), text.vocab_size if kind == "paligemma" else 0
    )
    with torch.random.fork_rng():
        torch.manual_seed(11)
        model = transformers.AutoModelForImageTextToText.from_config(config)
        for (
            name,
            parameter,
        ) in model.named_parameters():  # wide enough for differences to show
            with torch.no_grad():
                if parameter.ndim > 1:
                    parameter.normal_(std=0.25)
                elif "gate" in name:
                    parameter.fill_(0.8)
    if kind == "florence2":
        model.generation_config.forced_bos_token_id = 2
    with quiet():
        model.save_pretrained(folder)
        processor.save_pretrained(folder)
    return folder


Build = Callable[..., TransformersVLM]


@pytest.fixture(scope="session", autouse=True)
def _spelt_numbers() -> Iterator[None]:
    """SmolVLM spells the number of frames with the package num2words, which need not be here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "transformers.models.smolvlm.processing_smolvlm.num2words",
            lambda number: str(number),
        )
        yield


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`folder_of("qwen2-vl")`: the model folder, written when first asked for."""
    root = tmp_path_factory.mktemp("families")
    return cache(lambda kind: write_family(kind, root / kind))


@pytest.fixture(scope="session")
def build(folder_of: Callable[[str], Path]) -> Build:
    """`build("qwen2-vl", scoring="letters")`: the plugin on a tiny model, or on a folder."""

    def make(
        model: str, *, dtype: str = "float32", planning: bool = False, **options: Any
    ) -> TransformersVLM:
        given = VLMOptions(**{"model": model, "max_new_tokens": 4, **options})
        context = Context(device="cpu", dtype=dtype, batch_size=8, planning=planning)
        return TransformersVLM(given, context)

    known = cache(lambda kind, **options: make(str(folder_of(kind)), **options))
    return lambda model, **options: (known if model in BUILDERS else make)(
        model, **options
    )


@pytest.fixture(scope="session")
def trial() -> Callable[..., Trial]:
    """`trial(frames=4, question="what is it", edit=...)`: seeded frames, three choices."""

    @cache
    def frame(number: int) -> Frame:
        pixels = np.random.default_rng(number).integers(
            0, 256, (20, 28, 3), dtype=np.uint8
        )
        return Frame.from_array(pixels)

    def make(
        frames: int = 4,
        question: str | None = "what is it",
        first: int = 0,
        **fields: Any,
    ) -> Trial:
        choices = fields.pop("choices", ("yes", "no", "red ball"))
        shown = tuple(frame(number) for number in range(first, first + frames))
        sample = Sample(
            key=f"{first}-{frames}", frames=shown, question=question, choices=choices
        )
        return Trial(sample=sample, **fields)

    return make
