"""The authors' checkpoints: found and measured now, filled into a network when first needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from pathlib import Path

import numpy as np
import torch
from open_clip import SimpleTokenizer
from open_clip.constants import IMAGENET_MEAN, IMAGENET_STD
from PIL import Image
from torch import Tensor
from torch.nn.functional import interpolate

from cuescope_open_clip.towers import stock_block
from cuescope_open_clip.video.files import OWNER, find_checkpoint
from cuescope_open_clip.video.network import HEAD_DIM, Shape, VideoTextNetwork
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import TextTower, require_frames
from cuescope_sdk.torch import (
    Checkpoint,
    ImageTower,
    Inputs,
    Pooling,
    files_digest,
    resolve_device,
    resolve_dtype,
    to_array,
)

VISUAL = "visual."
TEXT = "text."
# the authors' own demonstrations multiply by CLIP's largest (Radford et al., 2021, section 2.5)
LOGIT_SCALE = 100.0


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

    def our_name(self, name: str) -> str:
        """A tensor's name in our network."""
        for theirs, ours in ((self.visual, VISUAL), (self.text, TEXT)):
            if name.startswith(theirs):
                return ours + name.removeprefix(theirs)
        return name

    def published_name(self, name: str) -> str:
        """And back."""
        for theirs, ours in ((self.visual, VISUAL), (self.text, TEXT)):
            if name.startswith(ours):
                return theirs + name.removeprefix(ours)
        return name

    def checkpoint(self, title: str, file: Checkpoint) -> Checkpoint:
        """The tensors by our names; `title` begins errors, which say the authors'."""
        ours = {self.our_name(name): tensor for name, tensor in file.tensors.items()}
        return Checkpoint(title, ours, self.published_name)


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

    def fingerprint(self, head: str) -> str:
        """Digest of the file, the dtype and head."""
        # without the shape, which the file's tensors tell
        return digest(OWNER, 1, files_digest([self.file]), str(self.dtype), head)

    @cached_property
    def network(self) -> VideoTextNetwork:
        """The network with its weights, on its device. A plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.title}")
        # initial weights are drawn, and overwritten
        with torch.random.fork_rng(devices=[]):
            network = VideoTextNetwork(self.shape, self.family.long_texts)
        file = self.family.checkpoint(self.name, Checkpoint.read(OWNER, self.file))
        file.load_into(network, self.family.spare)
        # after the tensors have come by their names
        network.join_positions()
        return network.eval().requires_grad_(False).to(self.device, self.dtype)

    def text_tower(self) -> TextTower:
        """CLIP's tokenizer and the text encoder; the first text opens the weights."""
        tokenizer = SimpleTokenizer()

        @torch.inference_mode()
        def encode(texts: list[str]) -> np.ndarray:
            tokens = tokenizer(texts, self.shape.context).to(self.device)
            return to_array(self.network.text(tokens))

        return TextTower(encode, self.shape.dim, LOGIT_SCALE)

    def image_tower(self) -> ImageTower:
        """The video encoder; its inputs are `frames` frames each. Opens the weights."""
        network = self.network.visual
        shape = self.shape
        mean = torch.tensor(IMAGENET_MEAN).view(3, 1, 1)
        std = torch.tensor(IMAGENET_STD).view(3, 1, 1)

        def prepare(frames: Sequence[Image.Image]) -> Inputs:
            require_frames(self.name, frames, shape.frames)
            pixels = torch.stack([resize(frame, shape.image_size) for frame in frames])
            normal = (pixels / 255 - mean) / std
            return {"video": normal[None]}

        def encode(inputs: Inputs) -> Tensor:
            embedding: Tensor = network(inputs["video"].to(self.device, self.dtype))
            return embedding

        def canvas(image: Image.Image) -> np.ndarray:
            levels = resize(image, shape.image_size).byte()
            return to_array(levels.permute(1, 2, 0))

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


def find_video_model(model: str, revision: str | None, context: Context) -> VideoModel:
    """Find and measure a checkpoint; raises UserError for whatever a person can mend."""
    device = resolve_device(context.device)
    dtype = resolve_dtype(context.dtype)
    file, title = find_checkpoint(model, revision, context)
    published = Checkpoint.read(OWNER, file)
    family = _family_of(published.tensors, title)
    shape = measure(family.checkpoint(f"{OWNER}: {title}", published))
    return VideoModel(file, title, family, shape, context, device, dtype)


def _family_of(tensors: Mapping[str, Tensor], title: str) -> Family:
    for family in FAMILIES:
        if any(name.startswith(family.visual) for name in tensors):
            return family
    prefixes = [f"tensors '{family.visual}...'" for family in FAMILIES]
    raise UserError(
        f"{OWNER}: {title} is no checkpoint of ViCLIP or VideoCLIP-XL",
        expected=" or ".join(prefixes),
        got=f"'{next(iter(tensors))}' among {len(tensors)} tensors",
    )


def measure(file: Checkpoint) -> Shape:
    """The sizes that tensors, by our names, tell; raises UserError for what no model has."""
    # the class token has a place too
    places = file.size("visual.positional_embedding") - 1
    shape = Shape(
        patch=file.size("visual.conv1.weight", 4),
        side=isqrt(max(places, 0)),
        frames=file.size("visual.temporal_positional_embedding", 1),
        width=file.size("visual.conv1.weight"),
        layers=file.layers("visual.transformer.resblocks"),
        dim=file.size("visual.proj", 1),
        context=file.size("text.positional_embedding"),
        words=file.size("text.token_embedding.weight"),
        text_width=file.size("text.token_embedding.weight", 1),
        text_layers=file.layers("text.transformer.resblocks"),
    )
    for what, width in (("video", shape.width), ("text", shape.text_width)):
        if not width or width % HEAD_DIM:
            raise UserError(
                f"{file.title} does not fit",
                expected=f"a {what} tower whose width is a multiple of {HEAD_DIM}",
                got=f"{width}",
            )
    return shape
