"""All-in-one (Wang et al., 2023): words and the patches of a frame go through one ViT together.

There is a sequence for each frame, the words in every one of them. Before each layer an eighth of
the patches goes on to the next frame, and another eighth back to the one before. The sequences are
averaged at the end. Deviates: the published code shuffles patches without a seed, so that chance
decides which of them travel; here it is the first and last ones. Modules have the names of the
authors' checkpoints.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers.utils.constants import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD

from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.models import require_frames
from cuescope_sdk.report import count_of
from cuescope_sdk.torch import Checkpoint, fused_self_attention
from cuescope_videoqa.network import (
    BERT,
    Batch,
    Network,
    Prompt,
    Scores,
    bert_config,
    fusion_shape,
    token_ids,
)

States = Float[Tensor, "row token dim"]

EPSILON = 1e-6  # default of timm's VisionTransformer
# one patch of so many goes on, and one goes back: default of the authors' TemporalRoll
EXCHANGE = 8
CLASSIFIER = "vqa_classifier"
CHOOSER = "mc_vqa_classifier"
# Of pretraining tasks, which the released checkpoints still hold.
OTHER_HEADS = (
    "mlm_score.",
    "itm_score.",
    "mpp_score.",
    "txt_proj.",
    "vid_proj.",
    "rank_output",
    "vcop_",
    "nlvr2_",
    "train_",
    "val_",
    "test_",
)


class Block(nn.Module):
    """A ViT's block; its attention is a fusion layer."""

    def __init__(self, dim: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, EPSILON)
        self.norm2 = nn.LayerNorm(dim, EPSILON)
        self.attn = nn.ModuleDict()
        self.attn["qkv"] = nn.Linear(dim, 3 * dim)
        self.attn["proj"] = nn.Linear(dim, dim)
        self.mlp = nn.Sequential()
        self.mlp.add_module("fc1", nn.Linear(dim, hidden))
        self.mlp.add_module("gelu", nn.GELU())
        self.mlp.add_module("fc2", nn.Linear(hidden, dim))
        self._heads = heads

    def forward(self, states: States, mask: Tensor, number: int) -> States:
        """The states after the block, the `number`-th."""
        inputs = self.norm1(states)
        # One stock layer holds all three projections; the fusion needs queries, keys, values apart.
        qkv: Any = self.attn["qkv"]
        weights = qkv.weight.chunk(3)
        biases = qkv.bias.chunk(3)
        query, key, value = (
            partial(linear, weight=weight, bias=bias)
            for weight, bias in zip(weights, biases, strict=True)
        )
        mixed = fused_self_attention(
            inputs,
            query,
            key,
            value,
            heads=self._heads,
            layer=number,
            mask=mask,
        )
        states = states + self.attn["proj"](mixed)
        return states + self.mlp(self.norm2(states))  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """The ViT: patches, their positions in frame and time, blocks."""

    def __init__(self, file: Checkpoint, head_dim: int) -> None:
        super().__init__()
        name = "transformer.patch_embed.proj.weight"
        dim = file.size(name)
        patch = file.size(name, 2)
        positions = file.size("transformer.pos_embed", 1)
        self.frames = file.size("transformer.temporal_embed", 1)
        # one of the positions is the class token's
        self.side = round((positions - 1) ** 0.5) * patch
        hidden = file.size("transformer.blocks.0.mlp.fc1.weight")
        heads = file.heads(dim, head_dim)
        self.patch_embed = nn.ModuleDict(
            {"proj": nn.Conv2d(3, dim, patch, stride=patch)}
        )
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, positions, dim))
        self.temporal_embed = nn.Parameter(torch.zeros(1, self.frames, dim))
        count = file.layers("transformer.blocks")
        self.blocks = nn.ModuleList(Block(dim, hidden, heads) for _ in range(count))
        self.norm = nn.LayerNorm(dim, EPSILON)
        self.shape = fusion_shape(count, heads, dim, 2 * dim * hidden)

    def patches(self, pixels: Float[Tensor, "batch frame 3 side side"]) -> Tensor:
        """Tokens (batch frame) (class token, then patches)."""
        batch = len(pixels)
        grids = self.patch_embed["proj"](pixels.flatten(0, 1))
        patches = grids.flatten(2).transpose(1, 2)
        cls = self.cls_token.expand(len(patches), -1, -1)
        tokens = torch.cat([cls, patches], 1) + self.pos_embed
        tokens = tokens.reshape(batch, -1, *tokens.shape[1:])
        # The class token has no place in time: each frame has its own copy.
        tokens[:, :, 1:] += self.temporal_embed[:, :, None]
        return tokens.flatten(0, 1)


class AllInOneNetwork(Network):
    """The authors' modules under their names."""

    owner = "all-in-one"

    def __init__(self, file: Checkpoint, options: Any) -> None:
        super().__init__(file, options)
        self.transformer = Transformer(file, options.head_dim)
        self.fusion = self.transformer.shape
        dim = self.fusion.dim
        words = "text_embeddings.word_embeddings.weight"
        positions = file.size("text_embeddings.position_embeddings.weight")
        config = bert_config(dim, dim, self.fusion.heads, file.size(words), positions)
        self.text_embeddings = BERT.BertEmbeddings(config)
        self.token_type_embeddings = nn.Embedding(
            file.size("token_type_embeddings.weight"), dim
        )
        self.pooler = nn.ModuleDict({"dense": nn.Linear(dim, dim)})
        chooses = file.has(CHOOSER)
        self.head_name = CHOOSER if chooses else CLASSIFIER
        other_head = CLASSIFIER if chooses else CHOOSER
        self.unused = (*OTHER_HEADS, f"{other_head}.")
        top: Any = head(file, self.head_name)
        self.add_module(self.head_name, top)
        classes = top[
            -1
        ].out_features  # one may be left over, for all answers that are none
        if chooses:
            # its class is no answer: it is the score of the choice in the prompt
            self.vocabulary = ()
            self.without_vocabulary = (
                "This checkpoint takes multiple-choice questions alone."
            )
        elif not 0 < len(self.vocabulary) <= classes:
            raise UserError(
                f"{file.title}: the answers that its classes stand for",
                expected=f"up to {classes:,} of them with -O model.answers=FILE, "
                "the authors' ans2label.json",
                got=f"{len(self.vocabulary):,}",
            )

    def prompts(self, sample: Sample) -> list[Prompt]:
        """One prompt; or one a choice, which comes after the list of all choices."""
        question = sample.question or ""
        if self.head_name == CLASSIFIER:
            return [Prompt(sample.key, sample.frames, question)]
        before = f"{question}Options: {' '.join(sample.choices)}Answer: "
        # an open question has a prompt too, for `attention` and `modalities`
        choices = sample.choices or ("",)
        return [
            Prompt(sample.key, sample.frames, f"{before}{choice}") for choice in choices
        ]

    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """A row a frame, the words in each; one row of words where nothing is shown."""
        positions = self.text_embeddings.position_embeddings.num_embeddings
        ids = token_ids(self.tokenizer, [prompt.text for prompt in prompts], positions)
        count = len(prompts[0].frames)  # batches have one number of frames
        rows = count or 1
        ids = ids.repeat_interleave(rows, dim=0)
        present = ids != self.tokenizer.pad_token_id
        modality = present * TEXT
        inputs = {"ids": ids}
        if count:
            require_frames(
                f"{self.owner}: this checkpoint",
                prompts[0].frames,
                self.transformer.frames,
            )
            side = self.transformer.side
            pixels = []
            for prompt in prompts:
                frames = [preprocess(frame, side) for frame in prompt.frames]
                pixels.append(torch.stack(frames))
            inputs["pixels"] = torch.stack(pixels).to(self.dtype)
            tokens = self.transformer.pos_embed.shape[1]
            video = torch.full((len(ids), tokens), VIDEO)
            modality = torch.cat([modality, video], dim=1)
        return self.on_device(modality, rows, **inputs)

    def forward(self, batch: Batch) -> list[Tensor]:
        """The output of the head for each prompt."""
        ids = batch.inputs["ids"]
        words = ids.shape[1]
        modality = self.token_type_embeddings.weight
        states = self.text_embeddings(input_ids=ids) + modality[0]
        if "pixels" in batch.inputs:
            patches = self.transformer.patches(batch.inputs["pixels"])
            states = torch.cat([states, patches + modality[1]], dim=1)
        mask = batch.modality != OTHER
        for number, block in enumerate(self.transformer.blocks):
            patches = exchange_patches(states[:, words:], batch.rows)
            tokens = torch.cat([states[:, :words], patches], dim=1)
            states = block(tokens, mask, number)
        first = self.transformer.norm(states[:, 0])
        # A sequence a frame: their class tokens (or [CLS] without a video) are averaged.
        first = first.reshape(-1, batch.rows, first.shape[-1]).mean(1)
        pooled = torch.tanh(self.pooler["dense"](first))
        return list(self.get_submodule(self.head_name)(pooled))

    def score(
        self,
        states: Sequence[Tensor],
        sample: Sample,
        answers: tuple[str, ...],
    ) -> Scores:
        """Logits by the vocabulary, where an unknown answer has the lowest; or one a choice."""
        if self.head_name == CHOOSER:
            return torch.cat(list(states))
        logits = states[0][: len(self.vocabulary)]
        numbers = {answer: number for number, answer in enumerate(self.vocabulary)}
        if numbers.keys().isdisjoint(answers):
            raise UserError(
                f"{self.owner}: sample '{sample.key}' has no choice that is in the vocabulary",
                expected=f"one of its {count_of(len(numbers), 'answers')}",
                got=", ".join(answers[:3]),
            )
        # An answer outside the vocabulary loses to every one that is in it.
        lowest = logits.min() - 1
        rows = [
            logits[numbers[answer]] if answer in numbers else lowest
            for answer in answers
        ]
        return torch.stack(rows)


def exchange_patches(patches: States, frames: int) -> States:
    """Some of the first patches after the class token come from the frame before, the last ones
    from the frame after; in a circle.
    """
    count = patches.shape[1] // EXCHANGE
    if not count:
        return patches
    video = patches.reshape(-1, frames, *patches.shape[1:])
    # The class token stays: it is no patch.
    sizes = [1, count, video.shape[2] - 1 - 2 * count, count]
    cls, onward, staying, back = torch.split(video, sizes, dim=2)
    parts = [cls, onward.roll(1, 1), staying, back.roll(-1, 1)]
    return torch.cat(parts, dim=2).flatten(0, 1)


def preprocess(frame: Frame, side: int) -> Float[Tensor, "3 side side"]:
    """The middle of the frame after its shorter side became 1.2 times `side`."""
    image = frame.load()
    short = int(side * 1.2)  # the authors' eval transform, rounding included
    shorter = min(image.size)
    scaled = [int(short * length / shorter) for length in image.size]
    image = image.resize(scaled, Image.Resampling.BILINEAR)
    left, top = (round((length - side) / 2) for length in scaled)
    middle = image.crop((left, top, left + side, top + side))
    pixels = np.asarray(middle, dtype=np.float32) / 255
    centred = pixels - np.array(IMAGENET_DEFAULT_MEAN, np.float32)
    pixels = centred / np.array(IMAGENET_DEFAULT_STD, np.float32)
    return torch.from_numpy(pixels).permute(2, 0, 1)


def head(file: Checkpoint, name: str) -> nn.Sequential:
    """Two linear layers with norm and GELU between them; dropout may have the number before."""
    # Releases differ in whether the dropout before is counted.
    before = [] if file.has(f"{name}.0") else [nn.Identity()]
    first = f"{name}.{len(before)}.weight"
    last = f"{name}.{len(before) + 3}.weight"
    inner = file.size(first)
    return nn.Sequential(
        *before,
        nn.Linear(file.size(first, 1), inner),
        nn.LayerNorm(inner),
        nn.GELU(),
        nn.Linear(inner, file.size(last)),
    )
