"""What both models are built of: BLIP-2's image encoder and Q-Former, and a language model."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn
from transformers import Blip2QFormerConfig, Blip2VisionConfig
from transformers.models.blip_2.modeling_blip_2 import (
    Blip2QFormerModel,
    Blip2VisionModel,
)
from transformers.utils.constants import OPENAI_CLIP_MEAN, OPENAI_CLIP_STD

from cuescope_sdk import Frame, Sample
from cuescope_sdk.grounding import TIMES
from cuescope_sdk.torch import Checkpoint, Pretrained, quiet
from cuescope_video_llm.checkpoints import fill, read_files
from cuescope_video_llm.language import TURN, VideoTokens, continue_prompt
from cuescope_video_llm.options import VideoLLMOptions

Pixels = Float[Tensor, "frame channel row col"]
Values = Float[np.ndarray, "*frame row col 3"]

BETWEEN = (
    1e-5  # default of torch, of the normalisation between image encoder and Q-Former
)


class Network(nn.Module):
    """A video in, tokens for a language model out; sizes come from the tensors."""

    def __init__(
        self,
        file: Checkpoint,
        options: Any,
        language_model: Any,
        tokenizer: Any,
    ) -> None:
        super().__init__()
        self.options = options
        self.tokenizer = tokenizer
        self.title = file.title
        # Kept out of the modules: its weights are its own, and so is its place.
        self._language_model = [language_model]
        self.vision = image_encoder(
            file, options.vision_layers, options.vision_head_dim
        )
        self.side: int = self.vision.config.image_size
        dim = file.size("query_tokens", 2)
        count = file.size("query_tokens", 1)
        self.query_tokens = nn.Parameter(torch.zeros(1, count, dim))
        self.qformer = q_former(
            file, "Qformer", self.vision.config.hidden_size, options.head_dim
        )
        words = language_model.get_input_embeddings().weight.shape[1]
        self.llama_proj = nn.Linear(dim, words)

    @classmethod
    def load(
        cls,
        owner: str,
        files: Mapping[str, Path],
        options: VideoLLMOptions,
        llm: Pretrained,
        tokenizer: Any,
    ) -> Self:
        """The network with all its weights; raises UserError for whatever a person can mend."""
        # first: a file that cannot be read is said before the language model is opened
        file = read_files(owner, files, options.vision_layers)
        with quiet():
            network = cls(file, options, llm.network, tokenizer)
        fill(network, file)
        # where the language model is, which reads its tokens
        return network.eval().requires_grad_(False).to(llm.device, llm.dtype)

    @abstractmethod
    def encode(self, pixels: Pixels) -> VideoTokens:
        """The tokens of a video."""

    @abstractmethod
    def picture(self, frame: Frame) -> Image.Image:
        """A frame as the encoder sees it, square."""

    @abstractmethod
    def conversation(self, sample: Sample, video: Tensor) -> Sequence[str | Tensor]:
        """Words and video, in the order in which they are read."""

    @property
    def stop(self) -> str | None:
        """What begins a next turn."""
        return TURN

    @torch.inference_mode()
    def answer(self, sample: Sample) -> str:
        """The text after the question."""
        video = self.encode(self.pixels(sample.frames))
        parts = self.conversation(sample, video)
        most = self.options.max_new_tokens
        language_model = self._language_model[0]
        return continue_prompt(language_model, self.tokenizer, parts, most, self.stop)

    def pixels(self, frames: Sequence[Frame]) -> Pixels:
        pictures = [np.asarray(self.picture(frame), np.float32) for frame in frames]
        values = torch.from_numpy(normalise(np.stack(pictures)))
        pixels = values.permute(0, 3, 1, 2)
        return pixels.to(next(self.parameters()))

    def note(self, sample: Sample) -> str:
        """What is said of the frames; nothing unless the option `note` says it."""
        # a sample need not know its times
        seconds = [f"{time:.1f}" for time in sample.annotations.get(TIMES, ())]
        text: str = self.options.note
        text = text.replace("{frames}", str(len(sample.frames)))
        return text.replace("{seconds}", ", ".join(seconds))


def normalise(values: Values) -> Values:
    """As CLIP and BLIP-2 were trained, from 0 to 255."""
    centred = values / 255 - np.array(OPENAI_CLIP_MEAN, np.float32)
    return np.asarray(centred / np.array(OPENAI_CLIP_STD, np.float32))


def image_encoder(file: Checkpoint, layers: int, head_dim: int) -> Any:
    """EVA's ViT as BLIP-2 has it, without its last layer."""
    name = "visual_encoder.patch_embed.proj.weight"
    dim = file.size(name)
    patch = file.size(name, 3)
    # the class token has a place too
    places = file.size("visual_encoder.pos_embed", 1) - 1
    side = round(places**0.5)
    config = Blip2VisionConfig(
        hidden_size=dim,
        intermediate_size=file.size("visual_encoder.blocks.0.mlp.fc1.weight"),
        num_hidden_layers=layers,
        num_attention_heads=file.heads(dim, head_dim, "vision_head_dim"),
        image_size=side * patch,
        patch_size=patch,
    )
    network: Any = Blip2VisionModel(config)
    network.post_layernorm.eps = BETWEEN
    return network


def q_former(file: Checkpoint, name: str, read: int, head_dim: int) -> Any:
    """A Q-Former that reads states `read` wide; which layers read them is told by the tensors."""
    prefix = f"{name}.bert.encoder.layer"
    layers = file.layers(prefix)
    dim = file.size(f"{prefix}.0.attention.self.query.weight")
    reading = file.layers_with(prefix, "crossattention.self.query.weight")
    # the second that reads tells how far apart they are; of one only the first reads
    every = reading[1] if len(reading) > 1 else max(layers, 1)
    config = Blip2QFormerConfig(
        hidden_size=dim,
        num_hidden_layers=layers,
        num_attention_heads=file.heads(dim, head_dim),
        # the queries' own: that of texts is left out
        intermediate_size=file.size(f"{prefix}.0.intermediate_query.dense.weight"),
        encoder_hidden_size=read,
        cross_attention_frequency=every,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    network: Any = Blip2QFormerModel(config)
    return network
