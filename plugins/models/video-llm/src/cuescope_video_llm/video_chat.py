"""VideoChat (Li et al., 2023): BLIP-2's image encoder, read across frames as in UniFormerV2."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from cuescope_sdk import Frame, Sample
from cuescope_sdk.torch import Checkpoint
from cuescope_video_llm.language import AFTER, BEFORE, TURN, VideoTokens
from cuescope_video_llm.network import Network, Pixels

Query = Float[Tensor, "1 1 dim"]


class GlobalAttention(nn.Module):
    """One query reads all tokens of all frames: a "global MHRA" of UniFormerV2 (Li et al., 2022).

    Places in time and picture come from a depthwise convolution over the patches.
    """

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.dpe = nn.Conv3d(dim, dim, kernel_size=3, padding=1, groups=dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ln_1 = nn.LayerNorm(dim)
        self.ln_2 = nn.LayerNorm(dim)
        self.ln_3 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential()
        self.mlp.add_module("c_fc", nn.Linear(dim, hidden))
        self.mlp.add_module("gelu", nn.GELU())
        self.mlp.add_module("c_proj", nn.Linear(hidden, dim))

    def forward(self, query: Query, tokens: Float[Tensor, "frame token dim"]) -> Query:
        """The query after it has read; the first token of a frame is no patch."""
        states = self.ln_3(tokens)
        frames, count, dim = states.shape
        side = round((count - 1) ** 0.5)
        patches = states[:, 1:]
        # frames become the depth of the convolution
        grid = patches.view(1, frames, side, side, dim)
        convolved = self.dpe(grid.permute(0, 4, 1, 2, 3))
        places = convolved.permute(0, 2, 3, 4, 1).reshape(frames, side * side, dim)
        first = states[:, :1]
        states = torch.cat([first, patches + places], dim=1)
        states = states.reshape(1, -1, dim)
        read, _ = self.attn(self.ln_1(query), states, states, need_weights=False)
        query = query + read
        return query + self.mlp(self.ln_2(query))  # type: ignore[no-any-return]


class VideoChatNetwork(Network):
    """All tokens of all frames and the query that read them go to the Q-Former, with 64 more
    queries than BLIP-2 has."""

    def __init__(
        self,
        file: Checkpoint,
        options: Any,
        language_model: Any,
        tokenizer: Any,
    ) -> None:
        super().__init__(file, options, language_model, tokenizer)
        config = self.vision.config
        dim = config.hidden_size
        heads = config.num_attention_heads
        more = file.size("extra_query_tokens", 1)
        width = file.size("extra_query_tokens", 2)
        self.extra_query_tokens = nn.Parameter(torch.zeros(1, more, width))
        hidden = file.size("visual_encoder.gmhra.0.mlp.c_fc.weight")
        count = file.layers("visual_encoder.gmhra")
        self.gmhra_cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.gmhra = nn.ModuleList(
            GlobalAttention(dim, heads, hidden) for _ in range(count)
        )

    def encode(self, pixels: Pixels) -> VideoTokens:
        """The last layers of the encoder are read across frames, one after another."""
        states = self.vision.embeddings(pixels)
        query = self.gmhra_cls_token
        layers = self.vision.encoder.layers
        first = len(layers) - len(self.gmhra)
        for index, layer in enumerate(layers):
            states = layer(states)
            if index >= first:
                query = self.gmhra[index - first](query, states)
        tokens = states.flatten(0, 1)[None]
        video = torch.cat([tokens, query], dim=1)
        queries = torch.cat([self.query_tokens, self.extra_query_tokens], dim=1)
        video = self.vision.post_layernorm(video)
        output = self.qformer(query_embeds=queries, encoder_hidden_states=video)
        rows = output.last_hidden_state.to(self.llama_proj.weight.dtype)
        return self.llama_proj(rows)  # type: ignore[no-any-return]

    def picture(self, frame: Frame) -> Image.Image:
        """The middle of a frame whose shorter side was fitted."""
        image = frame.load()
        scale = self.side / min(image.size)
        # rounding must not make a side shorter than the crop
        width, height = (max(round(length * scale), self.side) for length in image.size)
        left = (width - self.side) // 2
        top = (height - self.side) // 2
        resized = image.resize((width, height), Image.Resampling.BICUBIC)
        return resized.crop((left, top, left + self.side, top + self.side))

    def conversation(self, sample: Sample, video: Tensor) -> Sequence[str | Tensor]:
        """A turn with the video and what is said of it, and a turn with the question."""
        said = " ".join(filter(None, (AFTER, self.note(sample))))
        turn = f"{said}\n{TURN}Human: {sample.question or ''}\n{TURN}Assistant:"
        return [f"{self.options.system}{TURN}Human: {BEFORE}", video, turn]
