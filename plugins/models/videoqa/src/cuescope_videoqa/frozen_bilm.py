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
from cuescope_sdk.torch import Checkpoint, fault_of, refuse_larger_networks
from cuescope_videoqa.checkpoints import read_checkpoint
from cuescope_videoqa.deberta import VideoDeberta
from cuescope_videoqa.features import (
    CLIPFeatures,
    Features,
    VideoFeatures,
    evenly_spaced,
    pad_features,
)
from cuescope_videoqa.loading import find_folder, weights_file
from cuescope_videoqa.network import (
    Batch,
    Network,
    Prompt,
    Scores,
    fusion_shape,
    token_ids,
)

TEXT_TOKENS = 256  # default of the authors' `--max_tokens`
ANSWER_TOKENS = 5  # default of the authors' `--max_atokens`
YES = "Yes"
NO = "No"
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
        after_attention = file.tensors.get(
            f"{layer}.attention.output.adapter.down.weight", ()
        )
        after_mlp = file.tensors.get(f"{layer}.output.adapter.down.weight", ())
        adapters = (len(after_attention), len(after_mlp))
        try:
            if not (folder / "config.json").is_file():
                raise FileNotFoundError("no config.json")
            config = DebertaV2Config.from_pretrained(folder)
            config.legacy = False  # the prediction head under the authors' names
            weights = [options.checkpoint, *folder.iterdir()]
            with refuse_larger_networks(self.owner, weights):
                self.body = VideoDeberta(config, features, adapters)
        except Exception as error:  # a stranger's figures fail in any way they like
            raise UserError(
                f"{self.owner}: the configuration in {folder.name} cannot be read",
                got=fault_of(error),
            ) from error
        dim = config.hidden_size
        self.fusion = fusion_shape(
            config.num_hidden_layers,
            config.num_attention_heads,
            dim,
            2 * dim * config.intermediate_size,
        )
        self.source: VideoFeatures | CLIPFeatures
        if options.features is not None:
            self.source = VideoFeatures(self.owner, options.features, features)
        else:
            vision = find_folder(self.owner, options.vision, weights=True)
            self.source = CLIPFeatures(self.owner, vision, features)

    @classmethod
    def read(cls, options: Any) -> Checkpoint:
        """The authors' tensors over those of the language model, which they leave out."""
        file = read_checkpoint(cls.owner, options.checkpoint)
        folder = find_folder(cls.owner, options.text_encoder, weights=True)
        weights = weights_file(folder)
        if weights is None:
            return file
        # The checkpoint's tensors win: they were trained on, the folder's were frozen. Those of
        # the hub hold the positions of the mask decoder too.
        spare = {
            name: tensor
            for name, tensor in read_checkpoint(cls.owner, weights).tensors.items()
            if name.startswith(LANGUAGE_MODEL) and name not in file.tensors
        }
        return replace(file, tensors={**file.tensors, **spare}, spare=tuple(spare))

    @property
    def published(self) -> VideoDeberta:
        """The language model."""
        return self.body

    def prompts(self, sample: Sample) -> list[Prompt]:
        """One prompt; or one for each choice, where it is answered by yes or no."""
        mask = self.tokenizer.mask_token
        question = format_question(sample.question)
        texts = [f"{question} Answer: {mask}"]
        if self._has_prompt_per_choice(sample):
            # as in the authors' training data
            choices = [choice.capitalize().strip() for choice in sample.choices]
            texts = [f"{question} Is it '{choice}'? {mask}" for choice in choices]
        prompts = []
        for text in texts:
            whole = f"{text}{self.options.suffix}".strip()
            prompts.append(Prompt(sample.key, sample.frames, whole))
        return prompts

    def _has_prompt_per_choice(self, sample: Sample) -> bool:
        how = self.options.multiple_choice
        if how == "vocabulary" or not sample.choices:
            return False
        yes_or_no = {choice.lower() for choice in sample.choices} <= {"yes", "no"}
        return how == "yes-no" or not yes_or_no

    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """Video features at their positions, then the text."""
        tokenizer = self.tokenizer
        positions = self.options.video_features
        # The video takes its positions whether it is shown or not, and leaves so many to the text.
        free = self.body.config.max_position_embeddings - positions
        most = min(TEXT_TOKENS, free)
        ids = token_ids(tokenizer, [prompt.text for prompt in prompts], most)
        text_mask = ids != tokenizer.pad_token_id
        if not self.options.suffix:
            # As the authors' code: without a suffix the end token is hidden from attention too.
            text_mask &= ids != tokenizer.sep_token_id
            ids = ids.masked_fill(~text_mask, tokenizer.pad_token_id)
        self._require_mask_tokens(prompts, ids)
        videos = [self._video_features(prompt) for prompt in prompts]
        video, video_mask = pad_features(videos, positions, self._feature_dim)
        modality = torch.cat([video_mask * VIDEO, text_mask * TEXT], dim=1)
        return self.on_device(modality, ids=ids, video=video.to(self.dtype))

    @property
    def _feature_dim(self) -> int:
        return int(self.body.deberta.embeddings.linear_video.in_features)

    def _video_features(self, prompt: Prompt) -> Features:
        most = self.options.video_features
        if not prompt.frames:
            # no feature: the video is masked out
            return torch.zeros(0, self._feature_dim)
        if isinstance(self.source, VideoFeatures):
            return self.source.of(prompt, most)
        indices = evenly_spaced(len(prompt.frames), most)
        return self.source.of([prompt.frames[index] for index in indices], self.device)

    def _require_mask_tokens(
        self,
        prompts: Sequence[Prompt],
        ids: Int[Tensor, "batch text"],
    ) -> None:
        counts = (ids == self.tokenizer.mask_token_id).sum(1)
        for prompt, count in zip(prompts, counts, strict=True):
            if count != 1:
                raise UserError(
                    f"{self.owner}: the prompt of sample '{prompt.sample}'",
                    expected=f"one mask within {TEXT_TOKENS} tokens",
                    got=f"{int(count)}",
                    remedy="Shorten the question.",
                )

    def forward(self, batch: Batch) -> list[Tensor]:
        """The state at the mask."""
        ids = batch.inputs["ids"]
        states = self.body(ids, batch.inputs["video"], batch.modality != OTHER)
        texts = states[:, self.options.video_features :]
        return list(texts[ids == self.tokenizer.mask_token_id])

    def score(
        self,
        states: Sequence[Tensor],
        sample: Sample,
        answers: tuple[str, ...],
    ) -> Scores:
        """Logits of answers at the mask; or of yes over no, where each choice was asked for."""
        if not self._has_prompt_per_choice(sample):
            rows, bias = self.answers(answers)
            return rows @ states[0] + bias
        rows, bias = self.answers((YES, NO))
        # a choice's logit: its yes against its no
        yes_over_no = rows[0] - rows[1]
        return torch.stack(list(states)) @ yes_over_no + (bias[0] - bias[1])

    def answers(
        self, answers: tuple[str, ...]
    ) -> tuple[Float[Tensor, "answer dim"], Scores]:
        """Means of the word embeddings of each answer, and its bias; computed once."""
        for answer in answers:
            if answer not in self._embedded:
                self._embedded[answer] = self._embed(answer)
        rows, bias = zip(*(self._embedded[answer] for answer in answers), strict=True)
        return torch.stack(rows), torch.stack(bias)

    def _embed(self, answer: str) -> tuple[Tensor, Tensor]:
        ids = token_ids(
            self.tokenizer,
            [answer],
            ANSWER_TOKENS,
            special=False,
        )
        ids = ids[0].to(self.device)
        # an answer without a token must not divide by 0
        count = max(len(ids), 1)
        # An answer of several tokens is their mean, as the authors initialise their answer layer.
        row = self.body.deberta.embeddings.word_embeddings(ids).sum(0) / count
        bias = self.body.lm_predictions.lm_head.bias[ids].sum() / count
        if self.options.answer_bias == "none":
            bias = torch.zeros_like(bias)
        return row, bias


def format_question(question: str | None) -> str:
    """A question as the authors write it; nothing where there is none."""
    words = (question or "").capitalize().strip()
    if not words:
        return ""
    mark = "" if words.endswith("?") else "?"
    return f"Question: {words}{mark}"
