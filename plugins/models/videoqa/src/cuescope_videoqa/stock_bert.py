"""Parts of the library's BERT, by their sizes."""

from copy import deepcopy
from typing import Any

from torch import nn


def bert_config(width: int, hidden: int, heads: int, vocabulary: int = 1, places: int = 1) -> Any:
    """Everything else is that of bert-base-uncased."""
    import transformers

    library: Any = transformers
    return library.BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_attention_heads=heads,
        intermediate_size=hidden, max_position_embeddings=places, attn_implementation="sdpa",
    )  # fmt: skip


def bert_embeddings(config: Any) -> Any:
    """Words, places and kinds of token."""
    return _modeling().BertEmbeddings(config)


def bert_layers(config: Any, count: int) -> nn.ModuleList:
    """Layers of self-attention."""
    return nn.ModuleList([_modeling().BertLayer(config) for _ in range(count)])


def cross_layers(config: Any, count: int) -> nn.ModuleList:
    """Layers with cross-attention; the library builds them as a decoder's."""
    config = deepcopy(config)
    config.is_decoder = config.add_cross_attention = True
    return bert_layers(config, count)


def _modeling() -> Any:
    from transformers.models.bert import modeling_bert

    return modeling_bert
