"""What the shapes of a checkpoint's tensors tell, and how they fill a network."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from cuescope_sdk import UserError
from cuescope_sdk.torch import Checkpoint, to_array

TENSORS: dict[str, Tensor] = {
    "body.layer.0.weight": torch.ones(4, 3),
    "body.layer.10.weight": torch.ones(4, 3),
    "body.layer.10.cross.weight": torch.ones(4, 3),
    "head.weight": torch.ones(2, 4),
}


def test_sizes_and_layers_are_read_off_the_names_and_shapes() -> None:
    file = Checkpoint("model: file.pth", TENSORS)
    assert file.size("head.weight") == 2
    assert file.size("head.weight", 1) == 4
    assert file.layers("body.layer") == 11
    assert file.layers("body") == 0
    assert file.layers_with("body.layer", "cross.weight") == [10]
    assert file.has("body")
    assert not file.has("bod")
    assert file.heads(12, 4) == 3


def test_what_is_not_there_is_said_in_the_authors_words() -> None:
    file = Checkpoint("model: file.pth", TENSORS, describe=lambda name: f"their {name}")
    with pytest.raises(
        UserError, match=r"file.pth does not fit: expected a tensor 'their x'"
    ):
        file.size("x")
    with pytest.raises(UserError, match=r"got shape \(2, 4\)"):
        file.size("head.weight", 2)
    with pytest.raises(
        UserError, match=r"12 wide: expected a multiple of vision_head_dim=5"
    ):
        file.heads(12, 5, "vision_head_dim")


def test_a_network_is_filled_strictly_but_for_spare_tensors() -> None:
    network = nn.Linear(3, 1)
    tensors = {
        "weight": torch.ones(1, 3),
        "bias": torch.ones(1),
        "old.scale": torch.ones(1),
    }
    with pytest.raises(UserError, match=r"1 that fit nowhere, the first old.scale"):
        Checkpoint("m", tensors).load_into(network)
    Checkpoint("m", tensors, spare=("old.",)).load_into(network)
    assert float(network(torch.ones(1, 3)).detach()) == 4.0
    Checkpoint("m", tensors).load_into(network, ("old.",))


@pytest.mark.parametrize("wrapper", [None, "model", "state_dict"])
def test_tensors_are_found_where_training_wrote_them(
    wrapper: str | None, tmp_path: Path
) -> None:
    state = {"module.weight": torch.ones(2), "step": 3}
    content = state if wrapper is None else {wrapper: state, "epoch": 1}
    torch.save(content, tmp_path / "file.pth")
    file = Checkpoint.read("m", tmp_path / "file.pth")
    assert list(file.tensors) == ["weight"]


def test_a_file_without_tensors_is_refused(tmp_path: Path) -> None:
    torch.save({"epoch": 1}, tmp_path / "file.pth")
    with pytest.raises(UserError, match="no tensor with a name"):
        Checkpoint.read("m", tmp_path / "file.pth")


def test_arrays_are_float32_and_integers_stay() -> None:
    half = to_array(torch.ones(2, dtype=torch.bfloat16, requires_grad=True))
    assert half.dtype == np.float32
    assert to_array(torch.ones(2, dtype=torch.int8)).dtype == np.int8
