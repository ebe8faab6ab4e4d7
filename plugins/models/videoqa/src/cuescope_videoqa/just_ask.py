"""JustAsk (Yang et al., 2021): question and video fused by a transformer, answers embedded apart.

The question goes through DistilBERT, the video comes as features; their tokens, text first, go
through the fusion layers. The first token, the question's [CLS], is compared with answers that a
second DistilBERT embeds. The sequence is always of `question_tokens` and as many video features as
the checkpoint has positions for; what is not there is masked.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu
from transformers import DistilBertConfig, DistilBertModel
from transformers.models.distilbert.modeling_distilbert import Transformer

from cuescope_sdk import Sample, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.torch import Checkpoint, fused_self_attention
from cuescope_videoqa.features import Features, VideoFeatures, pad_features
from cuescope_videoqa.network import (
    Batch,
    Network,
    Prompt,
    Scores,
    fusion_shape,
    token_ids,
)

EPSILON = 1e-12  # default of DistilBERT
ANSWER_BATCH = 256
ANSWER_TOKENS = 10  # default of the authors' `--amax_words`


class PositionAndModality(nn.Module):
    """Learned or sinusoidal positions, and one embedding a modality."""

    def __init__(self, positions: int, dim: int, question_tokens: int) -> None:
        super().__init__()
        self.position_embeddings = nn.Embedding(positions, dim)
        self.modality_embedding = nn.Embedding(2, dim)
        self.LayerNorm = nn.LayerNorm(dim, eps=EPSILON)
        self._question_tokens = question_tokens

    def forward(self, states: Float[Tensor, "batch token dim"]) -> Tensor:
        """The states with both embeddings added."""
        position = torch.arange(states.shape[1], device=states.device)
        modality = (position >= self._question_tokens).long()
        embeddings = self.position_embeddings(position) + self.modality_embedding(
            modality
        )
        return self.LayerNorm(states + embeddings)  # type: ignore[no-any-return]


class JustAskNetwork(Network):
    """The authors' modules under their names, with features and words to feed them."""

    owner = "just-ask"
    # of pretraining
    unused = (
        "vocab_transform.",
        "vocab_norm.",
        "vocab_projector.",
        "crossmodal_matching.",
    )

    def __init__(self, file: Checkpoint, options: Any) -> None:
        super().__init__(file, options)
        dim = file.size("linear_video.weight")
        features = file.size("linear_video.weight", 1)
        words = file.size("linear_question.weight", 1)
        positions = file.size("position.position_embeddings.weight")
        # The file has one table of positions for both; nothing in it says where the video begins.
        if not 2 <= options.question_tokens < positions:  # [CLS] and [SEP] at least
            raise UserError(
                f"{self.owner}: question_tokens={options.question_tokens}",
                expected=f"2 to {positions - 1}, "
                f"of the {positions} positions that the checkpoint has",
            )
        layers = file.layers("mmt.layer")
        heads = file.heads(dim, options.head_dim)
        hidden = file.size("mmt.layer.0.ffn.lin1.weight")
        self.video_features = positions - options.question_tokens
        self.linear_video = nn.Linear(features, dim)
        self.norm_video = nn.LayerNorm(dim, EPSILON)
        self.linear_question = nn.Linear(words, dim)
        self.norm_question = nn.LayerNorm(dim, EPSILON)
        self.position = PositionAndModality(positions, dim, options.question_tokens)
        config = DistilBertConfig(
            dim=dim,
            n_layers=layers,
            n_heads=heads,
            hidden_dim=hidden,
        )
        self.mmt: Any = Transformer(config)
        # Dropout stood first in the authors' module, and the numbers of the tensors count it.
        self.vqproj = nn.Sequential(nn.Identity(), nn.Linear(dim, dim))
        questions = _distilbert(file, "bert.bert", options.head_dim)
        self.bert: Any = nn.ModuleDict({"bert": questions})
        answers = _distilbert(file, "amodel.bert.bert", options.head_dim)
        self.amodel: Any = nn.ModuleDict(
            {
                "bert": nn.ModuleDict({"bert": answers}),
                "linear_text": nn.Linear(words, dim),
            }
        )
        self.fusion = fusion_shape(layers, heads, dim, 2 * dim * hidden)
        self.features: VideoFeatures | None = None
        if options.features is not None:
            self.features = VideoFeatures(self.owner, options.features, features)

    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """Questions padded to all their positions, features to all of theirs."""
        texts = [prompt.text for prompt in prompts]
        most = self.options.question_tokens
        ids = token_ids(self.tokenizer, texts, most, padded_to=most)
        videos = [self._video_features(prompt) for prompt in prompts]
        video, video_mask = pad_features(
            videos, self.video_features, self.linear_video.in_features
        )
        # The short-circuits average over what is there: padding is neither text nor video.
        text_mask = ids != self.tokenizer.pad_token_id
        modality = torch.cat([text_mask * TEXT, video_mask * VIDEO], dim=1)
        video = video.to(self.dtype)
        return self.on_device(modality, ids=ids, text_mask=text_mask, video=video)

    def _video_features(self, prompt: Prompt) -> Features:
        if not prompt.frames:
            return torch.zeros(0, self.linear_video.in_features)
        if self.features is None:
            raise UserError(
                f"{self.owner}: sample '{prompt.sample}' shows a video",
                expected="S3D features of it, which JustAsk is fed with",
                remedy="Give the authors' s3d.pth with -O model.features=FILE.",
            )
        return self.features.of(prompt, self.video_features)

    def forward(self, batch: Batch) -> list[Tensor]:
        """The vector of each prompt that answers are compared with."""
        inputs = batch.inputs
        attended = inputs["text_mask"].long()
        words = self.bert["bert"](input_ids=inputs["ids"], attention_mask=attended)
        question = self.norm_question(
            gelu(self.linear_question(words.last_hidden_state))
        )
        video = self.norm_video(gelu(self.linear_video(inputs["video"])))
        states = self.position(torch.cat([question, video], dim=1))
        mask = batch.modality != OTHER
        for number, layer in enumerate(self.mmt.layer):
            # DistilBERT's block, whose attention is a fusion layer.
            lin = layer.attention
            mixed = fused_self_attention(
                states,
                lin.q_lin,
                lin.k_lin,
                lin.v_lin,
                heads=lin.n_heads,
                layer=number,
                mask=mask,
            )
            states = layer.sa_layer_norm(lin.out_lin(mixed) + states)
            states = layer.output_layer_norm(layer.ffn(states) + states)
        # The first token is the question's [CLS], so the answer comes from the text.
        return list(self.vqproj(states[:, 0]))

    def score(
        self,
        states: Sequence[Tensor],
        sample: Sample,
        answers: tuple[str, ...],
    ) -> Scores:
        """Dot products with the embeddings of answers."""
        return self.answers(answers) @ states[0]

    def answers(self, answers: tuple[str, ...]) -> Float[Tensor, "answer dim"]:
        """Embeddings of answers, each computed once."""
        bert = self.amodel["bert"]["bert"]
        length = min(ANSWER_TOKENS, bert.config.max_position_embeddings)
        # a vocabulary of thousands is asked again with every batch
        fresh = [
            answer for answer in dict.fromkeys(answers) if answer not in self._embedded
        ]
        for start in range(0, len(fresh), ANSWER_BATCH):
            batch = fresh[start : start + ANSWER_BATCH]
            ids = token_ids(self.tokenizer, batch, length).to(self.device)
            mask = (ids != self.tokenizer.pad_token_id).long()
            words = bert(input_ids=ids, attention_mask=mask).last_hidden_state
            rows = self.amodel["linear_text"](words[:, 0])
            self._embedded.update(zip(batch, rows, strict=True))
        return torch.stack([self._embedded[answer] for answer in answers])


def _distilbert(file: Checkpoint, prefix: str, head_dim: int) -> Any:
    words = f"{prefix}.embeddings.word_embeddings.weight"
    dim = file.size(words, 1)
    config = DistilBertConfig(
        vocab_size=file.size(words),
        dim=dim,
        max_position_embeddings=file.size(
            f"{prefix}.embeddings.position_embeddings.weight"
        ),
        n_layers=file.layers(f"{prefix}.transformer.layer"),
        n_heads=file.heads(dim, head_dim),
        hidden_dim=file.size(f"{prefix}.transformer.layer.0.ffn.lin1.weight"),
    )
    return DistilBertModel(config)
