"""Files of strangers: bombs are refused before they unfold, kernels and pickles never run."""

import json
import pickle
import re
import struct
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cuescope_sdk import UserError
from cuescope_sdk.models import require_small_archive
from cuescope_sdk.models._zero_shot.heads import read_table
from cuescope_sdk.torch import (
    named_values,
    quiet,
    refuse_larger_networks,
    require_plain_config,
)
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


LIST = b"PK\1\2"  # an entry of the list of files
END = b"PK\5\6"


def with_small_list(content: bytes, *, is_64: bool = False) -> bytes:
    """A zip with a second list of its files, where they are small; its end names the first one.

    In 64 bits the end before the end names another end.
    """
    end = content.rfind(END)
    count, length, start = struct.unpack("<HLL", content[end + 10 : end + 20])
    small = bytearray(content[start:end])
    for place in [found.start() for found in re.finditer(LIST, small)]:
        small[place + 24 : place + 28] = bytes(4)
    if not is_64:
        return content[:end] + small + content[end:]
    ends = [
        struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, at)
        for at in (start, end + 56)
    ]
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    return content[:end] + ends[0] + small + ends[1] + locator + content[end:]


def with_odd_entry(content: bytes, place: int, odd: bytes) -> bytes:
    """A zip with other bytes in the first entry of its list."""
    at = content.find(LIST) + place
    return content[:at] + odd + content[at + len(odd) :]


TWO_WAYS: dict[str, Callable[[bytes], bytes]] = {
    "two lists": with_small_list,
    "two ends": partial(with_small_list, is_64=True),
    "a new version": partial(with_odd_entry, place=6, odd=b"\x63"),
    "a name that is no UTF-8": lambda content: with_odd_entry(
        with_odd_entry(content, 8, b"\0\x08"), 46, b"\xff"
    ),
    "a note behind it": lambda content: content[:-2] + b"\4\0note",
    "cut off": lambda content: content[:-30],
}


@pytest.mark.parametrize("way", TWO_WAYS)
def test_an_archive_that_others_read_in_another_way(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zipfile saw small files where torch unpacked 160 MB of 160 kB, or saw none at all."""
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.001")
    torch.save({"w": torch.zeros(2**20)}, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as whole:
        files = {info.filename: whole.read(info) for info in whole.infolist()}
    with zipfile.ZipFile(tmp_path / "a.pt", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    with pytest.raises(UserError, match=r"unfolds to 0\.004 GB"):
        read_weights("x", tmp_path / "a.pt")
    (tmp_path / "a.pt").write_bytes(TWO_WAYS[way]((tmp_path / "a.pt").read_bytes()))
    with pytest.raises(UserError, match=r"a\.pt is no whole archive"):
        read_weights("x", tmp_path / "a.pt")


def test_our_own_archives_are_read(tmp_path: Path) -> None:
    torch.save({"w": torch.zeros(3)}, tmp_path / "a.pt")
    np.savez(tmp_path / "b.npz", w=np.zeros(3))
    np.savez_compressed(tmp_path / "c.npz", w=np.zeros(3))
    for name in ("a.pt", "b.npz", "c.npz"):
        require_small_archive("x", tmp_path / name)


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
    others = {"bomb": "unfolds to 0.008 GB", "cut": "is no whole archive"}
    said = others.get(kind, "is no table of class embeddings")
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
        require_plain_config("x", tmp_path / "config.json")


@pytest.mark.parametrize(
    "config",
    [
        {"backbone": "any/body"},
        {"backbone_config": {"backbone": "local-dir:/srv/other"}},
        {"vision_config": {"architecture": "hf-hub:any/body"}},
        {"vision_config": {"model_args": {"checkpoint_path": "x.pth"}}},
        {"transformers_weights": "other/model.safetensors.index.json"},
    ],
)
def test_networks_and_weights_that_lie_elsewhere(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        UserError, match=r"x: config\.json names (a network|other weights)"
    ):
        require_plain_config("x", tmp_path / "config.json")


def test_plain_configurations_pass(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    for text in (
        '{"attn_implementation": "sdpa"}',
        '{"backbone": "resnet50", "architectures": ["a/b"], "transformers_weights": null}',
        "{}",
        "[]",
        "{",
        "[" * 100_000,
        "7",
    ):
        file.write_text(text)
        require_plain_config("x", file)
    assert [*named_values(tmp_path / "none.json")] == []


def test_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.dynamic_module_utils import resolve_trust_remote_code

    monkeypatch.setattr("builtins.input", lambda *words: pytest.fail("asked"))
    with quiet(), pytest.raises(ValueError, match="trust_remote_code"):
        resolve_trust_remote_code(
            None, "any/body", has_local_code=False, has_remote_code=True
        )


@pytest.mark.parametrize(
    "build",
    [
        lambda: torch.nn.Linear(10**6, 10**6),
        lambda: torch.nn.Sequential(*(torch.nn.Linear(1, 1) for _ in range(10**5))),
        lambda: torch.nn.BatchNorm1d(10**9, affine=False),
    ],
    ids=["wide", "deep", "buffers"],
)
def test_a_network_that_its_weights_cannot_fill_is_refused_as_it_is_built(
    tmp_path: Path, build: Callable[[], Any]
) -> None:
    weights = tmp_path / "a.safetensors"
    weights.write_bytes(bytes(1000))
    with (
        pytest.raises(UserError, match="a larger network than its weights") as line,
        torch.device("meta"),
        refuse_larger_networks("mine", [weights, tmp_path / "missing"]),
    ):
        build()
    assert "\n" not in str(line.value)
    # afterwards, in other threads, and of what is filled at once nothing is counted
    with torch.device("meta"):
        torch.nn.Linear(10**6, 10**6)
    with torch.device("meta"), refuse_larger_networks("mine", [weights]):
        torch.nn.Linear(100, 100)
    # a network in memory has no files, and is the caller's own
    with torch.device("meta"), refuse_larger_networks("mine", []):
        torch.nn.Linear(10**6, 10**6)


@pytest.mark.parametrize("name", ["num_hidden_layers", "n_layer", "num_labels"])
@pytest.mark.parametrize("count", [10**9, 10**400, float("inf")])
def test_a_configuration_of_layers_without_an_end_is_refused(
    tmp_path: Path, name: str, count: float
) -> None:
    """transformers makes a list of all of them before any is built."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"text_config": {name: count}}))
    with pytest.raises(UserError, match=f"more parts than any network has.*{name}"):
        require_plain_config("mine", config)
    config.write_text(json.dumps({"text_config": {name: 21_843}}))
    require_plain_config("mine", config)
