"""The data, the network against torch's own, a planted truth, and what outlives a kill."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from cuescope_quag.simulation import training as fitting
from cuescope_quag.simulation.data import (
    DIM,
    TOKENS,
    couple_variables,
    target_variance,
    unimodal_error,
    weighting,
)
from cuescope_quag.simulation.figure import Rise, figure, increase, rises, table
from cuescope_quag.simulation.network import (
    Dropout,
    Sizes,
    Weights,
    initial_weights,
    predict,
)
from cuescope_quag.simulation.training import (
    QUICK,
    Errors,
    Runs,
    Schedule,
    Training,
    fit,
    train_and_test,
)
from cuescope_sdk import Context

SMALL = replace(
    QUICK,
    train=2_048,
    val=256,
    test=512,
    epochs=3,
    learning_rate=0.01,
    sizes=Sizes(1, 48, 1),
)
TINY = replace(SMALL, train=64, val=16, test=16, epochs=2, sizes=Sizes(1, 8, 1))


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# ------------------------------------------------------------------------------------------ data


def test_the_weights_of_the_mean_are_the_papers() -> None:
    p = weighting()
    assert p[0].item() == pytest.approx(10 * np.sin(np.pi / 202))
    assert p[-1].item() == pytest.approx(10 * np.sin(100 * np.pi / 202))
    # half of the squared sines' amplitude
    assert target_variance() == pytest.approx(0.5)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.45])
def test_both_modalities_tell_the_target_exactly(alpha: float) -> None:
    data = couple_variables(alpha, 50, draws())
    text, video = (data.tokens @ weighting() / DIM).split(TOKENS, dim=1)
    for own, other, target in zip(
        (text, video), (video, text), data.target.split(TOKENS, dim=1), strict=True
    ):
        solved = ((1 - alpha) * own + alpha * other) / (1 - 2 * alpha)
        torch.testing.assert_close(solved, target, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("alpha", [0.1, 0.4])
def test_one_modality_tells_it_as_well_as_a_regression_finds(alpha: float) -> None:
    data = couple_variables(alpha, 4_000, draws())
    shown = data.tokens[:, :TOKENS].flatten(0, 1).double().numpy()
    target = data.target[:, :TOKENS].flatten().double().numpy()
    coefficients, *_ = np.linalg.lstsq(shown, target)
    left = float(np.square(target - shown @ coefficients).mean())
    assert unimodal_error(alpha) == pytest.approx(left, rel=0.03)


# --------------------------------------------------------------------------------------- network


def test_the_network_is_torchs_encoder() -> None:
    sizes = Sizes(layers=2, width=24, heads=3)
    weights = perturbed(initial_weights(sizes, draws()))
    tokens = couple_variables(0.2, 4, draws(1)).tokens
    stream = nn.functional.linear(
        tokens, weights["embedding.weight"], weights["embedding.bias"]
    )
    stream = (
        stream
        + encoding(sizes.width)
        + weights["modality"].repeat_interleave(TOKENS, dim=0)
    )
    for layer in range(sizes.layers):
        stream = torchs(sizes, weights, layer)(stream)
    stream = nn.functional.layer_norm(
        stream, [sizes.width], weights["readout.scale"], weights["readout.shift"]
    )
    expected = stream @ weights["readout.weight"][0] + weights["readout.bias"]
    torch.testing.assert_close(
        predict(weights, sizes, tokens), expected, atol=1e-5, rtol=1e-4
    )
    same = predict(weights, sizes, tokens, Dropout(0.0, draws()))  # the way of training
    torch.testing.assert_close(same, expected, atol=1e-5, rtol=1e-4)


def perturbed(weights: Weights) -> Weights:
    """Biases and norms too have numbers that matter."""
    noise = draws(7)
    return {
        k: w + 0.1 * torch.randn(w.shape, generator=noise) for k, w in weights.items()
    }


def encoding(width: int) -> Tensor:
    """Sine and cosine by turns, counted from 0 in each modality."""
    encodings = torch.zeros(2 * TOKENS, width)
    for token in range(2 * TOKENS):
        for pair in range(width // 2):
            angle = (token % TOKENS) / 10_000 ** (2 * pair / width)
            encodings[token, 2 * pair : 2 * pair + 2] = torch.tensor(
                [np.sin(angle), np.cos(angle)]
            )
    return encodings


def torchs(sizes: Sizes, weights: Weights, layer: int) -> nn.Module:
    block = nn.TransformerEncoderLayer(
        sizes.width,
        sizes.heads,
        4 * sizes.width,
        0.0,
        nn.functional.gelu,
        batch_first=True,
        norm_first=True,
    )
    names = {
        "self_attn.in_proj_": "attention.",
        "self_attn.out_proj.": "mixed.",
        "linear1.": "hidden.",
        "linear2.": "output.",
    }
    state = {
        theirs + part: weights[f"{layer}.{ours}{part}"]
        for theirs, ours in names.items()
        for part in ("weight", "bias")
    }
    for norm, ours in (("norm1", "attention"), ("norm2", "hidden")):
        state[f"{norm}.weight"] = weights[f"{layer}.{ours}.scale"]
        state[f"{norm}.bias"] = weights[f"{layer}.{ours}.shift"]
    block.load_state_dict(state)
    return block.eval()


def test_dropout_keeps_the_mean_and_draws_from_its_own_generator() -> None:
    before = torch.random.get_rng_state()
    ones = torch.ones(100, 1000)
    left = Dropout(0.3, draws())(ones)
    assert left.unique().tolist() == [0.0, pytest.approx(1 / 0.7)]
    assert left.mean().item() == pytest.approx(1, abs=0.01)
    assert torch.equal(left, Dropout(0.3, draws())(ones))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_dropout_changes_the_training() -> None:
    with_dropout = train_and_test(0.3, replace(TINY, dropout=0.5), 0, "cpu")
    assert with_dropout != train_and_test(0.3, TINY, 0, "cpu")


# -------------------------------------------------------------------------------------- training


@pytest.mark.long
def test_a_model_that_had_to_fuse_loses_what_theory_says() -> None:
    """Without its own partner a token's error is (alpha / (1 - 2 alpha))^2 of that partner's."""
    alpha = 0.3
    errors = train_and_test(alpha, SMALL, 0, "cpu")
    lost = (alpha / (1 - 2 * alpha)) ** 2 * 0.5 * ((1 - alpha) ** 2 + alpha**2)
    assert errors.plain < unimodal_error(alpha) / 10
    assert errors.crossmodal == pytest.approx(lost, rel=0.2)
    assert errors.unimodal < 1.5 * errors.plain


def test_equal_seeds_train_equal_models_whatever_was_drawn_before() -> None:
    before = torch.random.get_rng_state()
    first = train_and_test(0.2, TINY, 3, "cpu")
    assert first == train_and_test(0.2, TINY, 3, "cpu")
    assert first != train_and_test(0.2, TINY, 4, "cpu")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_weights_with_the_least_validation_error_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedule = replace(TINY, one_cycle=False)
    train, val = (
        couple_variables(0.2, n, draws(n)) for n in (schedule.train, schedule.val)
    )
    one_epoch = fit(replace(schedule, epochs=1), train, val, 0)
    errors = iter([1.0, 5.0, 4.0])
    monkeypatch.setattr(fitting, "mean_squared_error", lambda *given: next(errors))
    kept = fit(replace(schedule, epochs=3), train, val, 0)
    assert all(torch.equal(kept[name], one_epoch[name]) for name in kept)


# ------------------------------------------------------------------------------- what is kept


def counted(
    monkeypatch: pytest.MonkeyPatch, killed_after: int | None = None
) -> list[float]:
    """The trainings that were run; Ctrl-C comes after some of them."""
    trained: list[float] = []

    def train(alpha: float, schedule: Schedule, seed: int, device: str) -> Errors:
        if len(trained) == killed_after:
            raise KeyboardInterrupt
        trained.append(alpha)
        return Errors(alpha, 2 * alpha, 3 * alpha)

    monkeypatch.setattr(fitting, "train_and_test", train)
    return trained


def test_a_killed_bench_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = Runs(TINY, tmp_path, 0, "cpu", 1)
    trainings = [Training(alpha, 0) for alpha in (0.1, 0.2, 0.3)]
    counted(monkeypatch, killed_after=2)
    with pytest.raises(KeyboardInterrupt):
        runs.errors(trainings, Context())
    trained = counted(monkeypatch)
    errors = runs.errors(trainings, Context())
    assert trained == [0.3]
    assert errors == {t: Errors(t.alpha, 2 * t.alpha, 3 * t.alpha) for t in trainings}


def test_what_is_damaged_or_was_trained_otherwise_is_trained_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trained = counted(monkeypatch)
    runs = Runs(TINY, tmp_path, 0, "cpu", 1)
    trainings = [Training(0.1, 0)]
    for other in (
        runs,
        replace(runs, schedule=replace(TINY, dropout=0.1)),
        replace(runs, seed=1),
    ):
        other.errors(trainings, Context())
    assert len(trained) == 3
    for file in tmp_path.glob("*.json"):
        file.write_text(file.read_text().replace("0.2", "0.3"))
    with pytest.warns(UserWarning, match="done again, 1 of 1"):
        runs.errors(trainings, Context())
    assert len(trained) == 4
    runs.errors(trainings, Context())
    assert len(trained) == 4


# ---------------------------------------------------------------------------------- the figure


def test_the_increase_is_a_geometric_mean_with_students_interval() -> None:
    ratios = np.array([2.0, 8.0, 4.0])
    increased = increase(ratios)
    interval = stats.ttest_1samp(np.log(ratios), 0).confidence_interval(0.95)
    assert increased.value == pytest.approx(300)
    assert increased.low == pytest.approx(100 * (np.exp(interval.low) - 1))
    assert increased.high == pytest.approx(100 * (np.exp(interval.high) - 1))


def test_one_seed_has_no_interval() -> None:
    increased = increase(np.array([1.5]))
    assert (increased.value, increased.low, increased.high) == (
        pytest.approx(50),
        None,
        None,
    )


def risen(*crossmodal: Sequence[float]) -> list[Rise]:
    return [
        Rise(
            0.1 * number, 0.01, 0.02, np.array(ratios, np.float64), np.ones(len(ratios))
        )
        for number, ratios in enumerate(crossmodal, start=1)
    ]


def test_errors_of_a_coupling_are_brought_together() -> None:
    errors = {
        Training(0.2, 0): Errors(1.0, 3.0, 1.0),
        Training(0.1, 0): Errors(2.0, 4.0, 3.0),
        Training(0.1, 1): Errors(4.0, 4.0, 4.0),
    }
    first, second = rises([0.1, 0.2], errors)
    assert (first.alpha, first.plain, first.cut) == (0.1, 3.0, 4.0)
    assert first.crossmodal.tolist() == [2.0, 1.0]
    assert first.unimodal.tolist() == [1.5, 1.0]
    assert (second.plain, second.crossmodal.tolist()) == (1.0, [3.0])


def test_the_table_says_what_the_figure_shows() -> None:
    shown = table(risen([2, 2.1], [4, 4.1], [8, 8.1]), QUICK, np.random.default_rng(0))
    assert [row["alpha"] for row in shown.rows] == ["0.1", "0.2", "0.3"]
    assert shown.rows[0]["increase %"] == 105
    assert shown.rows[0]["of one modality"] == pytest.approx(unimodal_error(0.1))
    assert shown.rows[0]["unimodal cut %"] == 0
    assert "Spearman of alpha and increase: 0.96 [0.96, 1.00]" in shown.notes[0]
    assert "as in the paper" in shown.notes[0]


def test_no_relation_is_not_called_one() -> None:
    fallen = table(risen([8, 8.1], [4, 4.1], [2, 2.1]), QUICK, np.random.default_rng(0))
    assert "Unlike in the paper" in fallen.notes[0]
    few = table(risen([2], [4]), QUICK, np.random.default_rng(0))
    assert "three or more" in few.notes[0]
    assert few.rows[0]["low"] is None
    single = table(risen([2], [4], [8]), QUICK, np.random.default_rng(0))
    assert "1.00 (one seed: no interval), 3 couplings" in single.notes[0]


def test_the_picture_is_drawn_from_the_figures() -> None:
    of_alphas = risen([2, 2.1], [4, 4.1], [8, 8.1])
    first = figure(of_alphas)
    assert first.image.startswith(b"\x89PNG")
    assert first.image == figure(of_alphas).image
    assert first.image != figure(risen([2, 2.1], [4, 4.1], [2, 8.1])).image
    assert figure(risen([2], [4], [8])).image.startswith(b"\x89PNG")  # without bands
