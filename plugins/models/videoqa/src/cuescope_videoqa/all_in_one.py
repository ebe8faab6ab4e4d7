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
from jaxtyping import Float, Int8
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import linear

from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.torch import fused_self_attention
from cuescope_videoqa.checkpoints import Checkpoint
from cuescope_videoqa.network import (
    BERT,
    Batch,
    Network,
    Prompt,
    bert_config,
    fusion_shape,
    token_ids,
)

EPSILON = 1e-6
EXCHANGE = 8  # one patch of so many goes on, and one goes back
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLASSIFIER, CHOOSER = "vqa_classifier", "mc_vqa_classifier"
# Of pretraining tasks, which the released checkpoints still hold.
_HEADS = "mlm_score. itm_score. mpp_score. txt_proj. vid_proj. rank_output vcop_ nlvr2_"
OTHER_HEADS = (*_HEADS.split(), "train_", "val_", "test_")


class Block(nn.Module):
    """A ViT's block; its attention is a fusion layer."""

    def __init__(self, dim: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim, EPSILON), nn.LayerNorm(dim, EPSILON)
        self.attn = nn.ModuleDict({"qkv": nn.Linear(dim, 3 * dim), "proj": nn.Linear(dim, dim)})
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(dim, hidden), "fc2": nn.Linear(hidden, dim)})
        self._heads = heads

    def forward(
        self, states: Float[Tensor, "row token dim"], mask: Tensor, number: int
    ) -> Float[Tensor, "row token dim"]:
        """The states after the block, the `number`-th."""
        qkv = self.attn["qkv"]
        # One stock layer holds all three projections; the fusion needs queries, keys, values apart.
        parts = zip(qkv.weight.chunk(3), qkv.bias.chunk(3), strict=True)  # type: ignore[operator]
        query, key, value = (partial(linear, weight=weight, bias=bias) for weight, bias in parts)
        mixed = fused_self_attention(
            self.norm1(states), query, key, value, heads=self._heads, layer=number, mask=mask
        )
        states = states + self.attn["proj"](mixed)
        inner = nn.functional.gelu(self.mlp["fc1"](self.norm2(states)))
        return states + self.mlp["fc2"](inner)  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """The ViT: patches, their positions in frame and time, blocks."""

    def __init__(self, file: Checkpoint, head_dim: int) -> None:
        super().__init__()
        name = "transformer.patch_embed.proj.weight"
        dim, patch = file.size(name), file.size(name, 2)
        positions = file.size("transformer.pos_embed", 1)
        self.frames = file.size("transformer.temporal_embed", 1)
        self.side = round((positions - 1) ** 0.5) * patch
        hidden = file.size("transformer.blocks.0.mlp.fc1.weight")
        heads = file.heads(dim, head_dim)
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, dim, patch, stride=patch)})
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
        tokens = self.patch_embed["proj"](pixels.flatten(0, 1)).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls_token.expand(len(tokens), -1, -1), tokens], 1) + self.pos_embed
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
        self.token_type_embeddings = nn.Embedding(file.size("token_type_embeddings.weight"), dim)
        self.pooler = nn.ModuleDict({"dense": nn.Linear(dim, dim)})
        self.head_name = CHOOSER if file.has(CHOOSER) else CLASSIFIER
        top: Any = head(file, self.head_name)
        self.add_module(self.head_name, top)
        classes = top[-1].out_features  # one may be left over, for all answers that are none
        self.unused = (*OTHER_HEADS, f"{CLASSIFIER if self.head_name == CHOOSER else CHOOSER}.")
        if self.head_name == CHOOSER:
            self.vocabulary = ()
            self.without_vocabulary = "This checkpoint takes multiple-choice questions alone."
        elif not 0 < len(self.vocabulary) <= classes:
            raise UserError(
                f"{self.owner}: the answers that the classes of {file.title} stand for",
                expected=f"up to {classes:,} of them with -M answers=FILE, "
                "the authors' ans2label.json",
                got=f"{len(self.vocabulary):,}",
            )

    def prompts(self, sample: Sample) -> list[Prompt]:
        """One prompt; or one a choice, which comes after the list of all choices."""
        question = sample.question or ""
        if self.head_name == CLASSIFIER:
            return [Prompt(sample.key, sample.frames, question)]
        before = f"{question}Options: {' '.join(sample.choices)}Answer: "
        choices = sample.choices or ("",)
        return [Prompt(sample.key, sample.frames, f"{before}{choice}") for choice in choices]

    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """A row a frame, the words in each; one row of words where nothing is shown."""
        positions = self.text_embeddings.position_embeddings.num_embeddings
        ids = token_ids(self.tokenizer, [prompt.text for prompt in prompts], positions)
        count = len(prompts[0].frames)  # batches have one number of frames
        rows = count or 1
        ids = ids.repeat_interleave(rows, dim=0)
        modality: Int8[Tensor, "row token"] = (ids != self.tokenizer.pad_token_id).to(torch.int8)
        modality = modality * TEXT
        inputs = {"ids": ids}
        if count:
            self._require_frames(count)
            side = self.transformer.side
            pixels = [torch.stack([preprocess(f, side) for f in p.frames]) for p in prompts]
            inputs["pixels"] = torch.stack(pixels).to(self.dtype)
            video = torch.full((len(ids), self.transformer.pos_embed.shape[1]), VIDEO)
            modality = torch.cat([modality, video.to(torch.int8)], dim=1)
        return self.on_device(modality, rows, **inputs)

    def _require_frames(self, count: int) -> None:
        wanted = self.transformer.frames
        if count != wanted:
            raise UserError(
                f"{self.owner}: this checkpoint looks at {wanted} frames together",
                expected=f"{wanted} frames a sample",
                got=str(count),
                remedy=f"Sample as many, say with -D frames={wanted}.",
            )

    def forward(self, batch: Batch) -> list[Tensor]:
        """The output of the head for each prompt."""
        ids = batch.inputs["ids"]
        states = self.text_embeddings(input_ids=ids) + self.token_type_embeddings.weight[0]
        if "pixels" in batch.inputs:
            patches = self.transformer.patches(batch.inputs["pixels"])
            states = torch.cat([states, patches + self.token_type_embeddings.weight[1]], dim=1)
        mask = batch.modality != OTHER
        for number, block in enumerate(self.transformer.blocks):
            patches = exchange_patches(states[:, ids.shape[1] :], batch.rows)
            states = block(torch.cat([states[:, : ids.shape[1]], patches], dim=1), mask, number)
        first = self.transformer.norm(states[:, 0])
        # A sequence a frame: their class tokens (or [CLS] without a video) are averaged.
        first = first.reshape(-1, batch.rows, first.shape[-1]).mean(1)
        pooled = torch.tanh(self.pooler["dense"](first))
        return list(self.get_submodule(self.head_name)(pooled))

    def score(
        self, states: Sequence[Tensor], sample: Sample, answers: tuple[str, ...]
    ) -> Float[Tensor, " answer"]:
        """Logits by the vocabulary, where an unknown answer has the lowest; or one a choice."""
        if self.head_name == CHOOSER:
            return torch.cat(list(states))
        logits = states[0][: len(self.vocabulary)]
        known = {answer: number for number, answer in enumerate(self.vocabulary)}
        if not any(answer in known for answer in answers):
            raise UserError(
                f"{self.owner}: sample '{sample.key}' has no choice that is in the vocabulary",
                expected=f"one of its {len(known):,} answers",
                got=", ".join(answers[:3]),
            )
        # An answer outside the vocabulary loses to every one that is in it.
        rows = [logits[known[a]] if a in known else logits.min() - 1 for a in answers]
        return torch.stack(rows)


def exchange_patches(
    patches: Float[Tensor, "row token dim"], frames: int
) -> Float[Tensor, "row token dim"]:
    """Some of the first patches after the class token come from the frame before, the last ones
    from the frame after; in a circle.
    """
    count = patches.shape[1] // EXCHANGE
    if not count:
        return patches
    video = patches.reshape(-1, frames, *patches.shape[1:])
    # The class token stays: it is no patch.
    onward, back = video[:, :, 1 : count + 1], video[:, :, -count:]
    parts = [video[:, :, :1], onward.roll(1, 1), video[:, :, count + 1 : -count], back.roll(-1, 1)]
    return torch.cat(parts, dim=2).flatten(0, 1)


def preprocess(frame: Frame, side: int) -> Float[Tensor, "3 side side"]:
    """The middle of the frame after its shorter side became 1.2 times `side`."""
    image = frame.load()
    width, height = image.size
    short = int(side * 1.2)  # the authors' eval transform, rounding included
    scaled = [int(short * length / min(width, height)) for length in (width, height)]
    image = image.resize(scaled, Image.Resampling.BILINEAR)
    left, top = (round((size - side) / 2) for size in image.size)
    pixels = np.asarray(image.crop((left, top, left + side, top + side)), dtype=np.float32) / 255
    pixels = (pixels - np.array(MEAN, np.float32)) / np.array(DEVIATION, np.float32)
    return torch.from_numpy(pixels).permute(2, 0, 1)


def head(file: Checkpoint, name: str) -> nn.Sequential:
    """Two linear layers with norm and GELU between them; dropout may have the number before."""
    start = 0 if file.has(f"{name}.0") else 1  # releases differ in whether dropout is counted
    first, last = f"{name}.{start}.weight", f"{name}.{start + 3}.weight"
    inner = file.size(first)
    return nn.Sequential(
        *(nn.Identity() for _ in range(start)),
        nn.Linear(file.size(first, 1), inner),
        nn.LayerNorm(inner),
        nn.GELU(),
        nn.Linear(inner, file.size(last)),
    )
