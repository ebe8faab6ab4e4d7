"""The functional network against torch's own modules."""

import torch

from cuescope_toy.network import (
    embed,
    initial_weights,
    input_layer,
    layer_shapes,
    standardise,
)

SHAPES = layer_shapes(frames=3, feature=5, dim=8)


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _linear(
    weights: dict[str, torch.Tensor], name: str, frame: int | None = None
) -> torch.nn.Linear:
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    if frame is not None:
        weight, bias = weight[frame], bias[frame]
    layer = torch.nn.Linear(*weight.shape)
    layer.weight, layer.bias = torch.nn.Parameter(weight.T), torch.nn.Parameter(bias[0])
    return layer


def test_equals_modules_as_the_paper_describes_them() -> None:
    weights = initial_weights(SHAPES, _generator())
    inputs = torch.randn(9, 3, 5, generator=_generator(1))
    frames = []
    for frame in range(3):
        layers = [_linear(weights, f"project.{layer}", frame) for layer in range(2)]
        head = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])
        frames.append(head(inputs[:, frame]))
    layers = [_linear(weights, f"head.{layer}") for layer in range(3)]
    head = torch.nn.Sequential(
        layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2]
    )
    expected = head(torch.cat(frames, dim=1))
    expected = expected / expected.norm(dim=1, keepdim=True)
    torch.testing.assert_close(embed(weights, inputs), expected)


def test_order_of_frames_matters() -> None:
    weights = initial_weights(SHAPES, _generator())
    inputs = torch.randn(4, 3, 5, generator=_generator(1))
    assert (embed(weights, inputs) - embed(weights, inputs.flip(1))).abs().max() > 1e-2


def test_initial_weights_are_torchs_and_leave_global_randomness_alone() -> None:
    before = torch.get_rng_state()
    shapes = layer_shapes(2, 100, 8)
    weights = initial_weights(shapes, _generator())
    assert torch.equal(before, torch.get_rng_state())
    first = weights["project.0.weight"]
    # uniform on +-1/sqrt(100): standard deviation 0.1 / sqrt(3)
    assert first.abs().max() <= 0.1
    assert abs(first.std().item() - 0.1 / 3**0.5) < 2e-3
    assert weights["project.0.bias"].abs().max() > 0
    again = initial_weights(shapes, _generator())
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_the_input_layer_counts_how_often_a_frame_is_shown() -> None:
    features = torch.tensor([[0.0, 10.0], [4.0, 10.0]])
    fixed = input_layer(features, torch.tensor([3.0, 1.0]))
    shown = features[[0, 0, 0, 1]]
    torch.testing.assert_close(fixed["input.mean"], shown.mean(0))
    torch.testing.assert_close(
        fixed["input.scale"], shown.var(0, correction=0).mean().sqrt()
    )
    inputs = standardise(fixed, shown)
    torch.testing.assert_close(inputs.mean(0), torch.zeros(2))
    torch.testing.assert_close(inputs.square().mean(), torch.tensor(1.0))


def test_constant_features_stay_finite() -> None:
    fixed = input_layer(torch.ones(2, 3), torch.ones(2))
    assert standardise(fixed, torch.ones(2, 3)).abs().max() == 0
