"""Singularity (Lei et al., 2023): the last layers of a text encoder attend to the frames' patches.

BEiT encodes each frame; the temporal model adds a place a frame and lets every patch attend to
those of the same spot in other frames. A decoder ranks answers by their probability after the
fused question. Modules have the names of the authors' checkpoints.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import interpolate
from transformers import BeitConfig, BeitModel, BertLMHeadModel

from cuescope_sdk import Frame, Sample
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.models import FrameMemory
from cuescope_sdk.torch import (
    Checkpoint,
    additive,
    fused_attention,
    fused_self_attention,
    split_heads,
)
from cuescope_videoqa.checkpoints import read_checkpoint
from cuescope_videoqa.deberta import States
from cuescope_videoqa.network import (
    BERT,
    ENCODER_BATCH,
    Batch,
    Network,
    Prompt,
    Scores,
    bert_config,
    bert_layers,
    fusion_shape,
    token_ids,
)

EPSILON = 1e-12  # default of BertConfig
REMEMBERED_BYTES = 2**26  # of frames: a hundred, of some hundred patches each
ANSWER_BATCH = 128
QUESTION_TOKENS = 25  # default of the authors' `max_q_len`
ANSWER_TOKENS = 5  # default of the authors' `max_a_len`
CONSIDERED = 128  # default of the authors' `k_test`
PUNCTUATION = re.compile(r"[,.'!?\"()*#:;~]")
# Names of BEiT's parts when the checkpoints were made -> now.
BEIT_NAMES = [
    line.split()
    for line in r"""
    ^vision_encoder\.encoder\.layer\.                vision_encoder.layers.
    \.attention\.attention\.relative_position_bias\. .relative_position_bias.
    \.attention\.attention\.query\.                  .attention.q_proj.
    \.attention\.attention\.key\.                    .attention.k_proj.
    \.attention\.attention\.value\.                  .attention.v_proj.
    \.attention\.output\.dense\.                     .attention.o_proj.
    \.intermediate\.dense\.                          .mlp.fc1.
    \.output\.dense\.                                .mlp.fc2.
    """.strip().splitlines()
]


class SingularityNetwork(Network):
    """The authors' modules under their names, BEiT's and BERT's from the library."""

    owner = "singularity"
    unused = (
        "vision_encoder.pooler.",
        "text_proj.",
        "vision_proj.",
        "temp",
        "itm_head.",
    )

    def __init__(self, file: Checkpoint, options: Any) -> None:
        super().__init__(file, options)
        self.vision_encoder = _beit(file)
        vision = self.vision_encoder.config
        width = vision.hidden_size
        head_dim = width // vision.num_attention_heads  # BERT's is the same
        self.vision_layernorm = nn.LayerNorm(width, EPSILON)
        positions = file.size("temporal_embeddings", 1)
        self.temporal_embeddings = nn.Parameter(torch.zeros(1, positions, 1, width))
        self.temporal_vision_encoder: Any = None
        count = file.layers("temporal_vision_encoder.layer")
        if count:
            hidden = file.size(
                "temporal_vision_encoder.layer.0.intermediate.dense.weight"
            )
            config = bert_config(width, hidden, file.heads(width, head_dim))
            self.temporal_vision_encoder = nn.ModuleDict(
                {"layer": bert_layers(config, count)}
            )
        self.text_encoder, self.first = _text_encoder(file, head_dim)
        self.text_decoder = _decoder(file, head_dim)
        config = self.text_decoder.config
        blocks = len(self.text_encoder["encoder"]["layer"]) - self.first
        heads = config.num_attention_heads
        dim = config.hidden_size
        # An MLP comes after two fusion layers, so that each has half of it.
        self.fusion = fusion_shape(
            2 * blocks, heads, dim, dim * config.intermediate_size
        )
        self._frames = FrameMemory(self._encode_frames, ENCODER_BATCH, REMEMBERED_BYTES)

    @classmethod
    def read(cls, options: Any) -> Checkpoint:
        """With BEiT under the library's names."""
        file = read_checkpoint(cls.owner, options.checkpoint)
        tensors = {rename_beit(name): tensor for name, tensor in file.tensors.items()}
        return replace(file, tensors=tensors)

    def crosses(self, layer: int) -> bool:
        """Odd layers attend to the video."""
        return layer % 2 == 1

    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """Questions without end token; the patches of all frames in a row."""
        texts = [normalise_question(prompt.text) for prompt in prompts]
        ids = self._ids(texts, QUESTION_TOKENS)
        mask = ids != self.tokenizer.pad_token_id
        video = self._video([prompt.frames for prompt in prompts])
        # `on_device` moves no `cross`
        cross = torch.full(video.shape[:2], VIDEO, dtype=torch.int8, device=self.device)
        batch = self.on_device(mask * TEXT, ids=ids, video=video)
        return replace(batch, cross=cross)

    def _video(
        self, videos: Sequence[Sequence[Frame]]
    ) -> Float[Tensor, "batch key dim"]:
        """Encoded patches of equally many frames, after the temporal encoder if there is one."""
        count = len(videos[0])
        if not count:
            # no keys: by that `_fusion_block` knows that nothing is shown
            weight = self.vision_layernorm.weight
            return weight.new_zeros(len(videos), 0, len(weight))
        # video by video: rounding would depend on which are asked together
        rows = [torch.stack(self._frames.rows(frames)) for frames in videos]
        states = torch.stack(rows).to(self.device)
        if self.temporal_vision_encoder is None:
            return states.flatten(1, 2)
        states = states + temporal_positions(self.temporal_embeddings, count)
        if count > 1:  # the authors' code skips the temporal encoder for a single frame
            # Patches of one spot become one sequence, over the frames.
            spots = states.transpose(1, 2).flatten(0, 1)
            for layer in self.temporal_vision_encoder["layer"]:
                spots = layer(spots)
            spots = spots.reshape(len(videos), -1, *spots.shape[1:])
            states = spots.transpose(1, 2)
        return states.flatten(1, 2)

    def _encode_frames(
        self, frames: Sequence[Frame]
    ) -> Float[Tensor, "frame patch dim"]:
        side = self.vision_encoder.config.image_size
        pixels = torch.stack([preprocess(frame, side) for frame in frames])
        pixels = pixels.to(self.device, self.dtype)
        states = self.vision_encoder(pixels).last_hidden_state
        # On the CPU: the memory of frames must not fill the accelerator.
        return self.vision_layernorm(states).cpu()  # type: ignore[no-any-return]

    def forward(self, batch: Batch) -> list[Tensor]:
        """The states of each question's tokens, fused with its video."""
        encoder = self.text_encoder
        video = batch.inputs["video"]
        mask = batch.modality != OTHER
        states = encoder["embeddings"](input_ids=batch.inputs["ids"])
        # The stock layers below the fusion take an additive mask.
        hides_padding = additive(mask, states.dtype)
        for number, layer in enumerate(encoder["encoder"]["layer"]):
            if number < self.first:
                states = layer(states, hides_padding)
            else:
                fusion_layer = 2 * (number - self.first)
                states = self._fusion_block(layer, fusion_layer, states, mask, video)
        # without padding: the decoder attends to every state that it is given
        return [row[tokens] for row, tokens in zip(states, mask, strict=True)]

    def _fusion_block(
        self,
        layer: Any,
        number: int,
        states: Tensor,
        mask: Tensor,
        video: Tensor,
    ) -> States:
        """BERT's block with cross-attention: fusion layers `number` and the one after it."""
        heads = self.fusion.heads
        text = layer.attention.self
        cross = layer.crossattention.self
        mixed = fused_self_attention(
            states,
            text.query,
            text.key,
            text.value,
            heads=heads,
            layer=number,
            mask=mask,
        )
        states = layer.attention.output(mixed, states)
        # A softmax over no keys is undefined; without a video the context is nothing.
        context = torch.zeros_like(states)
        if video.shape[1]:
            query = split_heads(cross.query(states), heads)
            key = split_heads(cross.key(video), heads)
            value = split_heads(cross.value(video), heads)
            context = fused_attention(query, key, value, layer=number + 1, cross=True)
            context = context.transpose(1, 2).flatten(2)
        states = layer.crossattention.output(context, states)
        return layer.feed_forward_chunk(states)  # type: ignore[no-any-return]

    def score(
        self,
        states: Sequence[Tensor],
        sample: Sample,
        answers: tuple[str, ...],
    ) -> Scores:
        """Log-probabilities of answers, as published: that of the first token counts twice.

        Of a vocabulary only the `CONSIDERED` answers with the likeliest first token are ranked;
        the others have -inf.
        """
        question = states[0][None]
        texts = [f"{answer} {self.tokenizer.sep_token}" for answer in answers]
        ids = self._ids(texts, ANSWER_TOKENS).to(self.device)
        # of [CLS] alone: one pass serves all answers
        after_cls = self._log_probabilities(ids[:1, :1], question)[0, 0]
        first = after_cls[ids[:, 1]]
        most = len(answers)
        if not sample.choices:
            most = min(most, CONSIDERED)
        # The decoder runs once an answer, so a vocabulary of thousands is thinned by first tokens.
        ranked = first.topk(most).indices
        scores = torch.full_like(first, -torch.inf)
        for batch in torch.split(ranked, ANSWER_BATCH):
            tokens = ids[batch]
            log_p = self._log_probabilities(tokens, question.expand(len(batch), -1, -1))
            # The token at each position is predicted by the state before it.
            log_p = log_p[:, :-1].gather(2, tokens[:, 1:, None])[..., 0]
            mask = tokens[:, 1:] != self.tokenizer.pad_token_id
            scores[batch] = first[batch] + (log_p * mask).sum(1)
        return scores

    def _log_probabilities(
        self,
        ids: Int[Tensor, "answer token"],
        question: Float[Tensor, "answer word dim"],
    ) -> Float[Tensor, "answer token vocabulary"]:
        output = self.text_decoder(
            input_ids=ids,
            attention_mask=(ids != self.tokenizer.pad_token_id).long(),
            encoder_hidden_states=question,
            use_cache=False,  # one pass, no steps after it
        )
        # float first: sums of half-precision logarithms order close answers by chance
        return output.logits.float().log_softmax(-1)  # type: ignore[no-any-return]

    def _ids(self, texts: Sequence[str], length: int) -> Int[Tensor, "text token"]:
        """Tokens after [CLS], without [SEP] but where the text has one."""
        length = min(length, self.text_decoder.config.max_position_embeddings)
        # [CLS] takes one of the places
        ids = token_ids(self.tokenizer, texts, length - 1, special=False)
        cls = torch.full((len(ids), 1), self.tokenizer.cls_token_id)
        return torch.cat([cls, ids], dim=1)


def preprocess(frame: Frame, side: int) -> Float[Tensor, "3 side side"]:
    """Stretched to a square, bicubic without antialiasing, in -1 ... 1."""
    pixels = torch.from_numpy(np.array(frame.load())).permute(2, 0, 1)[None].float()
    # Tensors, not Pillow: the authors resize without antialiasing, and answers depend on it.
    square = interpolate(pixels, (side, side), mode="bicubic", align_corners=False)[0]
    # whole grey levels, as of an image; bicubic goes beyond 0 and 255
    share = square.round().clamp(0, 255) / 255
    return (share - 0.5) / 0.5


def normalise_question(question: str) -> str:
    """Lower-cased words without punctuation."""
    text = PUNCTUATION.sub("", question.lower())
    for mark, word in (("-", " "), ("/", " "), ("<person>", "person")):
        text = text.replace(mark, word)
    return " ".join(text.split())


def temporal_positions(
    embeddings: Float[Tensor, "1 position 1 dim"], frames: int
) -> Float[Tensor, "1 frame 1 dim"]:
    """The first positions, or where there are more frames, all of them stretched."""
    if frames <= embeddings.shape[1]:
        return embeddings[:, :frames]
    rows = embeddings.squeeze(2).transpose(1, 2)
    stretched = interpolate(rows, frames, mode="linear")
    return stretched.transpose(1, 2).unsqueeze(2)


def rename_beit(name: str) -> str:
    """A tensor of BEiT under the name that the library gives it now; others keep theirs."""
    if name.startswith("vision_encoder."):
        for pattern, new in BEIT_NAMES:
            name = re.sub(pattern, new, name)
    return name


def _beit(file: Checkpoint) -> Any:
    patch = "vision_encoder.embeddings.patch_embeddings.projection.weight"
    layer = "vision_encoder.layers.0"
    table = f"{layer}.relative_position_bias.relative_position_bias_table"
    # the table has (2 side - 1)^2 + 3 rows
    offsets = round((file.size(table) - 3) ** 0.5)
    side = (offsets + 1) // 2
    patch_size = file.size(patch, 2)
    config = BeitConfig(
        hidden_size=file.size(patch),
        num_hidden_layers=file.layers("vision_encoder.layers"),
        num_attention_heads=file.size(table, 1),
        intermediate_size=file.size(f"{layer}.mlp.fc1.weight"),
        image_size=side * patch_size,
        patch_size=patch_size,
        use_relative_position_bias=True,
        use_mean_pooling=True,
        layer_scale_init_value=0.1,
        drop_path_rate=0.0,
        layer_norm_eps=EPSILON,
    )
    return BeitModel(config, add_pooling_layer=False)


def _text_encoder(file: Checkpoint, head_dim: int) -> tuple[Any, int]:
    """Embeddings and layers, and the number of the first one that attends to the video."""
    prefix = "text_encoder.encoder.layer"
    config = _config(file, "text_encoder", prefix, head_dim)
    count = file.layers(prefix)
    crossing = file.layers_with(prefix, "crossattention.self.query.weight")
    first = crossing[0] if crossing else count
    layers = bert_layers(config, first)
    layers.extend(bert_layers(config, count - first, cross=True))
    embeddings = BERT.BertEmbeddings(config)
    encoder = nn.ModuleDict({"layer": layers})
    return nn.ModuleDict({"embeddings": embeddings, "encoder": encoder}), first


def _decoder(file: Checkpoint, head_dim: int) -> Any:
    prefix = "text_decoder.bert.encoder.layer"
    config = _config(file, "text_decoder.bert", prefix, head_dim)
    config.is_decoder = config.add_cross_attention = True
    config.num_hidden_layers = file.layers(prefix)
    # Tied, the library would load one of the two tensors over the other.
    config.tie_word_embeddings = False  # the file has both
    return BertLMHeadModel(config)


def _config(file: Checkpoint, name: str, layers: str, head_dim: int) -> Any:
    words = f"{name}.embeddings.word_embeddings.weight"
    width = file.size(words, 1)
    hidden = file.size(f"{layers}.0.intermediate.dense.weight")
    return bert_config(
        width,
        hidden,
        file.heads(width, head_dim),
        file.size(words),
        file.size(f"{name}.embeddings.position_embeddings.weight"),
    )
