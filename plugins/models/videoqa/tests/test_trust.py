"""A tokenizer's folder runs no code and asks nobody; files that unfold are refused."""

import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from videoqa_samples import PLUGINS, SAMPLES, options

from cuescope_sdk import Context, Trial, UserError

NAMES = tuple(PLUGINS)


class Stdin:
    """Says yes, and remembers that it was asked."""

    asked = False

    def readline(self, *size: int) -> str:
        self.asked = True
        return "yes\n"


@pytest.fixture
def canary(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """`canary(NAME, tokenizer_class=...)`: its text encoder with code, which leaves `ran`."""

    def make(name: str, **rules: Any) -> Path:
        folder = tmp_path / "words"
        shutil.copytree(options(name, place)["text_encoder"], folder)
        auto = {
            "auto_map": {
                "AutoTokenizer": ["mine.Mine", "mine.Mine"],
                "AutoConfig": "mine.Mine",
            }
        }
        for file in ("tokenizer_config.json", "config.json", "processor_config.json"):
            path = folder / file
            known = json.loads(path.read_text()) if path.exists() else {}
            path.write_text(json.dumps({**known, **auto, **rules}))
        (folder / "mine.py").write_text(
            f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
        )
        return folder

    return make


@pytest.mark.parametrize("kind", ["Mine", "AutoProcessor", "AutoModel"])
@pytest.mark.parametrize("name", NAMES)
def test_a_text_encoder_runs_no_code_and_asks_nobody(
    name: str,
    kind: str,
    place: Path,
    canary: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stdin = Stdin()
    monkeypatch.setattr(sys, "stdin", stdin)
    folder = canary(name, tokenizer_class=kind, processor_class=kind)
    plugin = PLUGINS[name]
    given = {**options(name, place), "text_encoder": str(folder)}
    # the library has a class of its own for some: then it is taken
    with suppress(UserError):
        plugin(plugin.Options(**given), Context(device="cpu")).open_weights()
    assert not stdin.asked
    assert not (tmp_path / "ran").exists()


def squeeze(path: Path) -> None:
    """The same archive, its files compressed."""
    files = {}
    with zipfile.ZipFile(path) as archive:
        files = {file.filename: archive.read(file) for file in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("option", ["checkpoint", "features"])
@pytest.mark.parametrize("kind", ["compressed", "a view of one number"])
def test_a_file_that_unfolds_is_refused(
    option: str, kind: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.01")
    bomb = tmp_path / "bomb.pth"
    rows = (
        torch.zeros(1).expand(3_000_000, 1)
        if kind != "compressed"
        else torch.zeros(3_000_000)
    )
    torch.save({"state_dict": {"one": rows}}, bomb)
    if kind == "compressed":
        squeeze(bomb)
        assert bomb.stat().st_size < 100_000
    plugin = PLUGINS["just-ask"]
    given = {**options("just-ask", place), option: bomb}
    with pytest.raises(
        UserError, match=r"bomb.pth unfolds to 0.012 GB.*CUESCOPE_MAX_ARCHIVE_GB=1"
    ):
        plugin(plugin.Options(**given), Context(device="cpu")).open_weights()


def test_a_limit_can_be_raised(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = tmp_path / "s3d.pth"
    known = torch.load(place / "s3d.pth", weights_only=True)
    torch.save(
        {name: torch.zeros(4000, rows.shape[1]) for name, rows in known.items()},
        features,
    )
    squeeze(features)
    plugin = PLUGINS["just-ask"]
    given = {**options("just-ask", place), "features": features}
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.000001")
    with pytest.raises(UserError, match="unfolds to"):
        plugin(plugin.Options(**given), Context(device="cpu")).open_weights()
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "1")
    plugin(plugin.Options(**given), Context(device="cpu")).open_weights()


def test_an_array_that_claims_more_than_its_file_is_refused(
    place: Path, tmp_path: Path
) -> None:
    with (tmp_path / "one.npy").open("wb") as file:
        shape = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 1024)}
        np.lib.format.write_array_header_1_0(file, shape)
        file.write(bytes(4096))
    plugin = PLUGINS["just-ask"]
    given = {**options("just-ask", place), "features": tmp_path}
    model = plugin(plugin.Options(**given), Context(device="cpu"))
    with pytest.raises(UserError, match=r"one.npy of the features cannot be read"):
        model.respond([Trial(sample=SAMPLES[0])])
