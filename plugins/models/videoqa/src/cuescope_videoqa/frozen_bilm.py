"""FrozenBiLM (Yang et al., 2022): a masked language model answers at its mask, the video before it.

The video always has `video_features` positions, masked where it has fewer features or is not
shown: the text keeps its positions.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import DebertaV2Config

from cuescope_sdk import Sample, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_videoqa.checkpoints import Checkpoint, read_checkpoint, read_tensors
from cuescope_videoqa.deberta import VideoDeberta
from cuescope_videoqa.features import CLIPFeatures, VideoFeatures, evenly_spaced, pad_features
from cuescope_videoqa.loading import errors_as_user_error, find_folder, weights_file
from cuescope_videoqa.network import Batch, Network, Prompt, fusion_shape, token_ids

YES, NO = "Yes", "No"
LANGUAGE_MODEL = ("deberta.", "lm_predictions.")


class FrozenBiLMNetwork(Network):
    """The language model, and what it is fed with."""

    owner = "frozen-bilm"
    # The tied decoder is kept for compatibility, and answers are embedded anew from their words
    unused = ("lm_predictions.lm_head.decoder.", "answer_embeddings.", "answer_bias")

    def __init__(self, file: Checkpoint, options: Any) -> None:
        super().__init__(file, options)
        folder = find_folder(self.owner, options.text_encoder)
        features = file.size("deberta.embeddings.linear_video.weight", 1)
        layer = "deberta.encoder.layer.0"
        adapters = (
            f"{layer}.attention.output.adapter.down.weight",
            f"{layer}.output.adapter.down.weight",
        )
        after_attention, after_mlp = (len(file.tensors.get(name, ())) for name in adapters)
        with errors_as_user_error(self.owner, f"the configuration in {folder.name}"):
            if not (folder / "config.json").is_file():
                raise FileNotFoundError("no config.json")
            config = DebertaV2Config.from_pretrained(folder, trust_remote_code=False)
            config.legacy = False  # the prediction head under the authors' names
            self.body = VideoDeberta(config, features, (after_attention, after_mlp))
        dim, hidden = config.hidden_size, config.intermediate_size
        self.fusion = fusion_shape(
            config.num_hidden_layers, config.num_attention_heads, dim, 2 * dim * hidden
        )
        self.source: VideoFeatures | CLIPFeatures
        if options.features is not None:
            self.source = VideoFeatures(self.owner, options.features, features)
        else:
            vision = find_folder(self.owner, options.vision, weights=True)
            self.source = CLIPFeatures(self.owner, vision, features)
        self._embedded: dict[str, tuple[Tensor, Tensor]] = {}

    @classmethod
    def read(cls, options: Any) -> Checkpoint:
        """The authors' tensors over those of the language model, which they leave out."""
        own = read_checkpoint(cls.owner, options.checkpoint)
        weights = weights_file(find_folder(cls.owner, options.text_encoder, weights=True))
        frozen = read_tensors(cls.owner, weights) if weights else {}
        # The checkpoint's tensors win: they were trained on, the folder's were frozen. Those of
        # the hub hold the positions of the mask decoder too.
        spare = {
            name: tensor
            for name, tensor in frozen.items()
            if name.startswith(LANGUAGE_MODEL) and name not in own.tensors
        }
        return replace(own, tensors={**own.tensors, **spare}, spare=tuple(spare))

    @property
    def published(self) -> VideoDeberta:
        """The language model."""
        return self.body

    def prompts(self, sample: Sample) -> list[Prompt]:
        """One prompt; or one for each choice, where it is answered by yes or no."""
        mask = self.tokenizer.mask_token
        question = format_question(sample.question)
        if not self._has_prompt_per_choice(sample):
            texts = [f"{question} Answer: {mask}"]
        else:
            # as in the authors' training data
            choices = (choice.capitalize().strip() for choice in sample.choices)
            texts = [f"{question} Is it '{choice}'? {mask}" for choice in choices]
        prefix, suffix = self.options.prefix, self.options.suffix
        return [
            Prompt(sample.key, sample.frames, f"{prefix} {text}{suffix}".strip()) for text in texts
        ]

    def _has_prompt_per_choice(self, sample: Sample) -> bool:
        how = self.options.multiple_choice
        yes_or_no = {choice.lower() for choice in sample.choices} <= {"yes", "no"}
        return bool(sample.choices) and (how == "yes-no" or (how == "auto" and not yes_or_no))

    def forget(self) -> None:
        """The embedded answers."""
        self._embedded.clear()

    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """Video features at their positions, then the text."""
        tokenizer, positions = self.tokenizer, self.options.video_features
        # The video takes its positions whether it is shown or not, and leaves so many to the text.
        most = min(self.options.text_tokens, self.body.config.max_position_embeddings - positions)
        ids = token_ids(tokenizer, [prompt.text for prompt in prompts], most)
        text_mask = ids != tokenizer.pad_token_id
        if not self.options.suffix:
            # As the authors' code: without a suffix the end token is hidden from attention too.
            text_mask &= ids != tokenizer.sep_token_id
            ids = ids.masked_fill(~text_mask, tokenizer.pad_token_id)
        self._require_mask_tokens(prompts, ids)
        videos = [self._video_features(prompt) for prompt in prompts]
        video, video_mask = pad_features(videos, positions, self._feature_dim)
        modality = torch.cat([video_mask * VIDEO, text_mask * TEXT], dim=1).to(torch.int8)
        return self.on_device(modality, ids=ids, video=video.to(self.dtype))

    @property
    def _feature_dim(self) -> int:
        return int(self.body.deberta.embeddings.linear_video.in_features)

    def _video_features(self, prompt: Prompt) -> Float[Tensor, "feature dim"]:
        most = self.options.video_features
        if not prompt.frames:
            return torch.zeros(0, self._feature_dim)  # no feature: the video is masked out
        if isinstance(self.source, VideoFeatures):
            return self.source.of(prompt, most)
        indices = evenly_spaced(len(prompt.frames), most)
        return self.source.of([prompt.frames[index] for index in indices], self.device)

    def _require_mask_tokens(
        self, prompts: Sequence[Prompt], ids: Int[Tensor, "batch text"]
    ) -> None:
        counts = (ids == self.tokenizer.mask_token_id).sum(1)
        for prompt, count in zip(prompts, counts, strict=True):
            if count != 1:
                raise UserError(
                    f"{self.owner}: the prompt of sample '{prompt.sample}'",
                    expected=f"one mask within {self.options.text_tokens} tokens",
                    got=f"{int(count)}",
                    remedy="Raise -M text_tokens, or shorten the question.",
                )

    def forward(self, batch: Batch) -> list[Tensor]:
        """The state at the mask."""
        ids = batch.inputs["ids"]
        states = self.body(ids, batch.inputs["video"], batch.modality != OTHER)
        texts = states[:, self.options.video_features :]
        return list(texts[ids == self.tokenizer.mask_token_id])

    def score(
        self, states: Sequence[Tensor], sample: Sample, answers: tuple[str, ...]
    ) -> Float[Tensor, " answer"]:
        """Logits of answers at the mask; or of yes over no, where each choice was asked for."""
        if not self._has_prompt_per_choice(sample):
            rows, bias = self.answers(answers)
            return rows @ states[0] + bias
        rows, bias = self.answers((YES, NO))
        # a choice's logit: its yes against its no
        return torch.stack(list(states)) @ (rows[0] - rows[1]) + (bias[0] - bias[1])

    def answers(
        self, answers: tuple[str, ...]
    ) -> tuple[Float[Tensor, "answer dim"], Float[Tensor, " answer"]]:
        """Means of the word embeddings of each answer, and its bias; computed once."""
        for answer in answers:
            if answer not in self._embedded:
                self._embedded[answer] = self._embed(answer)
        rows, bias = zip(*(self._embedded[answer] for answer in answers), strict=True)
        return torch.stack(rows), torch.stack(bias)

    def _embed(self, answer: str) -> tuple[Tensor, Tensor]:
        ids = token_ids(self.tokenizer, [answer], self.options.answer_tokens, special=False)[0]
        ids = ids.to(self.device)
        bias = self.body.lm_predictions.lm_head.bias[ids].sum() / max(len(ids), 1)
        # An answer of several tokens is their mean, as the authors initialise their answer layer.
        row = self.body.deberta.embeddings.word_embeddings(ids).sum(0) / max(len(ids), 1)
        return row, bias if self.options.answer_bias == "mean" else torch.zeros_like(bias)


def format_question(question: str | None) -> str:
    """A question as the authors write it; nothing where there is none."""
    words = (question or "").capitalize().strip()
    if not words:
        return ""
    return f"Question: {words}{'' if words.endswith('?') else '?'}"
