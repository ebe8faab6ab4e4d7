"""The authors' checkpoints: found and measured now, filled into a network when first needed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from open_clip import SimpleTokenizer
from PIL import Image
from torch import Tensor
from torch.nn.functional import interpolate

from cuescope_open_clip.towers import stock_block
from cuescope_open_clip.video.files import OWNER, find_checkpoint
from cuescope_open_clip.video.network import HEAD_DIM, Shape, VideoTextNetwork
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import TextTower
from cuescope_sdk.torch import (
    ImageTower,
    Inputs,
    Pooling,
    files_digest,
    load_state_strictly,
    read_weights,
    resolve_device,
    resolve_dtype,
    unreadable_weights,
)

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
LOGIT_SCALE = 100.0  # the authors' own demonstrations multiply by it, whatever the checkpoint says


@dataclass(frozen=True)
class Family:
    """A model by the names that its authors gave to its parts: those of video and of text.

    `spare` are the tensors that no answer depends on: learned temperatures.
    """

    title: str
    visual: str
    text: str
    spare: tuple[str, ...]
    long_texts: bool

    @property
    def _prefixes(self) -> tuple[tuple[str, str], ...]:
        """Their name of each tower, and ours."""
        return (self.visual, "visual."), (self.text, "text.")

    def our_name(self, name: str) -> str:
        """A tensor's name in our network."""
        for theirs, ours in self._prefixes:
            if name.startswith(theirs):
                return ours + name.removeprefix(theirs)
        return name

    def published_name(self, name: str) -> str:
        """And back."""
        for theirs, ours in self._prefixes:
            if name.startswith(ours):
                return theirs + name.removeprefix(ours)
        return name

    def our_tensors(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The tensors by our names."""
        return {self.our_name(name): tensor for name, tensor in tensors.items()}


FAMILIES = (
    Family("ViCLIP", "vision_encoder.", "text_encoder.", ("temp",), long_texts=False),
    Family(
        "VideoCLIP-XL",
        "vision_model.vision_encoder.",
        "text_model.",
        ("vision_model.temp", "text.logit_scale"),
        long_texts=True,
    ),
)


@dataclass(frozen=True)
class VideoModel:
    """Everything that is known of a model before its network; `title` names its file."""

    file: Path
    title: str
    family: Family
    shape: Shape
    context: Context
    device: torch.device
    dtype: torch.dtype

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"{OWNER}: {self.title}"

    @property
    def dim(self) -> int:
        """Size of the space that videos and texts share."""
        return self.shape.dim

    def fingerprint(self, head: str) -> str:
        """Digest of the file, the dtype and head."""
        return digest(OWNER, 1, files_digest([self.file]), str(self.dtype), head)

    @cached_property
    def network(self) -> VideoTextNetwork:
        """The network with its weights, on its device. A plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.title}")
        with torch.random.fork_rng(devices=[]):  # initial weights are drawn, and overwritten
            network = VideoTextNetwork(self.shape, self.family.long_texts)
        load_state_strictly(
            network,
            self.family.our_tensors(read_state(self.file)),
            f"{self.name} does not fit",
            spare=self.family.spare,
            describe=self.family.published_name,
        )
        network.join_positions()
        return network.eval().requires_grad_(False).to(self.device, self.dtype)

    def text_tower(self) -> TextTower:
        """CLIP's tokenizer and the text encoder; the first text opens the weights."""
        tokenizer = clip_tokenizer()

        @torch.inference_mode()
        def encode(texts: list[str]) -> np.ndarray:
            tokens = tokenizer(texts, self.shape.context).to(self.device)
            features = self.network.text(tokens)
            return np.asarray(features.float().cpu().numpy())

        return TextTower(encode, self.dim, LOGIT_SCALE)

    def image_tower(self) -> ImageTower:
        """The video encoder; its inputs are `frames` frames each. Opens the weights."""
        network = self.network.visual
        shape = self.shape
        mean = torch.tensor(MEAN).view(3, 1, 1)
        std = torch.tensor(STD).view(3, 1, 1)

        def prepare(frames: Sequence[Image.Image]) -> Inputs:
            if len(frames) != shape.frames:
                raise UserError(
                    f"{self.name} looks at {shape.frames} frames together",
                    expected=f"{shape.frames} frames a sample",
                    got=f"{len(frames)}",
                    remedy=f"Sample as many, say with -D frames={shape.frames}.",
                )
            pixels = torch.stack([resize(frame, shape.image_size) for frame in frames])
            normal = (pixels / 255 - mean) / std
            return {"video": normal[None]}

        def encode(inputs: Inputs) -> Tensor:
            embedding: Tensor = network(inputs["video"].to(self.device, self.dtype))
            return embedding

        def canvas(image: Image.Image) -> np.ndarray:
            levels = resize(image, shape.image_size).byte()
            return np.asarray(levels.permute(1, 2, 0).numpy())

        return ImageTower(
            name=self.name,
            prepare=prepare,
            canvas=canvas,
            encode=encode,
            grid=lambda inputs: (shape.side, shape.side),
            blocks=tuple(map(stock_block, network.transformer.resblocks)),
            pooling=Pooling("token"),
            device=self.device,
            frames=shape.frames,
            joint=True,
        )


def resize(image: Image.Image, size: int) -> Tensor:
    """Whole grey levels, float (3, size, size): stretched to a square, bilinear, not smoothed.

    As OpenCV's `resize`, with which the authors make a frame small: within one grey level.
    """
    levels = torch.from_numpy(np.array(image.convert("RGB")))
    pixels = levels.permute(2, 0, 1)[None].float()
    resized = interpolate(pixels, (size, size), mode="bilinear", align_corners=False)
    return resized[0].round()


@cache
def clip_tokenizer() -> SimpleTokenizer:
    """CLIP's own, which both models use."""
    return SimpleTokenizer()


def find_video_model(model: str, revision: str | None, context: Context) -> VideoModel:
    """Find and measure a checkpoint; raises UserError for whatever a person can mend."""
    device = resolve_device(context.device)
    dtype = resolve_dtype(context.dtype)
    file, title = find_checkpoint(model, revision, context)
    tensors = read_state(file)
    family = _family_of(tensors)
    if family is None:
        prefixes = [f"tensors '{family.visual}...'" for family in FAMILIES]
        raise UserError(
            f"{OWNER}: {title} is no checkpoint of ViCLIP or VideoCLIP-XL",
            expected=" or ".join(prefixes),
            got=f"'{next(iter(tensors))}' among {len(tensors)} tensors",
        )
    shape = measure(family.our_tensors(tensors), f"{OWNER}: {title}", family)
    return VideoModel(file, title, family, shape, context, device, dtype)


def _family_of(tensors: Mapping[str, Tensor]) -> Family | None:
    for family in FAMILIES:
        if any(name.startswith(family.visual) for name in tensors):
            return family
    return None


def measure(tensors: Mapping[str, Tensor], name: str, family: Family) -> Shape:
    """The sizes that tensors, by our names, tell; raises UserError for what no model has."""

    def size(tensor: str, axis: int, dims: int) -> int:
        stored = tensors.get(tensor)
        if stored is None or stored.ndim != dims:
            raise UserError(
                f"{name} does not fit",
                expected=f"{family.published_name(tensor)} with {dims} dimensions",
                got="none of this name" if stored is None else f"shape {tuple(stored.shape)}",
            )
        return int(stored.shape[axis])

    places = size("visual.positional_embedding", 0, 2) - 1
    shape = Shape(
        patch=size("visual.conv1.weight", 4, 5),
        side=isqrt(max(places, 0)),
        frames=size("visual.temporal_positional_embedding", 1, 3),
        width=size("visual.conv1.weight", 0, 5),
        layers=_layers(tensors, "visual"),
        dim=size("visual.proj", 1, 2),
        context=size("text.positional_embedding", 0, 2),
        words=size("text.token_embedding.weight", 0, 2),
        text_width=size("text.token_embedding.weight", 1, 2),
        text_layers=_layers(tensors, "text"),
    )
    for what, width in (("video", shape.width), ("text", shape.text_width)):
        if not width or width % HEAD_DIM:
            raise UserError(
                f"{name} does not fit",
                expected=f"a {what} tower whose width is a multiple of {HEAD_DIM}",
                got=f"{width}",
            )
    return shape


def _layers(tensors: Mapping[str, Tensor], tower: str) -> int:
    pattern = re.compile(rf"{tower}\.transformer\.resblocks\.(\d+)\.")
    count = 0
    for name in tensors:
        if match := pattern.match(name):
            count = max(count, int(match[1]) + 1)
    return count


def read_state(file: Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint, or of what training wrote under "model"; raises UserError."""
    content: Any = read_weights(OWNER, file)
    if isinstance(content, dict):
        content = content.get("model", content)
    if not isinstance(content, dict) or not content:
        raise unreadable_weights(OWNER, file, "no mapping of names to tensors")
    tensors = {}
    for name, value in content.items():
        if torch.is_tensor(value):
            tensors[str(name).removeprefix("module.")] = value
    if not tensors:
        raise unreadable_weights(OWNER, file, "no tensor with a name")
    return tensors
