"""Files of strangers: bombs are refused before they unfold, kernels and pickles never run."""

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cuescope_sdk import UserError
from cuescope_sdk.models import require_small_archive
from cuescope_sdk.models._zero_shot.heads import read_table
from cuescope_sdk.torch import named_values, quiet, refuse_kernels
from cuescope_sdk.torch._strangers import read_weights


class Bomb:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def compressed(path: Path, megabytes: int, entries: int = 1) -> Path:
    """A zip of zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in range(entries):
            archive.writestr(f"{entry}", bytes(megabytes * 1_000_000))
    return path


def test_an_archive_is_weighed_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compressed(tmp_path / "a.npz", 4, entries=4)
    require_small_archive("x", path)
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.015")
    with pytest.raises(
        UserError, match=r"x: a.npz unfolds to 0.016 GB: expected at most 0.015 GB"
    ):
        require_small_archive("x", path)


def test_what_is_stored_as_it_is_may_be_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.000001")
    torch.save({"a": torch.zeros(100_000)}, tmp_path / "a.pt")
    assert read_weights("x", tmp_path / "a.pt")["a"].shape == (100_000,)
    (tmp_path / "b.pt").write_text("no archive")
    require_small_archive("x", tmp_path / "b.pt")


@pytest.mark.parametrize("text", ["much", "nan", "inf", ""])
def test_a_limit_that_is_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", text)
    with pytest.raises(UserError, match=r"CUESCOPE_MAX_ARCHIVE_GB: expected a number"):
        require_small_archive("x", compressed(tmp_path / "a.npz", 1))


@pytest.mark.parametrize("kind", ["bomb", "header", "pickle", "cut"])
def test_a_table_of_class_embeddings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = tmp_path / "classes.npz"
    names, rows = np.array(["a", "b"]), np.zeros((2, 1_000_000), np.float32)
    if kind == "pickle":
        names = np.array([Bomb(tmp_path / "ran"), "b"], dtype=object)
    np.savez_compressed(path, names=names, embeddings=rows)
    if kind == "bomb":
        monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.001")
    if kind == "header":  # claims terabytes, holds nothing
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("names", "embeddings"):
                with archive.open(f"{name}.npy", "w") as file:
                    shape = {"descr": "<f4", "fortran_order": False, "shape": (10**13,)}
                    np.lib.format.write_array_header_1_0(file, shape)
    if kind == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    said = (
        "unfolds to 0.008 GB" if kind == "bomb" else "is no table of class embeddings"
    )
    with pytest.raises(UserError, match=said) as line:
        read_table(path, "x")
    assert "\n" not in str(line.value)
    assert not (tmp_path / "ran").exists()


def test_views_of_one_number_count_as_what_they_would_take(tmp_path: Path) -> None:
    wide = torch.zeros(1).expand(10**10, 64)
    inner = {"a": [wide]}
    torch.save(inner, tmp_path / "a.pt")
    assert (tmp_path / "a.pt").stat().st_size < 10_000
    with pytest.raises(UserError, match=r"a.pt unfolds to 2,560.000 GB"):
        read_weights("x", tmp_path / "a.pt")
    tied = torch.zeros(1000)
    torch.save({"a": tied, "b": tied, "c": tied.view(10, 100)}, tmp_path / "tied.pt")
    assert len(read_weights("x", tmp_path / "tied.pt")) == 3
    torch.save({"a": torch.zeros(10, device="meta")}, tmp_path / "meta.pt")
    with pytest.raises(UserError, match="a tensor without its numbers"):
        read_weights("x", tmp_path / "meta.pt")


def test_weights_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"")
    monkeypatch.setattr("os.access", lambda *_: False)  # root may read everything
    with pytest.raises(UserError, match=r"a.safetensors may not be read by this user"):
        read_weights("x", tmp_path / "a.safetensors")


@pytest.mark.parametrize("kind", ["torch", "pickle", "safetensors"])
def test_weights_that_run_code(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("a.safetensors" if kind == "safetensors" else "a.pt")
    if kind == "torch":
        torch.save({"a": Bomb(tmp_path / "ran")}, path)
    else:
        path.write_bytes(pickle.dumps({"a": Bomb(tmp_path / "ran")}))
    with pytest.raises(
        UserError, match=f"{path.name} cannot be read as weights"
    ) as line:
        read_weights("x", path)
    assert "\n" not in str(line.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "config",
    [
        {"attn_implementation": "any/body"},
        {"_attn_implementation": "any/body@main"},
        {"text_config": {"attn_implementation": {"text": "any/body"}}},
        {"parts": [{"experts_implementation": "any/body"}]},
    ],
)
def test_compiled_code_of_the_hub(tmp_path: Path, config: dict[str, Any]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="compiled code of the hub"):
        refuse_kernels("x", tmp_path / "config.json")


def test_plain_configurations_pass(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    for text in (
        '{"attn_implementation": "sdpa"}',
        "{}",
        "[]",
        "{",
        "[" * 100_000,
        "7",
    ):
        file.write_text(text)
        refuse_kernels("x", file)
    assert [*named_values(tmp_path / "none.json")] == []


def test_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.dynamic_module_utils import resolve_trust_remote_code

    monkeypatch.setattr("builtins.input", lambda *words: pytest.fail("asked"))
    with quiet(), pytest.raises(ValueError, match="trust_remote_code"):
        resolve_trust_remote_code(
            None, "any/body", has_local_code=False, has_remote_code=True
        )
