"""A module that mixes tokens beside attention closes a network to edits, whoever wrote it."""

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor, nn

from cuescope_sdk import UserError
from cuescope_transformers.generative.stock_attention import stock_fusion, why_closed

sys.path.insert(0, str(Path(__file__).parent))

import tiny_families


class Convolution(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.inner = nn.Conv1d(dim, dim, 3, padding=2)

    def forward(self, state: Tensor) -> Tensor:
        mixed = self.inner(state.transpose(1, 2))[..., : state.shape[1]]
        return state + mixed.transpose(1, 2)


class Recurrence(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.inner = nn.GRU(dim, dim, batch_first=True)

    def forward(self, state: Tensor) -> Tensor:
        return self.inner(state)[0]


class Heads(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(dim, 2, batch_first=True)

    def forward(self, state: Tensor) -> Tensor:
        return self.inner(state, state, state)[0]


DIM = 32
BY_CLASS = (Convolution, Recurrence, Heads)
LAYER = 1


def network() -> Any:
    config, _ = tiny_families.tiny_parts("qwen3_vl")
    return tiny_families.random_network(config)


@pytest.fixture(scope="module")
def stock() -> Any:
    return network()


def layer_of(model: Any) -> Any:
    return model.get_decoder().layers[LAYER]


@pytest.mark.parametrize("mixer", BY_CLASS)
@pytest.mark.parametrize("place", ["before the MLP", "its place", "values"])
def test_a_mixer_closes_the_network_and_its_layer_is_named(
    stock: Any, mixer: type[nn.Module], place: str
) -> None:
    """It needs no weights."""
    model = deepcopy(stock).to("meta")
    assert why_closed(model) is None
    layer = layer_of(model)
    mixing = mixer(DIM).to("meta")
    if place == "its place":
        layer.mlp = mixing
    elif place == "before the MLP":
        layer.mlp = nn.Sequential(mixing, layer.mlp)
    else:
        layer.self_attn.v_proj = nn.Sequential(mixing, layer.self_attn.v_proj)
    reason = why_closed(model)
    assert reason is not None
    assert "mixes tokens beside attention" in reason
    assert f"layer {LAYER}" in reason
    with pytest.raises(UserError, match=f"layer {LAYER}"):
        stock_fusion(model)
