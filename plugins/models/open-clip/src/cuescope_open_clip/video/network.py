"""The networks of ViCLIP and VideoCLIP-XL, of open_clip's own transformers.

Module names are those of the authors' checkpoints, so that their tensors fit by name.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from open_clip.transformer import QuickGELU, TextTransformer, Transformer
from torch import Tensor, nn

HEAD_DIM = 64  # of every head, in all sizes of CLIP (Radford et al., 2021, table 20)
# LongCLIP's (Zhang et al., 2024): the first are CLIP's own, those after them trained anew
KEPT_POSITIONS = 20


@dataclass(frozen=True)
class Shape:
    """The sizes of a model; `side` is in patches, `patch` in pixels."""

    patch: int
    side: int
    frames: int
    width: int
    layers: int
    dim: int
    context: int
    words: int
    text_width: int
    text_layers: int

    @property
    def image_size(self) -> int:
        """Pixels of a frame's side."""
        return self.patch * self.side


class VideoTransformer(nn.Module):
    """A ViT over the patches of all frames together (ViCLIP, section 4.1).

    A patch has the embedding of its place and that of its frame's number; one class token, which
    has that of its place alone, becomes the embedding of the video.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        places = shape.side**2
        # one frame deep: patches mix no frames
        kernel = (1, shape.patch, shape.patch)
        self.conv1 = nn.Conv3d(3, width, kernel, stride=kernel, bias=False)
        # empty: the checkpoint fills all of it
        self.class_embedding = nn.Parameter(torch.empty(width))
        self.positional_embedding = nn.Parameter(torch.empty(places + 1, width))
        self.temporal_positional_embedding = nn.Parameter(
            torch.empty(1, shape.frames, width)
        )
        self.ln_pre = nn.LayerNorm(width)
        heads = width // HEAD_DIM
        self.transformer = Transformer(width, shape.layers, heads, act_layer=QuickGELU)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.empty(width, shape.dim))

    def forward(
        self, video: Float[Tensor, "video frame 3 height width"]
    ) -> Float[Tensor, "video dim"]:
        """Embeddings, before they are normalised."""
        places = self.positional_embedding
        times = self.temporal_positional_embedding[:, :, None]
        # Conv3d takes channels before frames
        patches = self.conv1(video.transpose(1, 2)).flatten(3).permute(0, 2, 3, 1)
        patches = patches + places[1:] + times  # (video, frame, place, width)
        first = (self.class_embedding + places[0]).expand(len(video), 1, -1)
        tokens = torch.cat([first, patches.flatten(1, 2)], dim=1)
        states = self.transformer(self.ln_pre(tokens))
        embedding: Tensor = self.ln_post(states[:, 0]) @ self.proj
        return embedding


class VideoTextNetwork(nn.Module):
    """Both towers; with `long_texts` the text tower has LongCLIP's two tables of positions."""

    def __init__(self, shape: Shape, long_texts: bool) -> None:
        super().__init__()
        self.visual = VideoTransformer(shape)
        self.text = TextTransformer(
            shape.context,
            shape.words,
            shape.text_width,
            shape.text_width // HEAD_DIM,
            shape.text_layers,
            output_dim=shape.dim,
            act_layer=QuickGELU,
        )
        if long_texts:
            positions = torch.empty_like(self.text.positional_embedding)
            self.text.register_parameter(
                "positional_embedding_res", nn.Parameter(positions)
            )

    @torch.no_grad()
    def join_positions(self) -> None:
        """Make one table of LongCLIP's two: a place has its embedding from one of them."""
        if hasattr(self.text, "positional_embedding_res"):
            table = self.text.positional_embedding
            later = self.text.positional_embedding_res
            table[KEPT_POSITIONS:] = later[KEPT_POSITIONS:]
