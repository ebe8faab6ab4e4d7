"""Processors that do to a picture what no stock one does: hiding is right, or refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image, ImageOps
from torch import Tensor

from cuescope_sdk import Context, Frame, HideTokens, Sample, Trial, UserError
from cuescope_sdk.fusion import VIDEO
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM, VLMOptions
from cuescope_transformers.generative.hiding.blind import NAN, Blind

FolderOf = Callable[[str], Path]
SIDE = 32
CORNER = 16
KINDS = ("qwen2-vl", "gemma3")  # flat patches, and views


def by_picture(change: Callable[[Image.Image], Image.Image]) -> Any:
    """A call that changes each picture first."""

    def changed(given: Any) -> Any:
        if isinstance(given, Image.Image):
            return change(given)
        return [changed(part) for part in given]

    def call(stock: Any, images: Any, **options: Any) -> Any:
        return stock(changed(images), **options)

    return call


def by_numbers(change: Callable[[Tensor], Tensor]) -> Any:
    """A call that changes the numbers that came of the pictures."""

    def call(stock: Any, images: Any, **options: Any) -> Any:
        outputs = stock(images, **options)
        outputs["pixel_values"] = change(outputs["pixel_values"])
        return outputs

    return call


def open_with(folder: Path, call: Any) -> TransformersVLM:
    """The model of a folder, its image processor called by way of `call`."""
    with quiet():
        network = transformers.AutoModelForImageTextToText.from_pretrained(folder)
        processor = transformers.AutoProcessor.from_pretrained(folder)
    cls = type(processor.image_processor)

    class Unlike(cls):
        def __call__(self, images: Any, **options: Any) -> Any:
            return call(super().__call__, images, **options)

    processor.image_processor.__class__ = Unlike
    return TransformersVLM.from_object(
        (network.eval(), processor),
        VLMOptions(model="unlike"),
        Context(device="cpu", dtype="float32", batch_size=8),
    )


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)


def asking(pixels: np.ndarray, share: int | None = None) -> Trial:
    """With a corner of so many pixels a side hidden."""
    sample = Sample(
        key="a picture",
        frames=(Frame.from_array(pixels),),
        question="what is it",
        choices=("yes", "no", "dog"),
    )
    if share is None:
        return Trial(sample=sample)
    mask = np.zeros((1, SIDE, SIDE), dtype=bool)
    mask[:, :share, :share] = True
    return Trial(sample=sample, edit=HideTokens.from_mask(mask))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "change",
    [
        lambda numbers: (numbers - numbers.mean()) / numbers.std(),
        lambda numbers: (
            (numbers - numbers.min()) / (numbers.max() - numbers.min()).clamp_min(1e-6)
        ),
    ],
    ids=("spread", "darkest and lightest"),
)
def test_a_processor_that_measures_the_whole_picture_is_refused_in_the_plan(
    folder_of: FolderOf, kind: str, change: Callable[[Tensor], Tensor]
) -> None:
    model = open_with(folder_of(kind), by_numbers(change))
    assert "hide-tokens" not in model.capabilities.edits
    assert "the rest of the picture" in str(model.capabilities.why_not("hide-tokens"))
    assert "tokens are hidden" not in model.facts
    with pytest.raises(UserError, match="the rest of the picture"):
        model.respond([asking(noise(0), CORNER)])
    assert model.respond([asking(noise(0))])[0].logits is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_processor_that_makes_negatives_hides_the_same_tokens(
    folder_of: FolderOf, kind: str
) -> None:
    unlike = open_with(folder_of(kind), by_picture(ImageOps.invert))
    stock = open_with(folder_of(kind), by_picture(lambda picture: picture))
    picture = noise(0)
    noisy = picture.copy()
    noisy[:CORNER, :CORNER] = noise(1)[:CORNER, :CORNER]
    for share in (CORNER, SIDE):
        trials = [asking(shown, share) for shown in (picture, noisy)]
        one, other = unlike.respond(trials)
        np.testing.assert_allclose(one.logits, other.logits, atol=1e-6)
        seen, expected = (
            (model.modalities(trials[:1], 0)[0] == VIDEO).sum()
            for model in (unlike, stock)
        )
        assert seen == expected
    [plain, plain_of_noisy] = unlike.respond([asking(picture), asking(noisy)])
    assert np.abs(plain.logits - plain_of_noisy.logits).max() > 1e-4


@pytest.mark.parametrize(
    ("pixels", "weight", "others"),
    [
        ((5, 3, 2, 4, 4), (8, 3, 2, 4, 4), {"stride": (2, 4, 4)}),
        ((2, 3, 9, 13), (8, 3, 4, 4), {"stride": 4}),
        ((2, 3, 9), (8, 3, 3), {"stride": 3}),
        ((2, 3, 8, 8), (8, 3, 4, 4), {"stride": 4, "padding": 1}),
        ((2, 3, 8, 8), (8, 3, 4, 4), {"stride": 2}),
        ((2, 4, 8, 8), (8, 2, 4, 4), {"stride": 4, "groups": 2}),
        ((2, 3, 12, 12), (8, 3, 3, 3), {"stride": 3, "dilation": 2}),
    ],
    ids=("a row", "cells", "a line", "padded", "overlap", "groups", "dilated"),
)
def test_a_convolution_gives_nan_where_it_reads_one(
    pixels: tuple[int, ...], weight: tuple[int, ...], others: dict[str, Any]
) -> None:
    """And the library's own number elsewhere."""
    rng = torch.Generator().manual_seed(0)
    shown = torch.randn(pixels, generator=rng)
    kernel = torch.randn(weight, generator=rng)
    hidden = torch.zeros(pixels, dtype=torch.bool)
    hidden[0, ..., 0] = True
    convolve = {3: torch.conv1d, 4: torch.conv2d, 5: torch.conv3d}[shown.ndim]
    expected = convolve(shown, kernel, **others)
    reads = convolve(hidden.float(), torch.ones_like(kernel), **others) > 0
    with Blind():
        found = convolve(shown.masked_fill(hidden, NAN), kernel, **others)
        untouched = convolve(shown, kernel, **others)
    assert reads.any()
    assert not reads.all()
    torch.testing.assert_close(untouched, expected, rtol=0, atol=0)
    torch.testing.assert_close(
        found, expected.masked_fill(reads, NAN), equal_nan=True, rtol=1e-4, atol=1e-4
    )
