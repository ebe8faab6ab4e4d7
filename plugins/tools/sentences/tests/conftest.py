"""A tiny sentence encoder with seeded random weights, saved as a user would find it."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz.",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
)


def bert() -> Any:
    """The smallest BERT that reads letters, seeded."""
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=32,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertModel(config, add_pooling_layer=False)
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.data.normal_(std=0.5)
    return model.eval()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `SentenceTransformer.save` leaves it: mean of the tokens."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Normalize,
        Pooling,
        Transformer,
    )

    plain = tmp_path_factory.mktemp("bert")
    bert().save_pretrained(plain)
    transformers.BertTokenizer(
        vocab={word: i for i, word in enumerate(WORDS)}
    ).save_pretrained(plain)
    transformer = Transformer(str(plain), max_seq_length=16)
    saved = tmp_path_factory.mktemp("sentences")
    SentenceTransformer(
        modules=[transformer, Pooling(16, "mean"), Normalize()], device="cpu"
    ).save(str(saved))
    return saved
