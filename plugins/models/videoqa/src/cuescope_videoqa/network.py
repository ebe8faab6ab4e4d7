"""What the four networks share: inputs, their base class, and the parts that they are built of."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn

from cuescope_sdk import Frame, Sample
from cuescope_sdk.fusion import FusionShape


class Prompt(NamedTuple):
    """What one forward pass is given of a sample: frames, and the text beside them."""

    sample: str
    frames: tuple[Frame, ...]
    text: str


@dataclass(frozen=True, eq=False)
class Batch:
    """Prompts of one forward pass: the modality of each token, and the network's inputs.

    `cross` has the modalities of the keys of cross-attention. A prompt may have several rows,
    `rows` of them, one after another.
    """

    modality: Int8[Tensor, "row token"]
    inputs: dict[str, Tensor] = field(default_factory=dict)
    cross: Int8[Tensor, "row key"] | None = None
    rows: int = 1


class Network(nn.Module):
    """A model of the paper: prompts to states, and states to scores of answers."""

    owner: str
    fusion: FusionShape
    vocabulary: tuple[str, ...] = ()
    without_vocabulary: str = "Give the authors' file with -M answers=FILE."

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """In which precision it runs."""
        return next(self.parameters()).dtype

    def prompts(self, sample: Sample) -> list[Prompt]:
        """The forward passes that answer a sample."""
        return [Prompt(sample.key, sample.frames, sample.question or "")]

    @abstractmethod
    def collate(self, prompts: Sequence[Prompt]) -> Batch:
        """Tensors for prompts that show equally many frames."""

    @abstractmethod
    def forward(self, batch: Batch) -> list[Any]:
        """A state for each prompt."""

    @abstractmethod
    def score(
        self, states: Sequence[Any], sample: Sample, answers: tuple[str, ...]
    ) -> Float[Tensor, " answer"]:
        """Logits of the answers, from the states of `prompts(sample)`."""

    def on_device(
        self, modality: Int8[Tensor, "row token"], rows: int = 1, **inputs: Tensor
    ) -> Batch:
        """A batch, where the network is."""
        moved = {name: tensor.to(self.device) for name, tensor in inputs.items()}
        return Batch(modality.to(self.device), moved, rows=rows)

    def crosses(self, layer: int) -> bool:
        """Whether the keys of a fusion layer are another sequence."""
        return False


# ---------------------------------------------------------------------------------------- parts


def token_ids(
    tokenizer: Any,
    texts: Sequence[str],
    length: int,
    padded_to: int | None = None,
    special: bool = True,
) -> Tensor:
    """Token numbers (text, token), cut at `length`, padded at the end."""
    rows = [
        tokenizer(text, add_special_tokens=special, truncation=True, max_length=length)["input_ids"]
        for text in texts
    ]
    # Padded by hand: the tokenizer would pad on the side that its own configuration says.
    width = padded_to or max(map(len, rows), default=0)
    pad = tokenizer.pad_token_id
    return torch.tensor([[*ids, *[pad] * (width - len(ids))] for ids in rows], dtype=torch.long)


def split_heads(
    states: Float[Tensor, "batch token inner"], heads: int
) -> Float[Tensor, "batch head token dim"]:
    """The width cut into heads."""
    return states.reshape(*states.shape[:-1], heads, -1).transpose(1, 2)


def merge_heads(
    states: Float[Tensor, "batch head token dim"],
) -> Float[Tensor, "batch token inner"]:
    """The heads side by side."""
    return states.transpose(1, 2).flatten(2)


def bert_config(width: int, hidden: int, heads: int, vocabulary: int = 1, places: int = 1) -> Any:
    """Everything else is that of bert-base-uncased."""
    import transformers

    library: Any = transformers
    return library.BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=hidden,
        max_position_embeddings=places,
        attn_implementation="sdpa",
    )


def bert_embeddings(config: Any) -> Any:
    """Words, places and kinds of token."""
    return _modeling().BertEmbeddings(config)


def bert_layers(config: Any, count: int) -> nn.ModuleList:
    """Layers of self-attention."""
    return nn.ModuleList([_modeling().BertLayer(config) for _ in range(count)])


def cross_layers(config: Any, count: int) -> nn.ModuleList:
    """Layers with cross-attention; the library builds them as a decoder's."""
    config = deepcopy(config)  # the layers below share it, and have no cross-attention
    # The library gives a layer cross-attention only where it takes it for a decoder's.
    config.is_decoder = config.add_cross_attention = True
    return bert_layers(config, count)


def _modeling() -> Any:
    from transformers.models.bert import modeling_bert

    return modeling_bert
