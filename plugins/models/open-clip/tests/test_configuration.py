"""What a folder's configuration may not say: no code of its own runs, and the key is named."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cuescope_open_clip import OpenCLIP
from cuescope_sdk import UserError

Build = Callable[..., OpenCLIP]
Write = Callable[..., Path]


@pytest.fixture
def spoil(folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """`spoil(text_cfg={...}, vision_cfg={...})`: the tiny model with more in its configuration.

    Code of the folder leaves the file `ran`, and its tokenizer is code.
    """

    def make(**sides: dict[str, Any]) -> Path:
        spoilt = tmp_path / "spoilt"
        spoilt.mkdir()
        (spoilt / "open_clip_model.safetensors").hardlink_to(
            folder / "open_clip_model.safetensors"
        )
        content = json.loads((folder / "open_clip_config.json").read_text())
        for side, more in sides.items():
            content["model_cfg"].setdefault(side, {}).update(more)
        (spoilt / "open_clip_config.json").write_text(json.dumps(content))
        names = {
            "auto_map": {
                "AutoTokenizer": ["mine.Mine", None],
                "AutoConfig": "mine.Mine",
            }
        }
        for name in ("tokenizer_config.json", "config.json"):
            (spoilt / name).write_text(json.dumps({"tokenizer_class": "Mine", **names}))
        (spoilt / "mine.py").write_text(
            f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
        )
        return spoilt

    return make


@pytest.mark.parametrize(
    ("sides", "named"),
    [
        (
            {"text_cfg": {"tokenizer_kwargs": {"trust_remote_code": True}}},
            "trust_remote_code",
        ),
        (
            {"text_cfg": {"tokenizer_kwargs": {"trust_remote_code": "yes"}}},
            "trust_remote_code",
        ),
        ({"text_cfg": {"trust_remote_code": True}}, "trust_remote_code"),
        ({"text_cfg": {"tokenizer_kwargs": {"code_revision": "x"}}}, "code_revision"),
        (
            {"text_cfg": {"tokenizer_kwargs": {"tokenizer_file": "/x"}}},
            "tokenizer_file",
        ),
        ({"text_cfg": {"tokenizer_kwargs": {"bpe_path": "/x"}}}, "bpe_path"),
        (
            {"text_cfg": {"tokenizer_kwargs": {"clean": {"trust_remote_code": 1}}}},
            "trust_remote",
        ),
        ({"text_cfg": {"tokenizer_kwargs": ["trust_remote_code"]}}, "tokenizer_kwargs"),
        ({"multimodal_cfg": {"tokenizer_kwargs": {"auto_map": {}}}}, "auto_map"),
        ({"vision_cfg": {"timm_model_name": "hf-hub:some/body"}}, "timm_model_name"),
        ({"vision_cfg": {"timm_model_name": "local-dir:/some"}}, "timm_model_name"),
        ({"text_cfg": {"hf_model_name": "some/tower"}}, "hf_model_name"),
        ({"text_cfg": {"hf_model_name": "../outside"}}, "hf_model_name"),
        ({"multimodal_cfg": {"hf_model_name": "some/tower"}}, "hf_model_name"),
    ],
)
@pytest.mark.parametrize("planning", [False, True])
def test_a_key_that_asks_for_code_is_refused_by_name(
    build: Build, spoil: Write, tmp_path: Path, sides: Any, named: str, planning: bool
) -> None:
    sides = {side: {"hf_tokenizer_name": "x", **more} for side, more in sides.items()}
    with pytest.raises(
        UserError, match=rf"open_clip_config.json of .* is refused.*{named}"
    ) as line:
        build(model=str(spoil(**sides)), planning=planning)
    assert "\n" not in str(line.value)
    assert not (tmp_path / "ran").exists()


class Stdin:
    """Says yes, and remembers that it was asked."""

    asked = False

    def readline(self, *size: int) -> str:
        self.asked = True
        return "yes\n"


@pytest.mark.parametrize("kind", ["tokenizer", "text tower", "class of an Auto class"])
def test_nobody_is_asked(
    build: Build,
    spoil: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    """transformers asks where `trust_remote_code` is left out, as open_clip does."""
    more: dict[str, Any] = {"hf_tokenizer_name": "x"}
    spoilt = spoil(text_cfg=more)
    if kind == "text tower":
        text = {"hf_tokenizer_name": "x", "hf_model_name": str(spoilt)}
        content = json.loads((spoilt / "open_clip_config.json").read_text())
        content["model_cfg"]["text_cfg"] |= text
        (spoilt / "open_clip_config.json").write_text(json.dumps(content))
    if kind == "class of an Auto class":
        rules = json.loads((spoilt / "tokenizer_config.json").read_text())
        rules |= {"tokenizer_class": "AutoProcessor"}
        (spoilt / "tokenizer_config.json").write_text(
            json.dumps(rules | {"auto_map": {}})
        )
        own = {"auto_map": {"AutoProcessor": "mine.Mine"}, "processor_class": "Mine"}
        (spoilt / "processor_config.json").write_text(json.dumps(own))
    stdin = Stdin()
    monkeypatch.setattr(sys, "stdin", stdin)
    model = build(model=str(spoilt))
    with pytest.raises(UserError, match="cannot be built"):
        model.open_weights() if kind == "text tower" else model.embed_texts(["a"])
    assert not stdin.asked
    assert not (tmp_path / "ran").exists()


def test_plain_words_for_a_tokenizer_are_taken(
    build: Build, write_folder: Write, tmp_path: Path
) -> None:
    size = {
        "context_length": 32,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    }
    text = {**size, "tokenizer_kwargs": {"clean": "canonicalize"}}
    model = build(model=str(write_folder(tmp_path / "plain", text_cfg=text)))
    assert model.embed_texts(["A  bird!"]).shape == (1, 16)


def test_a_text_tower_is_read_from_the_models_own_folder(
    build: Build, spoil: Write, tmp_path: Path
) -> None:
    """Its name is a hub id to transformers; of the folder it is a path, wherever one stands."""
    spoilt = spoil(text_cfg={"hf_model_name": "text"})
    (spoilt / "text").mkdir()
    tower = {
        "model_type": "bert",
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 49408,
    }
    (spoilt / "text" / "config.json").write_text(json.dumps(tower))
    model = build(model=str(spoilt))
    # it was read: the weights are those of open_clip's own tower
    with pytest.raises(UserError, match=r"open_clip_model\.safetensors does not fit"):
        model.open_weights()
    kernel = {**tower, "attn_implementation": "canary/kernel"}
    (spoilt / "text" / "config.json").write_text(json.dumps(kernel))
    with pytest.raises(UserError, match="compiled code of the hub"):
        build(model=str(spoilt))


EVIL: list[Any] = [10**9, 10**400, -1, 0, float("nan"), float("inf"), "x", [], None]


def places(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where a value of a configuration stands, sides among them."""
    for name, value in content.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from places(value, (*path, name))


@pytest.mark.parametrize("evil", EVIL, ids=lambda evil: f"{evil!r:.8}")
def test_no_value_of_a_configuration_takes_memory_or_time_without_an_end(
    build: Build, folder: Path, tmp_path: Path, evil: Any
) -> None:
    """Each place of it; what is built all the same is as large as its weights."""
    spoilt = tmp_path / "spoilt"
    spoilt.mkdir()
    weights = "open_clip_model.safetensors"
    (spoilt / weights).hardlink_to(folder / weights)
    whole = json.loads((folder / "open_clip_config.json").read_text())
    refusals = []
    for path in places(whole["model_cfg"]):
        content = json.loads(json.dumps(whole))
        side = content["model_cfg"]
        for name in path[:-1]:
            side = side[name]
        side[path[-1]] = evil
        (spoilt / "open_clip_config.json").write_text(json.dumps(content))
        try:
            build(model=str(spoilt)).open_weights()
        except UserError as line:
            refusals.append(str(line))
    assert len(refusals) > 5
    assert "\n" not in "".join(refusals)
