"""The four plugins on small checkpoints, loaded as a user loads them."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from cuescope_sdk import Context

# for the modules beside, whose names are their own
sys.path.insert(0, str(Path(__file__).parent))
import videoqa_published as published
from videoqa_samples import ANSWERS, PLUGINS, WORDS, options


def save_tokenizer(folder: Path) -> Path:
    """Whole words, lower-cased, [CLS] before and [SEP] after."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    rules = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    )
    special = [(word, vocabulary[word]) for word in ("[CLS]", "[SEP]")]
    rules.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=special
    )
    named = {
        "pad": "[PAD]",
        "unk": "[UNK]",
        "cls": "[CLS]",
        "sep": "[SEP]",
        "mask": "[MASK]",
    }
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        **{f"{name}_token": word for name, word in named.items()},
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the plugins are given."""
    root = tmp_path_factory.mktemp("videoqa")
    save_tokenizer(root / "words")
    (root / "answers.json").write_text(
        json.dumps({a: i for i, a in enumerate(ANSWERS)})
    )
    generator = torch.Generator().manual_seed(3)
    names = ("one", "two", "three", "four", "five")
    for file, dim in (("s3d.pth", published.S3D), ("clip.pth", published.CLIP)):
        rows = {
            n: torch.randn(3 + i, dim, generator=generator) for i, n in enumerate(names)
        }
        torch.save(rows, root / file)
    torch.save(published.drawn(published.just_ask()), root / "just-ask.pth")
    for name, biased in (("deberta", False), ("biased", True)):
        (root / name).mkdir()
        config = published.deberta_config(biased)
        (root / name / "config.json").write_text(json.dumps(config))
        save_tokenizer(root / name)
    torch.save(
        {
            "model": published.drawn(published.frozen_bilm()),
            "optimizer": {},
            "epoch": 3,
            "args": Namespace(lr=5e-5),
        },
        root / "frozen-bilm.pth",
    )
    torch.save(
        {"model": published.drawn(published.singularity())}, root / "singularity.pth"
    )
    torch.save(
        {"state_dict": published.drawn(published.all_in_one())},
        root / "all-in-one.ckpt",
    )
    return root


@pytest.fixture(scope="session")
def build(place: Path) -> Callable[..., Any]:
    """`build("just-ask", answers=None)`: the plugin with other options, its weights open."""

    def make(name: str, **changes: Any) -> Any:
        plugin = PLUGINS[name]
        model = plugin(
            plugin.Options(**{**options(name, place), **changes}), Context(device="cpu")
        )
        model.open_weights()
        return model

    return make
