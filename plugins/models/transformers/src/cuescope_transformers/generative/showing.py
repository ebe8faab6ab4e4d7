"""Samples as a processor takes them: prompt and frames to the tensors of a batch."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import torch
from jaxtyping import Int8
from torch import Tensor
from transformers.video_utils import VideoMetadata

from cuescope_sdk import Sample, UserError
from cuescope_sdk.fusion import VIDEO
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative.loading import Loaded, arguments
from cuescope_transformers.generative.prompts import Medium
from cuescope_transformers.generative.tokens import crossed, modalities, placeholders

SINGLE = ("blip", "blip-2", "instructblip", "florence2", "git", "kosmos-2", "pix2struct")


@dataclass(frozen=True)
class Batch:
    """A batch on the model's device, and what its tokens are.

    It is padded on the left, where answers follow the prompt, and on the right of an encoder.
    `cross` are the keys of cross-attention, where the visual tokens are there alone. The model
    is run within `around()`.
    """

    inputs: dict[str, Any]
    modality: Int8[Tensor, "row token"]
    cross: Int8[Tensor, "row key"] | None = None
    around: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def shows_video(self) -> bool:
        """Whether any token is known to be visual."""
        sides = [self.modality, *([] if self.cross is None else [self.cross])]
        return any(bool((side == VIDEO).any()) for side in sides)


def media_of(loaded: Loaded, sample: Sample) -> list[Medium]:
    """How the frames are shown: together as a video where the processor takes one, else as images.

    A single frame is an image, unless the processor takes videos only. Raises UserError for
    several frames where a model looks at one.
    """
    count, processor = len(sample.frames), loaded.processor
    takes_video, takes_image = (
        getattr(processor, f"{kind}_processor", None) is not None for kind in ("video", "image")
    )
    if not count and loaded.needs_image:
        raise UserError(
            f"{loaded.title} answers nothing without an image",
            expected="a sample with a frame",
            got=f"none in '{sample.key}'",
        )
    if count and takes_video and (count > 1 or not takes_image):
        return ["video"]
    if count > 1 and loaded.kind in SINGLE:
        raise UserError(
            f"{loaded.title} looks at one image",
            expected="one frame a sample",
            got=f"{count} frames in '{sample.key}'",
            remedy="Say -D frames=1, or take a video model.",
        )
    return ["image"] * count


def shown(loaded: Loaded, samples: Sequence[Sample], prompts: Sequence[str], fps: float) -> Batch:
    """Samples of equally many frames, each with its prompt; raises UserError where refused."""
    return described(loaded, processed(loaded, samples, prompts, fps))


def processed(
    loaded: Loaded, samples: Sequence[Sample], prompts: Sequence[str], fps: float
) -> dict[str, Any]:
    """What the model is given, on its device; raises UserError where the processor refuses."""
    known = arguments(loaded.model.forward)
    return {
        name: _placed(value, loaded)
        for name, value in made(loaded, samples, prompts, fps).items()
        if name in known and name != "labels"
    }


def made(
    loaded: Loaded, samples: Sequence[Sample], prompts: Sequence[str], fps: float
) -> dict[str, Any]:
    """What the processor makes; raises UserError where it refuses."""
    try:
        with quiet():
            return dict(_processed(loaded, samples, list(prompts), fps))
    except UserError:
        raise
    except Exception as error:  # processors refuse with whatever breaks first
        count = len(samples[0].frames)
        raise UserError(
            f"{loaded.title} cannot be shown {count or 'no'} frame{'' if count == 1 else 's'}",
            got=shorten(str(error), 200) or type(error).__name__,
        ) from error


def pixels_in(inputs: Mapping[str, Any]) -> str:
    """The name of what is given of the frames."""
    return next(name for name in ("pixel_values_videos", "pixel_values") if name in inputs)


def _processed(loaded: Loaded, samples: Sequence[Sample], prompts: list[str], fps: float) -> Any:
    tokenizer = loaded.tokenizer
    side = "right" if loaded.files.config.is_encoder_decoder else "left"
    options: dict[str, Any] = {"padding": True, "padding_side": side, "return_tensors": "pt"}
    bos = tokenizer.bos_token
    options["add_special_tokens"] = not (bos and prompts[0].startswith(bos))
    frames = [[frame.load() for frame in sample.frames] for sample in samples]
    match media_of(loaded, samples[0]):
        case []:
            if loaded.kind == "paligemma":  # its processor insists on images
                prompts = [f"{bos}{prompt}\n" for prompt in prompts]
                return tokenizer(prompts, return_token_type_ids=True, **options)
            return loaded.processor(text=prompts, **options)
        case ["video"]:
            return loaded.processor(
                text=prompts, videos=frames, do_sample_frames=False,
                video_metadata=[_metadata(video, fps) for video in frames], **options,
            )  # fmt: skip
        case _:
            return loaded.processor(text=prompts, images=frames, **options)


def _metadata(video: Sequence[Any], fps: float) -> VideoMetadata:
    """The frames as they are: none was left out."""
    count, (width, height) = len(video), video[0].size
    return VideoMetadata(
        total_num_frames=count, fps=fps, width=width, height=height, duration=count / fps,
        frames_indices=list(range(count)),
    )  # fmt: skip


def _placed(value: Any, loaded: Loaded) -> Any:
    if not isinstance(value, Tensor):
        return value
    return value.to(loaded.device, loaded.model.dtype if value.is_floating_point() else None)


def described(loaded: Loaded, inputs: dict[str, Any]) -> Batch:
    """The batch with the modality of its tokens."""
    tokens, config = inputs["input_ids"], loaded.model.config
    mask = inputs.setdefault("attention_mask", torch.ones_like(tokens))
    visual = placeholders(config, loaded.processor)
    causal = not config.is_encoder_decoder
    if "cross_attention_mask" not in inputs:
        return Batch(inputs, modalities(tokens, mask, visual, loaded.special, causal))
    patches = loaded.model.model.vision_model.num_patches
    modality = modalities(tokens, mask, frozenset(), loaded.special | visual)
    return Batch(inputs, modality, crossed(inputs["cross_attention_mask"], patches))
