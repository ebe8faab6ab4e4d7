"""The parts of the small CLIP: packing, reading, the loss, the schedule."""

from dataclasses import replace
from typing import Any

import numpy as np
import open_clip
import pytest
import torch

from cuescope_sdk import Context, Frame, Sample, UserError
from cuescope_testing import FakeDataset
from cuescope_toy.clip import ToyCLIPOptions
from cuescope_toy.clip.architecture import PREPROCESS, PROMPTS, model_config
from cuescope_toy.clip.dataset import (
    ImageTextPairs,
    from_bytes,
    read_pairs,
    sample_captions,
    to_bytes,
    tokenize,
)
from cuescope_toy.clip.network import (
    draw_from,
    new_network,
    pack_weights,
    unpack_weights,
)
from cuescope_toy.clip.training import (
    fit,
    known_texts,
    learning_rate_share,
    matching_loss,
)

TEXTS = ["a photo of a daisy.", "a small red crate on snow with an arrow and a heart"]


@pytest.mark.parametrize("tower", ["vit", "resnet"])
def test_packed_and_unpacked_the_network_reads_the_same(tower: str) -> None:
    """The small vocabulary in training, CLIP's whole one in use: equal embeddings."""
    vocabulary = torch.unique(tokenize(TEXTS))
    with draw_from(torch.Generator().manual_seed(1)):
        small = new_network(len(vocabulary), tower).half().float().eval()
    full = open_clip.model.CLIP(**model_config(tower)).eval()
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
            drawn.append(new_network(9, "vit").visual.conv1.weight)
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
    assert pairs.label is not None
    assert data.labels[pairs.label[3]] == data[3].label
    assert not pairs.captions_of_parts
    (row,) = pairs.captions[3]
    ids = pairs.vocabulary[pairs.texts[row]]
    assert torch.equal(ids, tokenize([data[3].annotations["caption"]])[0])
    ids = pairs.vocabulary[pairs.prompts[2, 5]]
    assert torch.equal(ids, tokenize([PROMPTS[2].format(label=data.labels[5])])[0])
    assert sample_captions(replace(data[3], annotations={})) == (
        f"a photo of a {data[3].label}.",
    )


class Captioned(FakeDataset):
    """Single red or blue pictures with captions and foils, and no label."""

    labels: tuple[str, ...]
    form = ("it is {}", "all {}", "a {} picture", "how {}", "so {}")

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.labels = ()

    def __getitem__(self, index: int) -> Sample:
        colours = ("red", "blue")[:: 1 if index % 2 else -1]
        pixels = np.zeros((9, 12, 3), np.uint8)
        pixels[..., 2 * (colours[0] == "blue")] = 255 - index
        captions, foils = (
            [form.format(colour) for form in self.form] for colour in colours
        )
        return Sample(
            key=str(index),
            frames=(Frame.from_array(pixels),),
            annotations={"captions": captions, "foils": foils},
        )


def pairs_without_labels(samples: int) -> ImageTextPairs:
    return read_pairs(
        Captioned(Captioned.Options(samples=samples), Context()), lambda step: None
    )


def test_pictures_without_labels_are_captions_of_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = pairs_without_labels(4)
    assert pairs.label is None
    assert pairs.captions_of_parts
    assert pairs.prompts.shape[:2] == (len(PROMPTS), 0)
    assert pairs.captions[0].tolist() == pairs.foils[1].tolist() == list(range(5))
    assert pairs.foils[2].tolist() == pairs.captions[3].tolist() == list(range(5, 10))
    assert torch.equal(pairs.vocabulary[pairs.texts[5]], tokenize(["it is red"])[0])
    monkeypatch.setattr(Captioned, "form", ())
    with pytest.raises(
        UserError, match="expected a label, or the annotation 'captions', got nei"
    ):
        pairs_without_labels(1)


@pytest.mark.parametrize(
    "tower", [pytest.param("resnet", marks=pytest.mark.long), "vit"]
)
def test_captions_are_told_from_foils_without_labels(tower: str) -> None:
    options = ToyCLIPOptions.model_validate(
        {
            "tower": tower,
            "batch_size": 4,
            "epochs": 8,
            "enough": 0.99,
            "caption_weight": 1.0,
        }
    )
    result = fit(
        pairs_without_labels(16),
        options,
        torch.Generator().manual_seed(0),
        lambda step: None,
    )
    assert result.accuracy >= 0.85  # by chance 0.5


def test_bytes_are_exact_for_pictures() -> None:
    grey = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16)
    assert torch.equal(to_bytes(from_bytes(grey)), grey)
    (mean, *_), (deviation, *_) = PREPROCESS["mean"], PREPROCESS["std"]
    torch.testing.assert_close(from_bytes(grey), (grey / 255 - mean) / deviation)


def test_pairs_that_are_not_known_do_not_count() -> None:
    images, texts = unit(4, 8), unit(3, 8)
    match, logit = torch.eye(4, 3).bool(), (torch.tensor(5.0), torch.tensor(-1.0))
    known = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0]]).bool()
    of_two = matching_loss(images[:2], texts[:2], match[:2, :2], *logit)
    found = matching_loss(images, texts, match, *logit, known)
    torch.testing.assert_close(4 * found, 2 * of_two)
    whole = matching_loss(images, texts, match, *logit)
    torch.testing.assert_close(
        matching_loss(images, texts, match, *logit, known | True), whole
    )


def test_with_foils_only_what_is_told_of_a_picture_is_known() -> None:
    told, captions = torch.tensor([0, 1, 2, 3]), torch.tensor([1])
    known = known_texts(told, captions, torch.tensor([3]))
    assert known.tolist() == [False, True, False, True]
    assert known_texts(told, captions, torch.tensor([]).long()).all()


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
def test_one_epoch_follows_when_enough_is_right(enough: float, epochs: int) -> None:
    pairs = read_pairs(
        Context().build("dataset", "scenes:0", {"val": 16}), lambda step: None
    )
    options = ToyCLIPOptions(batch_size=8, epochs=3, enough=enough)
    steps: list[int] = []
    result = fit(pairs, options, torch.Generator().manual_seed(0), steps.append)
    assert (result.epochs, sum(steps)) == (epochs, 2 * epochs)
    again = fit(pairs, options, torch.Generator().manual_seed(0), steps.append)
    assert all(
        torch.equal(result.weights[name], again.weights[name])
        for name in result.weights
    )
