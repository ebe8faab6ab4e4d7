"""Code is part of what a model is: a wheel that is built again under its version asks again."""

import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from cuescope_core.building import Built
from cuescope_core.context import Context
from cuescope_core.engine import identity_of
from cuescope_core.registry import Registry, code_digest

MODEL = """
from cuescope_sdk import Capabilities, Options, Plugin

class Model(Plugin):
    Options = Options
    capabilities = Capabilities(outputs=frozenset(("logits",)))
    fingerprint = "weights"
    {word}

    def respond(self, trials):
        return {answers}
"""


def install(place: Path, code: str, installer: str = "pip") -> None:
    """As pip writes a wheel."""
    info = place / "rebuilt-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    files = {
        "rebuilt_model.py": code,
        f"{info.name}/METADATA": "Metadata-Version: 2.1\nName: rebuilt\nVersion: 1.0\n",
        f"{info.name}/entry_points.txt": "[cuescope.models]\nrebuilt = rebuilt_model:Model\n",
        f"{info.name}/INSTALLER": installer,
    }
    record = [f"{info.name}/RECORD,,", "__pycache__/rebuilt_model.pyc,sha256=x,1"]
    for name, text in files.items():
        (place / name).write_text(text)
        hashed = urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip("=")
        record.append(f"{name},sha256={hashed},{len(text)}")
    (info / "RECORD").write_text("\n".join(record))


def identity(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of the model, as the next process sees it."""
    monkeypatch.delitem(sys.modules, "rebuilt_model", raising=False)
    code_digest.cache_clear()
    context = Context(Registry(), place / "cache")
    built = Built.of(context.resolve("model", "rebuilt"), context)
    return identity_of(built.stamp, "float32")


@pytest.mark.parametrize(("word", "asks"), [("", True), ("answers_version = 1", False)])
def test_a_wheel_of_the_same_version_with_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, *, asks: bool
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    install(tmp_path, MODEL.format(word=word, answers="1"))
    first = identity(tmp_path, monkeypatch)
    # on another computer
    install(tmp_path, MODEL.format(word=word, answers="1"), installer="uv")
    assert identity(tmp_path, monkeypatch) == first
    install(tmp_path, MODEL.format(word=word, answers="2"))
    assert (identity(tmp_path, monkeypatch) != first) is asks


def test_a_package_without_a_record_has_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    identities = set()
    for answers in "12":
        install(tmp_path, MODEL.format(word="", answers=answers))
        (tmp_path / "rebuilt-1.0.dist-info" / "RECORD").unlink()
        identities.add(identity(tmp_path, monkeypatch))
    assert len(identities) == 2
