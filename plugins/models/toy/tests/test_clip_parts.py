"""The parts of the small CLIP: packing, reading, the loss, the schedule."""

from dataclasses import replace

import numpy as np
import open_clip
import pytest
import torch

from cuescope_sdk import Context
from cuescope_toy.clip import ToyCLIPOptions, training
from cuescope_toy.clip.architecture import MODEL, PREPROCESS, PROMPTS
from cuescope_toy.clip.dataset import (
    from_bytes,
    read_pairs,
    sample_caption,
    to_bytes,
    tokenize,
)
from cuescope_toy.clip.network import (
    draw_from,
    new_network,
    pack_weights,
    unpack_weights,
)
from cuescope_toy.clip.training import fit, learning_rate_share, matching_loss

TEXTS = ["a photo of a daisy.", "a small red crate on snow with an arrow and a heart"]


def test_packed_and_unpacked_the_network_reads_the_same() -> None:
    """The small vocabulary in training, CLIP's whole one in use: equal embeddings."""
    vocabulary = torch.unique(tokenize(TEXTS))
    with draw_from(torch.Generator().manual_seed(1)):
        small = new_network(len(vocabulary)).half().float().eval()
    full = open_clip.model.CLIP(**MODEL).eval()
    full.load_state_dict(unpack_weights(pack_weights(small.state_dict(), vocabulary)))
    pixels = torch.randn(2, 3, 96, 96, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(
            small.encode_text(torch.searchsorted(vocabulary, tokenize(TEXTS))),
            full.encode_text(tokenize(TEXTS)),
        )
        torch.testing.assert_close(
            small.encode_image(pixels), full.encode_image(pixels)
        )


def test_networks_are_drawn_from_the_generator_alone() -> None:
    before = torch.get_rng_state()
    drawn = []
    for seed in (0, 0, 1):
        with draw_from(torch.Generator().manual_seed(seed)):
            drawn.append(new_network(9).visual.conv1.weight)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_pairs_hold_pictures_captions_and_prompts() -> None:
    data = Context().build("dataset", "scenes:0", {"val": 16})
    counted: list[int] = []
    pairs = read_pairs(data, counted.append)
    assert sum(counted) == 16
    shown = np.asarray(data[3].frames[0].load()).transpose(2, 0, 1)
    np.testing.assert_array_equal(pairs.pixels[3], shown)
    assert data.labels[pairs.label[3]] == data[3].label
    ids = pairs.vocabulary[pairs.texts[pairs.captions[3]]]
    assert torch.equal(ids, tokenize([data[3].annotations["caption"]])[0])
    ids = pairs.vocabulary[pairs.prompts[2, 5]]
    assert torch.equal(ids, tokenize([PROMPTS[2].format(label=data.labels[5])])[0])
    bare = replace(data[3], annotations={})
    assert sample_caption(bare) == f"a photo of a {data[3].label}."
    of_parts = replace(data[3], annotations={"captions": ("one", "two")})
    assert sample_caption(of_parts) == "one"


def test_bytes_are_exact_for_pictures() -> None:
    grey = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16)
    assert torch.equal(to_bytes(from_bytes(grey)), grey)
    (mean, *_), (deviation, *_) = PREPROCESS["mean"], PREPROCESS["std"]
    torch.testing.assert_close(from_bytes(grey), (grey / 255 - mean) / deviation)


def unit(*shape: int) -> torch.Tensor:
    rows = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
    return torch.nn.functional.normalize(rows, dim=-1)


def test_with_one_text_an_image_it_is_siglips_own_loss() -> None:
    logit = torch.tensor(14.0), torch.tensor(-4.0)
    images, texts = unit(6, 8), unit(6, 8).flip(0)
    expected = open_clip.loss.SigLipLoss()(images, texts, *logit)
    torch.testing.assert_close(
        matching_loss(images, texts, torch.eye(6).bool(), *logit), expected
    )


def test_a_text_may_be_true_of_several_images() -> None:
    images, texts = unit(4, 8), unit(3, 8)
    match = torch.tensor([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]]).bool()
    chance = (5.0 * images @ texts.T - 1.0).sigmoid()
    expected = -torch.where(match, chance, 1 - chance).log().sum() / 4
    found = matching_loss(images, texts, match, torch.tensor(5.0), torch.tensor(-1.0))
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    ("done", "first", "last", "share"),
    [
        (0.3, True, False, 0.5),
        (0.9, True, False, 1.0),
        (0.1, False, False, 1.0),
        (0.25, False, True, 0.75),
        (1.0, False, True, 0.0),
        (0.3, True, True, 0.5),
    ],
)
def test_the_rate_rises_at_first_and_falls_at_last(
    done: float, first: bool, last: bool, share: float
) -> None:
    assert learning_rate_share(done, first, last) == pytest.approx(share)


@pytest.mark.long
@pytest.mark.parametrize(("enough", "epochs"), [(0.01, 2), (1.0, 3)])
def test_one_epoch_follows_when_enough_is_right(
    monkeypatch: pytest.MonkeyPatch, enough: float, epochs: int
) -> None:
    monkeypatch.setattr(training, "ENOUGH", enough)
    monkeypatch.setattr(training, "BATCH", 8)
    pairs = read_pairs(
        Context().build("dataset", "scenes:0", {"val": 16}), lambda step: None
    )
    options = ToyCLIPOptions(epochs=3)
    steps: list[int] = []
    result = fit(pairs, options, torch.Generator().manual_seed(0), steps.append)
    assert (result.epochs, sum(steps)) == (epochs, 2 * epochs)
    again = fit(pairs, options, torch.Generator().manual_seed(0), steps.append)
    assert all(
        torch.equal(result.weights[name], again.weights[name])
        for name in result.weights
    )
