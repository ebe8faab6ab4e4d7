"""Pipelines of diffusers with random weights, a few kilobytes each, as save_pretrained leaves them.

Their text encoders read letters: a prompt of 80 letters is longer than CLIP's 77 tokens.
"""

from pathlib import Path
from typing import Any

import diffusers
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel

from cuescope_sdk.torch import quiet

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>")
PADS = ("<|image_pad|>", "<|video_pad|>", "<|endoftext|>")
SIDE = 32  # pixels that the tiny networks were "trained" at: 16 latents of 2 pixels


def save_pipeline(name: str, folder: Path) -> Path:
    """One of `PIPELINES`."""
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(5)
        PIPELINES[name]().save_pretrained(folder)
    return folder


# --------------------------------------------------------------------------------------------- text


def clip_tokenizer() -> Any:
    ends = ["<|startoftext|>", "<|endoftext|>"]
    words = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), *ends]
    vocabulary = {word: number for number, word in enumerate(words)}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)


def clip_text(cls: Any = transformers.CLIPTextModel) -> Any:
    config = transformers.CLIPTextConfig(
        vocab_size=len(clip_tokenizer()),
        hidden_size=32,
        projection_dim=32,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        bos_token_id=clip_tokenizer().bos_token_id,
        eos_token_id=clip_tokenizer().eos_token_id,
    )
    return cls(config)


def t5() -> tuple[Any, Any]:
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    vocabulary += [(letter, -3.0) for letter in LETTERS]
    config = transformers.T5Config(
        vocab_size=len(vocabulary),
        d_model=32,
        d_kv=8,
        d_ff=37,
        num_layers=2,
        num_heads=4,
    )
    return transformers.T5EncoderModel(config), transformers.T5Tokenizer(
        vocabulary, extra_ids=0
    )


def qwen() -> tuple[Any, Any]:
    """Qwen2.5-VL and its processor."""
    vocabulary = {
        each: number for number, each in enumerate(sorted(ByteLevel.alphabet()))
    }
    tokenizer = transformers.Qwen2Tokenizer(
        vocab=vocabulary | {mark: 256 + n for n, mark in enumerate((*MARKS, *PADS))},
        merges=[],
        extra_special_tokens=[*MARKS, *PADS[:2]],
    )
    number = tokenizer.convert_tokens_to_ids
    text = {
        "vocab_size": 512,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3]},
    }
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 2,
        "out_hidden_size": 32,
        "fullatt_block_indexes": [1],
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
    )
    processor = transformers.Qwen2VLProcessor(
        transformers.Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=56 * 56),
        tokenizer,
        transformers.Qwen2VLVideoProcessor(),
    )
    return transformers.Qwen2_5_VLForConditionalGeneration(config), processor


# ------------------------------------------------------------------------------------------- images


def autoencoder(**more: Any) -> Any:
    return diffusers.AutoencoderKL(
        block_out_channels=(32, 32),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        sample_size=SIDE,
        **{"latent_channels": 4, **more},
    )


def unet(channels: int, **more: Any) -> Any:
    return diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64),
        layers_per_block=1,
        sample_size=SIDE // 2,
        in_channels=channels,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        **{"cross_attention_dim": 32, "attention_head_dim": 8, **more},
    )


def stable_diffusion(cls: Any, channels: int) -> Any:
    return cls(
        vae=autoencoder(),
        text_encoder=clip_text(),
        tokenizer=clip_tokenizer(),
        unet=unet(channels),
        scheduler=diffusers.DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def stable_diffusion_xl() -> Any:
    return diffusers.StableDiffusionXLInpaintPipeline(
        vae=autoencoder(),
        text_encoder=clip_text(),
        text_encoder_2=clip_text(transformers.CLIPTextModelWithProjection),
        tokenizer=clip_tokenizer(),
        tokenizer_2=clip_tokenizer(),
        unet=unet(
            9,
            cross_attention_dim=64,
            attention_head_dim=(2, 4),
            use_linear_projection=True,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + 32,
        ),
        scheduler=diffusers.EulerDiscreteScheduler(),
        add_watermarker=False,
    )


def stable_diffusion_3() -> Any:
    text, tokenizer = t5()
    with_projection = transformers.CLIPTextModelWithProjection
    return diffusers.StableDiffusion3Pipeline(
        vae=autoencoder(
            latent_channels=16,
            shift_factor=0.1,
            use_quant_conv=False,
            use_post_quant_conv=False,
        ),
        text_encoder=clip_text(with_projection),
        text_encoder_2=clip_text(with_projection),
        text_encoder_3=text,
        tokenizer=clip_tokenizer(),
        tokenizer_2=clip_tokenizer(),
        tokenizer_3=tokenizer,
        transformer=diffusers.SD3Transformer2DModel(
            sample_size=SIDE // 2,
            patch_size=1,
            in_channels=16,
            out_channels=16,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=32,
            caption_projection_dim=32,
            pooled_projection_dim=64,
        ),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
    )


def flux(cls: Any, channels: int) -> Any:
    text, tokenizer = t5()
    return cls(
        vae=autoencoder(
            shift_factor=0.1, use_quant_conv=False, use_post_quant_conv=False
        ),
        text_encoder=clip_text(),
        text_encoder_2=text,
        tokenizer=clip_tokenizer(),
        tokenizer_2=tokenizer,
        transformer=diffusers.FluxTransformer2DModel(
            in_channels=channels,
            out_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            guidance_embeds=True,
            axes_dims_rope=(4, 4, 8),
        ),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
    )


def qwen_edit(cls: Any) -> Any:
    text, processor = qwen()
    return cls(
        vae=diffusers.AutoencoderKLQwenImage(
            base_dim=8,
            z_dim=4,
            dim_mult=[1, 1, 1],
            num_res_blocks=1,
            temperal_downsample=[False, True],
            latents_mean=[0.0] * 4,
            latents_std=[1.0] * 4,
        ),
        text_encoder=text,
        tokenizer=processor.tokenizer,
        processor=processor,
        transformer=diffusers.QwenImageTransformer2DModel(
            in_channels=16,
            out_channels=4,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            axes_dims_rope=(4, 6, 6),
        ),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
    )


PIPELINES = {
    "sd-inpaint": lambda: stable_diffusion(diffusers.StableDiffusionInpaintPipeline, 9),
    "sdxl-inpaint": stable_diffusion_xl,
    "sd3": stable_diffusion_3,
    "flux-fill": lambda: flux(diffusers.FluxFillPipeline, 48),
    "qwen-image-edit": lambda: qwen_edit(diffusers.QwenImageEditPipeline),
    "pix2pix": lambda: stable_diffusion(
        diffusers.StableDiffusionInstructPix2PixPipeline, 8
    ),
    "kontext": lambda: flux(diffusers.FluxKontextPipeline, 16),
}
