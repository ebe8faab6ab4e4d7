"""What the files of a sentence encoder may not say: no class of its own, no pickle, no kernel."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cuescope_sdk import Context, UserError
from cuescope_sentences import SentenceTransformers


def build(folder: Path, **context: Any) -> SentenceTransformers:
    options = SentenceTransformers.Options(model=str(folder))
    return SentenceTransformers(options, Context(device="cpu", **context))


@pytest.mark.parametrize(
    "name",
    [
        "mine.Mine",
        "os.system",
        "sentence_transformers.base.model.torch",
        "sentence_transformers_mine.Mine",
        "sentence_transformers.util.misc.import_from_string",
    ],
)
@pytest.mark.parametrize("planning", [False, True])
def test_a_class_of_its_own_is_refused(
    folder: Path, tmp_path: Path, name: str, planning: bool
) -> None:
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    modules = json.loads((spoilt / "modules.json").read_text())
    modules[-1]["type"] = name
    (spoilt / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UserError, match=f"names code of its own.*got type: {name}"):
        build(spoilt, planning=planning)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"model_args": {"weights_only": False}}, "weights_only"),
        ({"model_kwargs": {"trust_remote_code": True}}, "trust_remote_code"),
        ({"tokenizer_args": {"code_revision": "x"}}, "code_revision"),
        ({"config_kwargs": {"allow_all_kernels": True}}, "allow_all_kernels"),
    ],
)
def test_arguments_for_the_library_are_refused_by_name(
    folder: Path, tmp_path: Path, arguments: Any, named: str
) -> None:
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    (spoilt / "sentence_bert_config.json").write_text(json.dumps(arguments))
    with pytest.raises(
        UserError, match=f"sentence_bert_config.json is refused.*got {named}"
    ):
        build(spoilt)


@pytest.mark.parametrize("name", ["modules.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("path", ["../other", "/srv/other"])
def test_modules_that_lie_elsewhere_are_refused(
    folder: Path, tmp_path: Path, name: str, path: str
) -> None:
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    (spoilt / name).write_text(json.dumps([{"path": path}]))
    with pytest.raises(UserError, match=r"a path in \w+\.json leads out of its folder"):
        build(spoilt)


def test_compiled_code_of_the_hub_is_refused(folder: Path, tmp_path: Path) -> None:
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    config = json.loads((spoilt / "config.json").read_text())
    (spoilt / "config.json").write_text(
        json.dumps({**config, "attn_implementation": "any/body"})
    )
    with pytest.raises(UserError, match=r"names compiled code of the hub.*any/body"):
        build(spoilt)


def test_what_the_library_saved_is_taken(folder: Path) -> None:
    assert build(folder).encode(["a cow"]).shape == (1, 16)
