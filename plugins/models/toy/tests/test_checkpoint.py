"""Weights on disk: whole, checked, or not at all."""

from pathlib import Path

import pytest
import torch

from cuescope_toy import checkpoint
from cuescope_toy.checkpoint import load_checkpoint, save_checkpoint

WEIGHTS = {"head.weight": torch.arange(400.0).reshape(20, 20), "head.bias": torch.ones(20)}
FACTS = {"validation accuracy": "0.931"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "toy" / "a.safetensors"
    save_checkpoint(path, WEIGHTS, FACTS)
    return path


def test_reads_what_was_written(path: Path) -> None:
    found = load_checkpoint(path)
    assert found is not None
    weights, facts = found
    assert facts == FACTS
    assert weights.keys() == WEIGHTS.keys()
    assert all(torch.equal(weights[name], WEIGHTS[name]) for name in WEIGHTS)


def test_nothing_there_is_no_warning(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "none.safetensors") is None


@pytest.mark.parametrize("kept", [0, 5, 300, -1])
def test_a_cut_file_is_corrupt(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.warns(UserWarning, match="is corrupt .* training again"):
        assert load_checkpoint(path) is None


def test_a_flipped_bit_is_corrupt(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="not what was written"):
        assert load_checkpoint(path) is None


def test_a_failed_write_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def full(*_: object) -> bytes:
        raise OSError("no space left")

    monkeypatch.setattr(checkpoint, "save", full)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(path, WEIGHTS, {})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
