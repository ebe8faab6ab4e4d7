"""The training loop on features with a known answer."""

from math import exp, log

import pytest
import torch

from cuescope_toy import ToyOptions, training
from cuescope_toy.training import (
    EncodedSplit,
    Fit,
    contrastive_loss,
    evaluate,
    fit,
    one_thread,
)

OPTIONS = ToyOptions(learning_rate=2e-3, epochs=60)
TEXTS = torch.eye(2, 4)


def _split(seed: int, noise: float = 0.0) -> EncodedSplit:
    """Whether the second frame is the greater; a share `noise` of the labels is tossed."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(50, 3, generator=generator)
    index = torch.randint(50, (200, 2), generator=generator)
    label = (features[index[:, 1], 0] > features[index[:, 0], 0]).long()
    tossed = torch.rand(200, generator=generator) < noise
    coins = torch.randint(2, (200,), generator=generator)
    return EncodedSplit(features, index, torch.where(tossed, coins, label))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, and no early end."""
    monkeypatch.setattr(training, "BATCH", 32)
    monkeypatch.setattr(training, "PATIENCE", 60)


def _fit(
    options: ToyOptions = OPTIONS, seed: int = 0, noise: float = 0.0
) -> tuple[Fit, list[int]]:
    steps: list[int] = []
    generator = torch.Generator().manual_seed(seed)
    result = fit(
        _split(1, noise), _split(2, noise), TEXTS, options, generator, steps.append
    )
    return result, steps


def test_contrastive_loss_in_closed_form() -> None:
    embeddings = torch.tensor([[1.0, 0, 0, 0], [0.0, 1, 0, 0]])
    loss = contrastive_loss(embeddings, TEXTS, torch.tensor([0, 0]), temperature=0.5)
    # cosines 1 and 0 over 0.5: the right text, then the wrong one
    right, wrong = -log(exp(2) / (exp(2) + 1)), -log(1 / (exp(2) + 1))
    assert loss.item() == pytest.approx((right + wrong) / 2, abs=1e-6)


def test_learns_what_needs_both_frames() -> None:
    result, _ = _fit()
    assert result.accuracy > 0.9


def test_keeps_the_best_epoch_and_stops_when_patience_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patient, _ = _fit(noise=0.6)
    monkeypatch.setattr(training, "PATIENCE", 3)
    stopped, steps = _fit(noise=0.6)
    assert stopped.epochs == stopped.best_epoch + 3 < 60 == patient.epochs
    assert steps == [1] * stopped.epochs
    val = _split(2, noise=0.6).standardise(stopped.weights)
    assert evaluate(stopped.weights, val, TEXTS)[1] == stopped.accuracy
    assert patient.best_epoch < patient.epochs
    to_the_end = OPTIONS.model_copy(update={"epochs": stopped.best_epoch})
    same, _ = _fit(to_the_end, noise=0.6)
    assert all(
        torch.equal(same.weights[name], stopped.weights[name]) for name in same.weights
    )


def test_weights_depend_on_the_seed_alone() -> None:
    short = OPTIONS.model_copy(update={"epochs": 3})
    torch.manual_seed(1)
    one, _ = _fit(short)
    torch.manual_seed(2)
    other, _ = _fit(short)
    assert all(
        torch.equal(one.weights[name], other.weights[name]) for name in one.weights
    )
    third, _ = _fit(short, seed=3)
    assert not torch.equal(one.weights["head.0.weight"], third.weights["head.0.weight"])


def _fail_on_one_thread() -> None:
    with one_thread():
        raise ValueError(torch.get_num_threads())


def test_one_thread_is_given_back_after_an_error() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(ValueError, match="1"):
            _fail_on_one_thread()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
