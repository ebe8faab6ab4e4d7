"""Weights on disk: whole, checked, or not at all; named before they are there."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import safetensors.torch
import torch

from cuescope_sdk import digest
from cuescope_toy.loading import (
    WeightsFile,
    load_checkpoint,
    save_checkpoint,
    weights_digest,
)

WEIGHTS = {
    "head.weight": torch.arange(400.0).reshape(20, 20),
    "head.bias": torch.ones(20),
}
FACTS = {"validation accuracy": "0.931"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "toy" / "a.safetensors"
    save_checkpoint(path, WEIGHTS, FACTS)
    return path


def test_reads_what_was_written(path: Path) -> None:
    checkpoint = load_checkpoint(path)
    assert checkpoint is not None
    weights, facts = checkpoint
    assert facts == FACTS
    assert weights.keys() == WEIGHTS.keys()
    assert all(torch.equal(weights[name], WEIGHTS[name]) for name in WEIGHTS)


def test_nothing_there_is_no_warning(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "none.safetensors") is None


@pytest.mark.parametrize("length", [0, 5, 300, -1])
def test_a_cut_file_is_corrupt(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])
    with pytest.warns(UserWarning, match="is corrupt .* training again"):
        assert load_checkpoint(path) is None


def test_a_flipped_bit_is_corrupt(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="not what was written"):
        assert load_checkpoint(path) is None


@pytest.mark.parametrize("facts", ["[1]", '{"a": 1}', "[" * 100_000, '"a"'])
def test_facts_that_are_no_texts_are_corrupt(path: Path, facts: str) -> None:
    """Their seal fits, which whoever mails a cache can compute."""
    content = [] if facts.startswith("[[") else json.loads(facts)
    seal = digest(weights_digest(WEIGHTS), content)
    path.write_bytes(safetensors.torch.save(WEIGHTS, {"digest": seal, "facts": facts}))
    with pytest.warns(UserWarning, match="is corrupt .* training again"):
        assert load_checkpoint(path) is None


def test_a_failed_write_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def full(*_: object) -> bytes:
        raise OSError("no space left")

    monkeypatch.setattr(safetensors.torch, "save", full)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(path, WEIGHTS, {})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.fixture
def file(tmp_path: Path) -> WeightsFile:
    return WeightsFile("toy", "recipe", tmp_path)


def test_workers_that_open_together_train_once(file: WeightsFile) -> None:
    trained = []

    def train() -> Any:
        trained.append(1)
        sleep(0.3)
        return WEIGHTS, FACTS

    with ThreadPoolExecutor(3) as pool:
        opened = list(pool.map(lambda _: file.load_or_train(train), range(3)))
    assert len(trained) == 1
    assert all(
        torch.equal(weights["head.bias"], torch.ones(20)) for weights, _ in opened
    )


def test_a_fingerprint_needs_no_file_and_facts_do(file: WeightsFile) -> None:
    before = file.fingerprint
    assert file.facts() == {}
    file.load_or_train(lambda: (WEIGHTS, FACTS))
    assert file.facts() == FACTS
    assert WeightsFile("toy", "recipe", file.cache).fingerprint == before
    other_library = WeightsFile(
        "toy", "recipe", file.cache, libraries=("torch", "numpy")
    )
    fingerprints = {
        before,
        WeightsFile("toy", "other", file.cache).fingerprint,
        WeightsFile("toy-fusion", "recipe", file.cache).fingerprint,
        other_library.fingerprint,
    }
    assert len(fingerprints) == 4


def test_facts_of_a_damaged_file_are_not_told(file: WeightsFile) -> None:
    file.load_or_train(lambda: (WEIGHTS, FACTS))
    content = file.path.read_bytes()
    for old, new in ((b"0.931", b"0.981"), (content[-4:], b"\x00\x00\x00\x40")):
        file.path.write_bytes(content.replace(old, new))
        assert file.facts() == {}
        with pytest.warns(UserWarning, match="training again"):
            _, facts = file.load_or_train(lambda: (WEIGHTS, FACTS))
        assert facts == file.facts() == FACTS


def test_a_shipped_file_counts_by_what_is_in_it(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    save_checkpoint(shipped / "recipe.safetensors", WEIGHTS, FACTS)
    file = WeightsFile("toy", "recipe", tmp_path, shipped)
    assert file.path.parent == shipped
    assert file.facts() == FACTS
    first = file.fingerprint
    save_checkpoint(shipped / "recipe.safetensors", WEIGHTS, {**FACTS, "more": "said"})
    assert WeightsFile("toy", "recipe", tmp_path, shipped).fingerprint != first
    assert WeightsFile("toy", "recipe", tmp_path).fingerprint != first
