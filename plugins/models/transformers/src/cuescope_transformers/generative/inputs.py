"""Samples to the tensors of a batch, with the modality of every token."""

from collections.abc import Callable, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import torch
from jaxtyping import Bool, Int, Int8
from PIL import Image
from torch import Tensor
from transformers.video_utils import VideoMetadata

from cuescope_sdk import Sample, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.report import count_of
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import arguments
from cuescope_transformers.generative.prompts import Medium

Modality = Int8[Tensor, "row token"]
Inputs = dict[str, Any]  # of a network, by name

SINGLE_IMAGE = (
    "blip",
    "blip-2",
    "instructblip",
    "florence2",
    "git",
    "kosmos-2",
    "pix2struct",
    "got_ocr2",
)
FLAT_IMAGES = ("got_ocr2",)  # lists within a list are pages of one document there
TYPES = "mm_token_type_ids"


@dataclass(frozen=True)
class Batch:
    """A batch on the model's device, and what its tokens are.

    It is padded on the left, where answers follow the prompt, and on the right of an encoder.
    `cross` are the keys of cross-attention, where the visual tokens are there alone. The model
    is run within `around()`.
    """

    inputs: Inputs
    modality: Modality
    cross: Int8[Tensor, "row key"] | None = None
    around: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def shows_video(self) -> bool:
        """Whether any token is known to be visual."""
        if self.cross is not None and VIDEO in self.cross:
            return True
        return VIDEO in self.modality


def media_of(model: GenerativeModel, sample: Sample) -> list[Medium]:
    """How the frames are shown: together as a video where the processor takes one, else as images.

    A single frame is an image, unless the processor takes videos only. Raises UserError for
    several frames where a model looks at one.
    """
    count = len(sample.frames)
    takes_image = getattr(model.processor, "image_processor", None) is not None
    takes_video = model.takes_videos
    if not count and model.needs_image:
        raise UserError(
            f"{model.title} answers nothing without an image",
            expected="a sample with a frame",
            got=f"none in '{sample.key}'",
        )
    if count and takes_video and (count > 1 or not takes_image):
        return ["video"]
    if count > 1 and model.kind in SINGLE_IMAGE:
        raise UserError(
            f"{model.title} looks at one image",
            expected="one frame a sample",
            got=f"{count_of(count, 'frames')} in '{sample.key}'",
            remedy="Say -O data.frames=1, or take a video model.",
        )
    return ["image"] * count


def network_inputs(
    model: GenerativeModel,
    samples: Sequence[Sample],
    prompts: Sequence[str],
) -> Inputs:
    """The model's inputs for samples of equally many frames; raises UserError where refused."""
    # with labels a model computes a loss too
    # a processor may give more than its network takes
    taken = arguments(model.network.forward) - {"labels"}
    # some hand on by `kwargs` what the network inside takes
    if "kwargs" in taken:
        taken |= arguments(model.network.base_model.forward)
    outputs = processor_outputs(model, samples, prompts)
    return {
        name: _to_device(value, model)
        for name, value in outputs.items()
        if name in taken
    }


def processor_outputs(
    model: GenerativeModel,
    samples: Sequence[Sample],
    prompts: Sequence[str],
) -> Inputs:
    """What the processor makes; raises UserError where it refuses."""
    try:
        with quiet():
            return dict(_call_processor(model, samples, list(prompts)))
    except UserError:
        raise
    except Exception as error:  # processors refuse with whatever breaks first
        count = len(samples[0].frames)
        shown = "1 frame" if count == 1 else f"{count or 'no'} frames"
        raise UserError(
            f"{model.title} cannot be shown {shown}",
            got=shorten(str(error), 200) or type(error).__name__,
        ) from error


def _call_processor(
    model: GenerativeModel,
    samples: Sequence[Sample],
    prompts: list[str],
) -> Any:
    tokenizer = model.tokenizer
    side = "right" if model.files.config.is_encoder_decoder else "left"
    # answers follow a prompt, so that padding goes before it; to a decoder of its own it is the
    # encoder's input, padded as in training
    options: dict[str, Any] = {
        "padding": True,
        "padding_side": side,
        "return_tensors": "pt",
    }
    bos = tokenizer.bos_token
    # a chat template may have written the opening token already: two of them are another prompt
    options["add_special_tokens"] = not (bos and prompts[0].startswith(bos))
    # not every processor tells by itself which tokens are visual
    if TYPES in arguments(model.files.network_class.forward):
        options[f"return_{TYPES}"] = True
    frames = [_load_frames(model, sample) for sample in samples]
    # equally many frames a sample, and so one way to show them
    match media_of(model, samples[0]):
        case []:
            if model.kind == "paligemma":  # its processor insists on images
                options.pop(f"return_{TYPES}", None)
                prompts = [f"{bos}{prompt}\n" for prompt in prompts]
                return tokenizer(prompts, return_token_type_ids=True, **options)
            return model.processor(text=prompts, **options)
        case ["video"]:
            metadata = [_metadata(video, model.options.fps) for video in frames]
            return model.processor(
                text=prompts,
                videos=frames,
                do_sample_frames=False,  # the data set has chosen them
                video_metadata=metadata,
                # some write timestamps of it, and have it of nowhere else
                return_metadata=True,
                **options,
            )
        case _ if model.kind in FLAT_IMAGES:
            flat = [frame for (frame,) in frames]
            return model.processor(text=prompts, images=flat, **options)
        case _:
            return model.processor(text=prompts, images=frames, **options)


def _load_frames(model: GenerativeModel, sample: Sample) -> list[Image.Image]:
    return [model.ahead.take(frame.key, frame.load) for frame in sample.frames]


def _metadata(video: Sequence[Any], fps: float) -> VideoMetadata:
    """The frames as they are: none was left out."""
    count = len(video)
    width, height = video[0].size
    return VideoMetadata(
        total_num_frames=count,
        fps=fps,
        width=width,
        height=height,
        duration=count / fps,
        frames_indices=list(range(count)),
    )


def _to_device(value: Any, model: GenerativeModel) -> Any:
    if not isinstance(value, Tensor):
        return value
    # ids stay whole numbers
    dtype = model.network.dtype if value.is_floating_point() else None
    return value.to(model.files.device, dtype)


def with_modalities(model: GenerativeModel, inputs: Inputs) -> Batch:
    tokens = inputs["input_ids"]
    config = model.network.config
    mask = inputs.setdefault("attention_mask", torch.ones_like(tokens))
    causal = not config.is_encoder_decoder
    if "cross_attention_mask" not in inputs:
        return Batch(
            inputs, modalities(tokens, mask, model.visual, model.special, causal)
        )
    # Mllama's cross-attention has as many keys a tile; (row, token, image, tile)
    patches = model.network.model.vision_model.num_patches
    attended = inputs["cross_attention_mask"].any(dim=1).flatten(1)
    tiles = torch.where(attended, VIDEO, OTHER).to(torch.int8)  # OTHER: nobody sees it
    # its placeholders stand for no token: frames are read by cross-attention alone
    modality = modalities(tokens, mask, frozenset(), model.special | model.visual)
    return Batch(inputs, modality, tiles.repeat_interleave(patches, dim=1))


# ------------------------------------------------------------------------- what a token is


def modalities(
    tokens: Int[Tensor, "row token"],
    mask: Int[Tensor, "row token"],
    visual: Set[int],
    special: Set[int],
    causal: bool = True,
) -> Modality:
    """VIDEO for placeholders, TEXT for all others: a separator reads what is around it.

    Padding, where `mask` is 0, is OTHER; so are special tokens that open the sequence (BOS) of a
    `causal` model, for they see neither.
    """
    modality = torch.full_like(tokens, TEXT, dtype=torch.int8)
    modality[is_among(tokens, visual)] = VIDEO
    modality[mask == 0] = OTHER
    if causal:
        # the cumulative product is 1 up to the first token that is neither padding nor special
        opening = (mask == 0) | is_among(tokens, special - visual)
        modality[opening.cumprod(dim=1).bool()] = OTHER
    return modality


def is_among(tokens: Int[Tensor, "*shape"], ids: Set[int]) -> Bool[Tensor, "*shape"]:
    numbers = torch.tensor(sorted(ids), device=tokens.device, dtype=tokens.dtype)
    return torch.isin(tokens, numbers)
