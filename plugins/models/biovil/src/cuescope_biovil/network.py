"""BioViL-T's networks, of torchvision's ResNet and transformers' BERT.

Module names are those of the authors' checkpoints, so that their tensors fit by name.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
from transformers import BertConfig, BertModel

from cuescope_sdk.torch import split_heads

HEADS = 8  # default of VisionTransformerPooler in hi-ml-multimodal: no tensor tells it
STRIDE = 32  # pixels of a side that a ResNet makes one patch (He et al., 2016)
Tokens = Float[Tensor, "image token dim"]
Patches = Float[Tensor, "image dim row col"]
Images = Float[Tensor, "sample time 3 height width"]


@dataclass(frozen=True)
class ImageShape:
    """Blocks of the ResNet's four stages, and the widths behind it."""

    stages: tuple[int, ...]
    bottleneck: bool
    width: int
    layers: int
    dim: int


class PoolerAttention(nn.Module):
    """Self-attention whose queries, keys and values have no bias."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.proj_q = nn.Linear(width, width, bias=False)
        self.proj_k = nn.Linear(width, width, bias=False)
        self.proj_v = nn.Linear(width, width, bias=False)
        self.proj = nn.Linear(width, width)

    def forward(self, tokens: Tokens) -> Tokens:
        """Tokens after they have looked at each other."""
        query = split_heads(self.proj_q(tokens), HEADS)
        key = split_heads(self.proj_k(tokens), HEADS)
        value = split_heads(self.proj_v(tokens), HEADS)
        mixed = scaled_dot_product_attention(query, key, value)
        joined = mixed.transpose(1, 2).flatten(2)
        output: Tensor = self.proj(joined)
        return output


class PoolerBlock(nn.Module):
    """A residual block; where and when a patch is, is told to each block anew."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.attn = PoolerAttention(width)
        layers = {
            "fc1": nn.Linear(width, width),
            "gelu": nn.GELU(),
            "fc2": nn.Linear(width, width),
        }
        self.mlp = nn.Sequential(OrderedDict(layers))

    def forward(self, tokens: Tokens, where: Float[Tensor, "token dim"]) -> Tokens:
        """Places are added to what attention sees, values too, and not to the residual."""
        seen = self.norm1(tokens) + where
        tokens = tokens + self.attn(seen)
        normed = self.norm2(tokens)
        output: Tensor = tokens + self.mlp(normed)
        return output


class Pooler(nn.Module):
    """The patches of both images, which look at each other; those of the current one come back."""

    def __init__(self, shape: ImageShape) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            PoolerBlock(shape.width) for _ in range(shape.layers)
        )
        self.norm_post = nn.LayerNorm(shape.width, eps=1e-6)
        # of the current image, of the previous one
        self.type_embed = nn.Parameter(torch.empty(2, 1, shape.width))

    def forward(self, current: Patches, previous: Patches) -> Patches:
        """What changed, at each place of the current image."""
        places = sine_positions(*current.shape[1:]).to(current)
        # current and previous, in the order of `images`
        where = torch.cat([places + when for when in self.type_embed])
        both = [current.flatten(2), previous.flatten(2)]
        patches = torch.cat(both, dim=2)
        tokens = patches.transpose(1, 2)
        for block in self.blocks:
            tokens = block(tokens, where)
        normed: Tensor = self.norm_post(tokens)
        # the earlier image's patches were only to be looked at
        rows = normed[:, : len(places)]
        return rows.transpose(1, 2).reshape(current.shape)


def sine_positions(dim: int, rows: int, cols: int) -> Float[Tensor, "place dim"]:
    """DETR's sine embedding of a place (Carion et al., 2020): half of it the row, half the column.

    Rows and columns count from 1 and end at 2 pi; sines and cosines take turns.
    """
    half = dim // 2
    number = torch.arange(half)
    # the sine and the cosine of a pair share their wavelength
    pair = number.div(2, rounding_mode="floor")
    wavelength = 10_000 ** (2 * pair / half)

    def waves(count: int) -> Tensor:
        # 1e-6 as in DETR: the network was trained with it
        share = torch.arange(1, count + 1) / (count + 1e-6)
        turn = share * 2 * math.pi
        angles = turn[:, None] / wavelength
        sines = angles[:, 0::2].sin()
        cosines = angles[:, 1::2].cos()
        pairs = torch.stack([sines, cosines], dim=2)
        return pairs.flatten(1)

    row = waves(rows)[:, None].expand(rows, cols, half)
    col = waves(cols)[None].expand(rows, cols, half)
    grid = torch.cat([row, col], dim=2)
    return grid.flatten(0, 1)


class PairEncoder(nn.Module):
    """A ResNet for each image, and the pooler for what changed; without a previous image a vector
    that was learned stands in for that."""

    def __init__(self, shape: ImageShape) -> None:
        super().__init__()
        block = Bottleneck if shape.bottleneck else BasicBlock
        self.encoder = ResNet(block, list(shape.stages))
        # 512: what the last stage has before its blocks widen it
        channels = 512 * block.expansion
        self.backbone_to_vit = nn.Conv2d(channels, shape.width, 1, bias=False)
        self.vit_pooler = Pooler(shape)
        self.missing_previous_emb = nn.Parameter(torch.empty(1, shape.width, 1, 1))

    def forward(self, images: Images) -> Float[Tensor, "sample dim row col"]:
        """Of each place what is there, and what changed; of two images the last is current."""
        samples, times = images.shape[:2]
        states = self._patches(images.flatten(0, 1))
        narrow = self.backbone_to_vit(states)
        patches = narrow.unflatten(0, (samples, times))
        current = patches[:, -1]
        if times == 1:
            changed = self.missing_previous_emb.expand_as(current)
        else:
            changed = self.vit_pooler(current, patches[:, 0])
        return torch.cat([current, changed], dim=1)

    def _patches(self, images: Float[Tensor, "image 3 height width"]) -> Tensor:
        net = self.encoder
        stem = (net.conv1, net.bn1, net.relu, net.maxpool)
        # without torchvision's pooling and classifier: each place is needed
        stages = (net.layer1, net.layer2, net.layer3, net.layer4)
        states = images
        for layer in (*stem, *stages):
            states = layer(states)
        return states


class ImageNetwork(nn.Module):
    """The image model: the mean over places of what the projector makes of each."""

    def __init__(self, shape: ImageShape) -> None:
        super().__init__()
        self.encoder = PairEncoder(shape)
        to_dim = nn.Sequential(
            nn.Conv2d(2 * shape.width, shape.dim, 1, bias=False),
            nn.BatchNorm2d(shape.dim),
            nn.ReLU(),
            nn.Conv2d(shape.dim, shape.dim, 1),
        )
        self.projector = nn.Sequential(OrderedDict(model=to_dim))

    def forward(self, images: Images) -> Float[Tensor, "sample dim"]:
        """Embeddings, before they are normalised."""
        patches = self.encoder(images)
        places: Tensor = self.projector(patches)
        return places.mean(dim=(2, 3))


class TextNetwork(nn.Module):
    """CXR-BERT without what it guesses masked words with."""

    def __init__(self, config: BertConfig, dim: int) -> None:
        super().__init__()
        # the first token itself is projected, so that no pooler is needed
        self.bert = BertModel(config, add_pooling_layer=False)
        # of the first token (Boecking et al., 2022)
        layers = {
            "dense_to_hidden": nn.Linear(config.hidden_size, dim),
            "gelu": nn.GELU(),
            "LayerNorm": nn.LayerNorm(dim, eps=1e-12),
            "dense_to_output": nn.Linear(dim, dim),
        }
        self.cls_projection_head = nn.Sequential(OrderedDict(layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Float[Tensor, "text dim"]:
        """Embeddings, before they are normalised."""
        answer = self.bert(input_ids=ids, attention_mask=mask)
        first = answer.last_hidden_state[:, 0]
        embedding: Tensor = self.cls_projection_head(first)
        return embedding
