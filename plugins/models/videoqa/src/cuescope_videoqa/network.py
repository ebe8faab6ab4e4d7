"""What the four networks share: inputs, their base class, and the parts that they are built of."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn
from transformers import BertConfig
from transformers.models.bert import modeling_bert

from cuescope_sdk import Frame, Sample
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.torch import Checkpoint, quiet
from cuescope_videoqa.checkpoints import read_checkpoint
from cuescope_videoqa.loading import find_folder, read_answers, read_tokenizer

Scores = Float[Tensor, " answer"]
Modality = Int8[Tensor, "row token"]

ENCODER_BATCH = 32  # frames
BERT: Any = modeling_bert  # the library is untyped


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

    modality: Modality
    inputs: dict[str, Tensor] = field(default_factory=dict)
    cross: Int8[Tensor, "row key"] | None = None
    rows: int = 1


class Network(nn.Module):
    """A model of the paper: prompts to states, and states to scores of answers.

    Modules have the names of the authors' checkpoints; tensors that start as `unused` stay there.
    """

    owner: ClassVar[str]
    unused: tuple[str, ...] = ()
    fusion: FusionShape
    without_vocabulary: str = "Give the authors' file with -O model.answers=FILE."

    def __init__(self, file: Checkpoint, options: Any) -> None:
        """A subclass builds its modules in the sizes of the file."""
        super().__init__()
        self.options = options
        self.tokenizer: Any = None
        self.vocabulary = read_answers(self.owner, options.answers)
        self._embedded: dict[str, Any] = {}

    @classmethod
    def load(cls, options: Any) -> Self:
        """The network with its weights; raises UserError for whatever a person can mend."""
        file = cls.read(options)
        with quiet():
            network = cls(file, options)
        file.load_into(network.published, network.unused)
        folder = find_folder(cls.owner, options.text_encoder)
        network.tokenizer = read_tokenizer(cls.owner, folder)
        return network

    @classmethod
    def read(cls, options: Any) -> Checkpoint:
        """The tensors under the names of the modules."""
        return read_checkpoint(cls.owner, options.checkpoint)

    @property
    def published(self) -> nn.Module:
        """The module whose parts have the names of the file."""
        return self

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
        self,
        states: Sequence[Any],
        sample: Sample,
        answers: tuple[str, ...],
    ) -> Scores:
        """Logits of the answers, from the states of `prompts(sample)`."""

    def on_device(self, modality: Tensor, rows: int = 1, **inputs: Tensor) -> Batch:
        """A batch, where the network is."""
        moved = {name: tensor.to(self.device) for name, tensor in inputs.items()}
        return Batch(modality.to(self.device, torch.int8), moved, rows=rows)

    def forget(self) -> None:
        """Forget the embeddings of answers, where the weights that made them have changed."""
        self._embedded.clear()

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
    rows = []
    for text in texts:
        encoding = tokenizer(
            text,
            add_special_tokens=special,
            truncation=True,
            max_length=length,
        )
        rows.append(encoding["input_ids"])
    # Padded by hand: the tokenizer would pad on the side that its own configuration says.
    width = padded_to or max(map(len, rows), default=0)
    ids = torch.full((len(rows), width), tokenizer.pad_token_id)
    for row, tokens in zip(ids, rows, strict=True):
        row[: len(tokens)] = torch.tensor(tokens)
    return ids


def fusion_shape(
    layers: int,
    heads: int,
    dim: int,
    mlp_multiplications: int,
) -> FusionShape:
    """Sizes of layers that have as many heads of keys as of queries."""
    return FusionShape(
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_dim=dim // heads,
        dim=dim,
        mlp_multiplications=mlp_multiplications,
    )


def bert_config(
    width: int,
    hidden: int,
    heads: int,
    vocabulary: int = 1,
    positions: int = 1,
) -> Any:
    """Everything else is that of bert-base-uncased."""
    library: Any = BertConfig
    return library(
        vocab_size=vocabulary,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=hidden,
        max_position_embeddings=positions,
        attn_implementation="sdpa",
    )


def bert_layers(config: Any, count: int, cross: bool = False) -> nn.ModuleList:
    """Layers of self-attention, and of cross-attention after it where `cross`."""
    if cross:
        # the layers below share it, and have no cross-attention
        config = deepcopy(config)
        # The library gives a layer cross-attention only where it takes it for a decoder's.
        config.is_decoder = config.add_cross_attention = True
    return nn.ModuleList(BERT.BertLayer(config) for _ in range(count))
