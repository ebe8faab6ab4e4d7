"""Whatever mixes tokens beside attention closes a network to edits, whoever wrote it."""

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from cuescope_sdk import UserError
from cuescope_transformers.generative.stock_attention import stock_fusion, why_closed

sys.path.insert(0, str(Path(__file__).parent))

import tiny_families


class Roll(nn.Module):
    def forward(self, state: Tensor) -> Tensor:
        return state + torch.roll(state, 1, 1)


class Sum(nn.Module):
    def forward(self, state: Tensor) -> Tensor:
        return state.cumsum(1)


class Mean(nn.Module):
    def forward(self, state: Tensor) -> Tensor:
        return state + 1e-6 * state.mean(1, keepdim=True)


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


class Attention(nn.Module):
    def forward(self, state: Tensor) -> Tensor:
        return nn.functional.scaled_dot_product_attention(
            state, state, state, is_causal=True
        )


class Heads(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(dim, 2, batch_first=True)

    def forward(self, state: Tensor) -> Tensor:
        return self.inner(state, state, state)[0]


class WithAnInput(nn.Module):
    """Wants what no generic question has."""

    def forward(self, state: Tensor, more: Tensor) -> Tensor:
        return state + more


DIM = 32
BY_CLASS = (Convolution, Recurrence, Heads)
MIXERS = (Roll, Sum, Mean, Attention, *BY_CLASS)
LAYER = 1


def network() -> Any:
    config, _ = tiny_families.tiny_parts("qwen3_vl")
    return tiny_families.random_network(config)


@pytest.fixture(scope="module")
def stock() -> Any:
    return network()


def build(mixer: type[nn.Module]) -> nn.Module:
    return mixer(DIM) if mixer in BY_CLASS else mixer()


def layer_of(model: Any) -> Any:
    return model.get_decoder().layers[LAYER]


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("place", ["before the MLP", "its place", "values"])
def test_a_mixer_closes_the_network_and_its_layer_is_named(
    stock: Any, mixer: type[nn.Module], place: str
) -> None:
    model = deepcopy(stock)
    assert why_closed(model) is None
    layer = layer_of(model)
    if place == "its place":
        layer.mlp = build(mixer)
    elif place == "before the MLP":
        layer.mlp = nn.Sequential(build(mixer), layer.mlp)
    else:
        layer.self_attn.v_proj = nn.Sequential(build(mixer), layer.self_attn.v_proj)
    reason = why_closed(model)
    assert reason is not None
    assert "mixes tokens beside attention" in reason
    assert f"layer {LAYER}" in reason
    with pytest.raises(UserError, match=f"layer {LAYER}"):
        stock_fusion(model)


@pytest.mark.parametrize("mixer", BY_CLASS)
def test_a_mixer_of_torch_is_seen_without_weights(
    stock: Any, mixer: type[nn.Module]
) -> None:
    model = deepcopy(stock).to("meta")
    assert why_closed(model) is None
    layer_of(model).mlp = build(mixer).to("meta")
    assert f"layer {LAYER}" in str(why_closed(model))


def test_what_mixes_nothing_leaves_the_network_as_it_was(stock: Any) -> None:
    model = deepcopy(stock)
    ids = torch.arange(6)[None] + 20
    layer_of(model).mlp = nn.Sequential(nn.LayerNorm(DIM), nn.Identity())
    with torch.no_grad():
        before = model(input_ids=ids).logits
        assert why_closed(model) is None
        assert torch.equal(model(input_ids=ids).logits, before)


def test_a_strangers_network_that_cannot_be_asked_is_closed(stock: Any) -> None:
    model = deepcopy(stock)
    layer_of(model).mlp = WithAnInput()
    assert "cannot be seen" in str(why_closed(model))
